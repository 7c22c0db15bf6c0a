"""Random action sequences keep what the rules promise."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hal.envs.grid.lanes import afford
from hal.envs.grid.rules import CRAFTING, TREASURE, Game
from hal.envs.grid.scripted import actions_for
from hal.envs.grid.single import GridEnv
from hal.envs.grid.state import Lane

MADE_FROM = {  # the recipes, written down again: what a milestone takes and gives
    "log": {"log": 1},
    "wood": {"log": -1, "wood": 4},
    "stick": {"wood": -2, "stick": 4},
    "crafting_bench": {"wood": -4},
    "wood_pickaxe": {"stick": -2, "wood": -3, "wood_pickaxe": 1},
    "stone": {"stone": 1},
    "furnace": {"stone": -4},
    "stone_pickaxe": {"stick": -2, "stone": -3, "stone_pickaxe": 1},
    "iron_ore": {"iron_ore": 1},
    "coal": {"coal": 1},
    "iron": {"iron_ore": -1, "coal": -1, "iron": 1},
    "iron_pickaxe": {"stick": -2, "iron": -3, "iron_pickaxe": 1},
    "diamond": {"diamond": 1},
}
USED_UP_BY = {
    "red_door": "red_key",
    "yellow_door": "yellow_key",
    "blue_door": "blue_key",
    "green_door": "green_weight",
    "treasure": "purple_key",
}
HEAD_STARTS = st.dictionaries(st.sampled_from(CRAFTING.items), st.integers(0, 9))


PURSUITS = 13
MOST_STEPS = 400


def moves_of(game: Game) -> st.SearchStrategy[list[int]]:
    """Draw actions, and above their number: pursuits of some afforded milestone."""
    last = len(game.actions) + PURSUITS - 1
    return st.lists(st.integers(0, last), min_size=1, max_size=100)


def actions_of(env: GridEnv, moves: list[int]) -> Iterator[np.int64]:
    """Yield the drawn actions, and those that the drawn pursuits take."""
    num_actions = len(env.game.actions)
    for move in moves:
        frame = env.frame()
        afforded = np.flatnonzero(frame.affordances)
        if move < num_actions or not afforded.size:
            yield np.int64(move % num_actions)
        else:
            for action in actions_for(frame, env.milestones[afforded[move % afforded.size]]):
                yield np.int64(action)
                if env.frame().collected:
                    break


def give(env: GridEnv, items: dict[str, int]) -> Lane:
    """Put items into the inventory; return the lane."""
    lane: Lane = env._lanes.state[0]
    for item, count in items.items():
        lane.inventory[CRAFTING.items.index(item)] = count
    afford(env._lanes._for_kernels, lane)
    return lane


def collected(env: GridEnv, flags: np.ndarray) -> str | None:
    assert flags.sum() <= 1, "at most one milestone per step"
    return env.milestones[int(flags.argmax())] if flags.any() else None


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**31), HEAD_STARTS, moves_of(CRAFTING))
def test_crafting(seed: int, head_start: dict[str, int], moves: list[int]) -> None:
    env = GridEnv("diamond")
    env.reset(seed=seed)
    lane = give(env, head_start)
    dirt = CRAFTING.items.index("dirt")
    before = lane.copy()
    for action in islice(actions_of(env, moves), MOST_STEPS):
        obs, _, terminated, truncated, info = env.step(action)
        name = collected(env, info["milestones"])
        change = dict(zip(CRAFTING.items, obs["inventory"] - before.inventory[:12], strict=True))
        assert (obs["inventory"] >= 0).all()
        assert {k: v for k, v in change.items() if v and k != "dirt"} == MADE_FROM.get(
            name or "", {}
        )
        num_changed = int((lane.grid != before.grid).sum())
        is_dug = obs["inventory"][dirt] > before.inventory[dirt]
        assert num_changed == (is_dug or name in _CHANGES_THE_WORLD)
        if name:
            assert before.is_afforded[CRAFTING.milestones.index(name)], "afforded before it fires"
        is_wall = before.grid == CRAFTING.tiles.index("wall")
        assert ((lane.grid == CRAFTING.tiles.index("wall")) == is_wall).all()
        assert lane.grid[tuple(lane.position)] == 0, "the agent stands on floor"
        before = lane.copy()
        if terminated or truncated:
            break


_CHANGES_THE_WORLD = {"log", "stone", "coal", "iron_ore", "diamond", "crafting_bench", "furnace"}


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**31), moves_of(TREASURE))
def test_treasure(seed: int, moves: list[int]) -> None:
    env = GridEnv("treasure")
    env.reset(seed=seed)
    lane = env._lanes.state[0]
    before = lane.copy()
    num_items = len(TREASURE.items)
    for action in islice(actions_of(env, moves), MOST_STEPS):
        obs, _, terminated, truncated, info = env.step(action)
        name = collected(env, info["milestones"])
        assert obs["inventory"].min() >= 0
        assert obs["inventory"].sum() <= 1, "at most one object is carried"
        if name:
            assert before.is_afforded[TREASURE.milestones.index(name)]
        elif action != TREASURE.actions.index("interact"):
            assert (lane.grid == before.grid).all()
        wall = TREASURE.tiles.index("wall")
        assert ((lane.grid == wall) == (before.grid == wall)).all()
        was_open = before.grid >= len(TREASURE.tiles) - 4
        assert (lane.grid[was_open] == before.grid[was_open]).all(), "an opened door stays open"
        for item, tile in enumerate(TREASURE.items):
            num_lying = int((lane.grid == TREASURE.tiles.index(tile)).sum())
            had = int((before.grid == TREASURE.tiles.index(tile)).sum()) + before.inventory[item]
            is_used = USED_UP_BY.get(name or "") == tile
            assert num_lying + obs["inventory"][item] + is_used == had
        assert (lane.inventory[num_items:] == 0).all()
        before = lane.copy()
        if terminated or truncated:
            break


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), HEAD_STARTS, moves_of(CRAFTING))
def test_disappearance_takes_one_unit_at_a_time(
    seed: int, head_start: dict[str, int], moves: list[int]
) -> None:
    env = GridEnv("diamond", disappear_rate=0.5)
    env.reset(seed=seed)
    lane = give(env, head_start)
    before = lane.inventory.copy()
    for action in islice(actions_of(env, moves), MOST_STEPS):
        obs, _, terminated, truncated, info = env.step(action)
        made = MADE_FROM.get(collected(env, info["milestones"]) or "", {})
        for item, count in zip(CRAFTING.items, obs["inventory"], strict=True):
            lost = before[CRAFTING.items.index(item)] + made.get(item, 0) - count
            assert count >= 0
            assert item == "dirt" or lost in (0, 1)
        before = lane.inventory.copy()
        if terminated or truncated:
            break
