"""Craftax-Classic, one lane: how it begins, steps, ends, and what it shows; for `lanes.py`."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from craftax.craftax_classic import constants, renderer
from craftax.craftax_classic.envs.craftax_state import EnvParams, StaticEnvParams
from craftax.craftax_classic.game_logic import craftax_step, is_game_over
from craftax.craftax_classic.world_gen import generate_world
from gymnasium import spaces
from jax import Array

from hal.envs.external.adapters.craftax.view import around, in_front, mark

__all__ = ["constants", "renderer"]  # what a picture needs

PARAMS, SIZES = EnvParams(), StaticEnvParams()
ACHIEVEMENTS = tuple(achievement.name.lower() for achievement in constants.Achievement)
REWARDS = np.ones(len(ACHIEVEMENTS))  # of first times
NUM_ACTIONS = len(constants.Action)
ITEMS = (
    *("wood", "stone", "coal", "iron", "diamond", "sapling"),
    *(f"{kind}_{tool}" for tool in ("pickaxe", "sword") for kind in ("wood", "stone", "iron")),
)
NEEDS = ("health", "food", "drink", "energy")
MOST = 9  # of an item or a need
CREATURES = ("zombies", "cows", "skeletons", "arrows")  # their codes begin with 1
CELL = np.array([len(constants.BlockType), 1 + len(CREATURES)])  # how many codes each has
SPACE = spaces.Dict(
    {
        "image": spaces.Box(0, np.tile(CELL - 1, (*constants.OBS_DIM, 1)), dtype=np.uint8),
        "front": spaces.MultiDiscrete(CELL),
        "inventory": spaces.Box(0, MOST, (len(ITEMS),), np.uint8),
        "needs": spaces.Box(0, MOST, (len(NEEDS),), np.uint8),
        "direction": spaces.Discrete(4),
        "is_sleeping": spaces.Discrete(2),
        "light": spaces.Box(0, 1, (1,), np.float32),
    }
)


def begin(key: Array) -> Any:
    """Return the state at the beginning of an episode."""
    return generate_world(key, PARAMS, SIZES)


def step(state: Any, action: Array) -> tuple[Any, Array]:
    """Return the state after an action, and the achievements (22,) that were made by it.

    The game only ever adds to its achievements, and nothing but its reward depends on them.
    """
    state = state.replace(achievements=jnp.zeros_like(state.achievements))
    state, _ = craftax_step(state.state_rng, state, action, PARAMS, SIZES)
    return state, state.achievements


def ending(state: Any) -> tuple[Array, Array]:
    """Tell whether an episode was terminated, and whether its time is up."""
    is_up = state.timestep >= PARAMS.max_timesteps
    return is_game_over(state.replace(timestep=0), PARAMS), is_up


def observe(state: Any) -> dict[str, Array]:
    """Return what a lane shows, `SPACE`."""
    outside = constants.BlockType.OUT_OF_BOUNDS.value
    blocks = around(state.map, state.player_position, constants.OBS_DIM, outside)
    creatures = jnp.zeros_like(blocks)
    for code, name in enumerate(CREATURES, start=1):
        creatures = mark(creatures, state.player_position, getattr(state, name), code)
    image = jnp.stack([blocks, creatures], axis=-1)
    direction = state.player_direction - 1
    return {
        "image": image.astype(jnp.uint8),
        "front": in_front(image, direction),
        "inventory": jnp.array([getattr(state.inventory, item) for item in ITEMS], jnp.uint8),
        "needs": jnp.array([getattr(state, f"player_{need}") for need in NEEDS], jnp.uint8),
        "direction": direction,
        "is_sleeping": jnp.asarray(state.is_sleeping, int),
        "light": jnp.array([state.light_level], jnp.float32),
    }
