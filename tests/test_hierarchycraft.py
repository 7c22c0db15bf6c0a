"""MineHcraft against HierarchyCraft's own environment, and what agents are told of it."""

import copy
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hal.envs.external.adapters import hierarchycraft
from hal.envs.external.adapters.hierarchycraft import kernels
from hal.envs.external.adapters.hierarchycraft.lanes import MAX_STEPS

hcraft = pytest.importorskip("hcraft")

# A way to the diamond.
PLAN = [
    *["search-for-wood-at-forest"] * 4,
    *["craft-wood_plank"] * 4,
    *("craft-crafting_table", "place-crafting_table"),
    *["craft-stick"] * 2,
    "craft-wood_pickaxe",
    *["search-for-cobblestone-with-wood_pickaxe-at-forest"] * 3,
    "craft-stone_pickaxe",
    *["search-for-cobblestone-with-stone_pickaxe-at-forest"] * 4,
    *("craft-furnace", "pickup-crafting_table"),
    "move-to-underground-from-forest-with-stone_pickaxe",
    *["search-for-iron_ore-with-stone_pickaxe-at-underground"] * 3,
    *("place-furnace", "smelt-iron_ore-with-wood_plank"),
    *("place-crafting_table", "craft-iron_pickaxe"),
    "move-to-bedrock-from-underground-with-iron_pickaxe",
    "search-for-diamond-with-iron_pickaxe-at-bedrock",
]


def make(task: str = "minehcraft-diamond", num_envs: int = 1) -> Any:
    """Return lanes at the beginning of an episode."""
    lanes = hierarchycraft.make(task, num_envs, "rgb_array")
    lanes.reset(seed=0)
    return lanes


def do(lanes: Any, name: str) -> tuple[set[str], float, bool, dict[str, Any]]:
    """Return what an action on all lanes brings the first, its reward, its end, and the info."""
    action = lanes._rules.actions.index(name)
    _, reward, terminated, _, info = lanes.step(np.full(lanes.num_envs, action))
    return names_of(lanes, info["milestones"][0]), float(reward[0]), bool(terminated[0]), info


def names_of(lanes: Any, told: np.ndarray) -> set[str]:
    """Return the milestones that are told."""
    return {lanes.milestones[i] for i in np.flatnonzero(told)}


def state_of(env: Any) -> dict[str, np.ndarray]:
    """Return the state of HierarchyCraft's own environment, in our order."""
    world, state = env.world, env.state
    items, things, zones = (
        np.argsort([each.name for each in kind])
        for kind in (world.items, world.zones_items, world.zones)
    )
    return {
        "held": state.player_inventory[items],
        "zone": np.flatnonzero(state.position[zones])[0],
        "standing_here": state.current_zone_inventory[things],
        "standing": state.zones_inventories[zones][:, things].ravel(),
    }


def put(lanes: Any, env: Any) -> dict[str, np.ndarray]:
    """Have the first lane be in the state of HierarchyCraft's own environment."""
    state = state_of(env)
    lanes._counts[0] = [*state["held"], *state["standing"]]
    lanes._zones[0] = state["zone"]
    return state


def random_actions(env: Any, num_steps: int) -> Iterator[tuple[np.ndarray, int]]:
    """Yield what is legal, and an action that mostly is; now and then there are gifts."""
    rng = np.random.default_rng(0)
    env.reset()
    for step in range(num_steps):
        if step % 20 == 10:
            gifts = rng.random(env.state.player_inventory.size) < 0.3
            env.state.player_inventory[gifts] += rng.integers(1, 12, gifts.sum(), dtype=np.int32)
        is_legal = env.action_masks()
        actions = np.flatnonzero(is_legal) if rng.random() < 0.9 else np.arange(is_legal.size)
        yield is_legal, int(rng.choice(actions))


def test_steps_and_what_is_legal_are_hierarchycrafts_own() -> None:
    lanes, env = make("minehcraft"), hcraft.examples.MineHcraftEnv()
    arrays, was_legal = lanes._rules.arrays, np.zeros(201, dtype=np.bool_)
    for is_legal, action in random_actions(env, 200):
        zone = int(put(lanes, env)["zone"])
        told = [kernels.is_legal(arrays, lanes._counts[0], zone, each) for each in range(201)]
        assert told == is_legal.tolist()
        was_legal |= is_legal
        obs, *_ = lanes.step(np.array([action]))
        env.step(action)
        for name, part in state_of(env).items():
            np.testing.assert_array_equal(obs[name][0], part)
    assert was_legal.sum() > 150, "most of what there is"


def brought_by_search(env: Any, depth: int) -> set[str]:
    """Return what HierarchyCraft's own steps bring, after going somewhere up to `depth` times."""
    start = copy.deepcopy(env.state)
    brought: set[str] = set()
    layer, seen = [start], set()
    for _ in range(depth + 1):
        later = []
        for state in layer:
            for transformation in env.world.transformations:
                if not transformation.is_valid(state):
                    continue
                after = copy.copy(state)
                after.player_inventory = state.player_inventory.copy()
                after.position = state.position.copy()
                after.zones_inventories = state.zones_inventories.copy()
                held, standing = after.player_inventory, after.zones_inventories
                transformation.apply(held, after.position, standing)
                more, placed = held > state.player_inventory, standing > state.zones_inventories
                brought |= {env.world.items[i].name for i in np.flatnonzero(more)}
                things = np.flatnonzero(placed.any(axis=0))
                brought |= {f"placed_{env.world.zones_items[i].name}" for i in things}
                key = held.tobytes(), after.position.tobytes()
                if not more.any() and not placed.any() and key not in seen:
                    seen.add(key)
                    later.append(after)
        layer = later
    return brought


def test_what_is_afforded_is_what_a_search_by_its_own_steps_finds() -> None:
    lanes, env = make("minehcraft"), hcraft.examples.MineHcraftEnv()
    told = np.zeros(len(lanes.milestones), dtype=np.bool_)
    found: list[set[str]] = []
    for step, (_, action) in enumerate(random_actions(env, 120)):
        if step % 12 == 11:
            put(lanes, env)
            state = lanes._counts[0], lanes._zones[0]
            num_states = kernels.tell_afforded(
                lanes._rules.arrays, *state, lanes._milestone_of, told
            )
            assert num_states < kernels.MOST_STATES // 2
            found.append(brought_by_search(env, 2))
            assert names_of(lanes, told) == found[-1]
        env.step(action)
    differs = found[0].union(*found) - found[0].intersection(*found)
    assert len(differs) > 20, "it is not always the same"


def test_a_plan_by_its_recipes_ends_with_the_diamond() -> None:
    lanes = make(num_envs=2)
    afforded = {"wood"}
    for number, name in enumerate(PLAN, start=1):
        brought, reward, is_over, info = do(lanes, name)
        assert brought or name.startswith("move"), f"{number}: {name} does nothing"
        assert brought <= afforded
        assert (reward, is_over) == ((1.0, True) if brought == {"diamond"} else (0.0, False))
        afforded = names_of(lanes, info["affordances"][0])
    assert is_over
    obs, reward, terminated, _, info = lanes.step(np.zeros(2, dtype=np.int64))
    assert not obs["held"].any()
    assert not obs["collected"].any()
    assert not reward.any()
    assert not terminated.any()
    assert not info["milestones"].any(), "the step that resets"
    assert names_of(lanes, info["affordances"][0]) == {"wood"}


def test_a_milestone_is_told_each_time_and_without_a_task_rewarded_once() -> None:
    lanes = make("minehcraft")
    first, again = (do(lanes, "search-for-wood-at-forest") for _ in range(2))
    assert (first[:2], again[:2]) == (({"wood"}, 1.0), ({"wood"}, 0.0))
    assert do(lanes, "craft-furnace")[:2] == (set(), 0.0), "not legal"
    for _ in range(MAX_STEPS - 4):
        assert not lanes.step(np.zeros(1, dtype=np.int64))[3]
    *_, terminated, truncated, _ = lanes.step(np.zeros(1, dtype=np.int64))
    assert (terminated, truncated) == (False, True)


def test_the_milestones_of_a_task_are_what_its_item_takes() -> None:
    wanted = "wood wood_plank crafting_table stick placed_crafting_table wood_pickaxe cobblestone"
    assert make("minehcraft-stone_pickaxe").milestones == (*wanted.split(), "stone_pickaxe")
    everything = make("minehcraft").milestones
    for task, item in hierarchycraft.TASKS.items():
        lanes = make(task)
        assert lanes.milestones[-1] == lanes.final_milestone == item
        assert set(lanes.milestones) < set(everything)
    assert "placed_close_ender_portal" not in everything, "nobody can build it"


def test_a_picture_shows_what_is_held() -> None:
    lanes = make()
    (before,) = lanes.render()
    do(lanes, "search-for-wood-at-forest")
    (after,) = lanes.render()
    assert before.shape == after.shape
    assert (before != after).any()


def test_who_lacks_the_package_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hcraft", None)
    how = r"^hcraft is not installed; pip install 'hal-rl\[hierarchycraft\]'$"
    with pytest.raises(ValueError, match=how):
        hierarchycraft.make("minehcraft", 1)


def test_names_are_checked() -> None:
    with pytest.raises(ValueError, match="legal: 'minehcraft', 'minehcraft-stone_pickaxe'"):
        hierarchycraft.make("diamond", 1)
    with pytest.raises(ValueError, match="render_mode 'human'"):
        hierarchycraft.make("minehcraft", 1, "human")
