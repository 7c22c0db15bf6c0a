"""The full Craftax, one lane: how it begins, steps, ends, and what it shows; for `lanes.py`.

Cells that are dark show nothing, as in Craftax's own symbols.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from craftax.craftax import constants, renderer
from craftax.craftax.constants import Achievement
from craftax.craftax.craftax_state import EnvParams, StaticEnvParams
from craftax.craftax.game_logic import craftax_step, is_game_over
from craftax.craftax.util.game_logic_utils import is_boss_vulnerable
from craftax.craftax.world_gen.world_gen import generate_world
from gymnasium import spaces
from jax import Array

from hal.envs.external.adapters.craftax.view import around, in_front, mark

__all__ = ["constants", "renderer"]  # what a picture needs

PARAMS, SIZES = EnvParams(), StaticEnvParams()
_IN_ORDER = sorted(Achievement, key=lambda achievement: achievement.value)
ACHIEVEMENTS = tuple(achievement.name.lower() for achievement in _IN_ORDER)
REWARDS = np.asarray(constants.ACHIEVEMENT_REWARD_MAP, dtype=float)  # of first times
NUM_ACTIONS = len(constants.Action)
# What Craftax reads off the inventory: it is achieved as soon as there is one, or one as good.
GATHERED = {
    **{f"collect_{item}": item for item in ("wood", "stone", "coal", "iron", "diamond", "ruby")},
    "collect_sapphire": "sapphire",
    "collect_sapling": "sapling",
    "find_bow": "bow",
    "make_arrow": "arrows",
    "make_torch": "torches",
}
GRADES = ("wood", "stone", "iron", "diamond")  # of pickaxes and swords, from 1 on
TOOLS = ("pickaxe", "sword")
LEVELS = constants.LEVEL_ACHIEVEMENT_MAP  # achieved by entering each; none for the 0th
IS_LEVEL = jnp.isin(jnp.arange(len(ACHIEVEMENTS)), LEVELS[1:])

NUM_TYPES = 8  # of each class of creatures
CREATURES = (  # a class each; their codes begin with 1
    *("melee_mobs", "passive_mobs", "ranged_mobs"),
    *("mob_projectiles", "player_projectiles"),
)
CELL = np.array(  # how many codes each has
    [len(constants.BlockType), len(constants.ItemType), 1 + NUM_TYPES * len(CREATURES)]
)
MOST = 99  # of an item
COUNTS = (
    *("wood", "stone", "coal", "iron", "diamond", "sapphire", "ruby"),
    *("sapling", "torches", "arrows", "books"),
)
NUM_POTIONS, NUM_ARMOUR = 6, 4
EQUIPMENT = np.array([*(4, 4, 1, 2, 2), *(2,) * NUM_ARMOUR, *(2,) * NUM_ARMOUR])  # the most of each
STATUS = {  # the most of each, at the highest attributes
    "health": 13,
    "food": 17,
    "drink": 17,
    "energy": 17,
    "mana": 21,
    "xp": 8,
    "dexterity": 5,
    "strength": 5,
    "intelligence": 5,
}
NUM_FLAGS = 6
SPACE = spaces.Dict(
    {
        "image": spaces.Box(0, np.tile(CELL - 1, (*constants.OBS_DIM, 1)), dtype=np.uint8),
        "front": spaces.MultiDiscrete(CELL),
        "inventory": spaces.Box(0, MOST, (len(COUNTS) + NUM_POTIONS,), np.uint8),
        "equipment": spaces.Box(0, EQUIPMENT, dtype=np.uint8),
        "status": spaces.Box(0, np.array(list(STATUS.values())), dtype=np.uint8),
        "flags": spaces.MultiBinary(NUM_FLAGS),
        "direction": spaces.Discrete(4),
        "level": spaces.Discrete(SIZES.num_levels),
        "light": spaces.Box(0, 1, (1,), np.float32),
    }
)


def begin(key: Array) -> Any:
    """Return the state at the beginning of an episode."""
    return generate_world(key, PARAMS, SIZES)


def step(state: Any, action: Array) -> tuple[Any, Array]:
    """Return the state after an action, and the achievements (67,) that were made by it.

    The game only ever adds to its achievements. Which levels were entered it must know, as the
    first time on each brings experience.
    """
    before = state.replace(achievements=state.achievements & IS_LEVEL)
    after, _ = craftax_step(state.state_rng, before, action, PARAMS, SIZES)
    made = after.achievements & ~before.achievements
    for name, item in GATHERED.items():
        has_more = getattr(after.inventory, item) > getattr(before.inventory, item)
        made = made.at[ACHIEVEMENTS.index(name)].set(has_more)
    for tool in TOOLS:
        had, has = getattr(before.inventory, tool), getattr(after.inventory, tool)
        for grade, name in enumerate(GRADES, start=1):
            is_new = (had < grade) & (has >= grade)
            made = made.at[ACHIEVEMENTS.index(f"make_{name}_{tool}")].set(is_new)
    has_entered = (after.player_level != before.player_level) & (after.player_level > 0)
    entered = jax.nn.one_hot(LEVELS[after.player_level], len(ACHIEVEMENTS), dtype=bool)
    return after, jnp.where(IS_LEVEL, entered & has_entered, made)


def ending(state: Any) -> tuple[Array, Array]:
    """Tell whether an episode was terminated, and whether its time is up."""
    is_up = state.timestep >= PARAMS.max_timesteps
    return is_game_over(state.replace(timestep=0), PARAMS, SIZES), is_up


def observe(state: Any) -> dict[str, Array]:
    """Return what a lane shows, `SPACE`."""
    direction = state.player_direction - 1
    image = _image(state).astype(jnp.uint8)
    return {
        "image": image,
        "front": in_front(image, direction),
        "inventory": _inventory(state),
        "equipment": _equipment(state),
        "status": _status(state),
        "flags": _flags(state),
        "direction": direction,
        "level": state.player_level,
        "light": jnp.array([state.light_level], jnp.float32),
    }


def _image(state: Any) -> Array:
    """Return the codes of block, item and creature of each cell around the player."""
    level, position, shape = state.player_level, state.player_position, constants.OBS_DIM
    outside = constants.BlockType.OUT_OF_BOUNDS.value
    blocks = around(state.map[level], position, shape, outside)
    items = around(state.item_map[level], position, shape, constants.ItemType.NONE.value)
    creatures = jnp.zeros_like(blocks)
    for i, name in enumerate(CREATURES):
        mobs = jax.tree.map(lambda leaf: leaf[level], getattr(state, name))
        creatures = mark(creatures, position, mobs, 1 + NUM_TYPES * i + mobs.type_id)
    is_lit = around(state.light_map[level], position, shape, 0) > 0.05
    return jnp.stack([blocks, items, creatures], axis=-1) * is_lit[..., jnp.newaxis]


def _inventory(state: Any) -> Array:
    counts = jnp.array([getattr(state.inventory, item) for item in COUNTS])
    return jnp.concatenate([counts, state.inventory.potions]).astype(jnp.uint8)


def _equipment(state: Any) -> Array:
    inventory = state.inventory
    tools = [inventory.pickaxe, inventory.sword, inventory.bow]
    enchanted = [state.sword_enchantment, state.bow_enchantment]
    one_each = jnp.array([*tools, *enchanted])
    return jnp.concatenate([one_each, inventory.armour, state.armour_enchantments]).astype(
        jnp.uint8
    )


def _status(state: Any) -> Array:
    # Health can be a fraction, of which the least is still alive.
    return jnp.ceil(jnp.array([getattr(state, f"player_{name}") for name in STATUS])).astype(
        jnp.uint8
    )


def _flags(state: Any) -> Array:
    killed = state.monsters_killed[state.player_level]
    spells = state.learned_spells
    return jnp.array(
        [
            *(state.is_sleeping, state.is_resting, spells[0], spells[1]),
            killed >= constants.MONSTERS_KILLED_TO_CLEAR_LEVEL,  # the way down is open
            is_boss_vulnerable(state),
        ],
        jnp.int8,
    )
