"""Fast affordances against brute force over real states."""

from collections import Counter

import numpy as np
import pytest

from hal.envs.grid import treasure
from hal.envs.grid.affordances import afford_crafting, afford_treasure
from hal.envs.grid.rules import (
    CRAFTING,
    CRAFTING_CODE,
    NUM_PRODUCTIONS,
    TREASURE,
    TREASURE_CODE,
    Game,
)
from hal.envs.grid.state import GridState, Lane, new_state, seed_lane
from tests.search import reached_milestones
from tests.worlds import crafting_world, milestone_mask, random_small_world

MOST_STATES = 3_000  # per search; larger ones are left out


def names_of(rows: np.ndarray | set[int], game: Game) -> list[str]:
    return sorted(game.milestones[row] for row in rows)


def fast(lane: Lane, game: Game, mask: np.ndarray) -> list[str]:
    (afford_crafting if game is CRAFTING else afford_treasure)(lane, mask)
    return names_of(np.flatnonzero(lane.is_afforded), game)


def full_set(task: str, game: Game) -> tuple[str, ...]:
    return game.milestones[: game.milestones.index(task) + 1]


def reduced_set(rng: np.random.Generator, task: str, game: Game) -> tuple[str, ...]:
    """Return the task's milestones without one to five of them."""
    others = full_set(task, game)[:-1]
    num_removed = rng.integers(1, min(5, len(others)) + 1) if others else 0
    removed = set(rng.permutation(others)[:num_removed])
    return (*(name for name in others if name not in removed), task)


def reachable_crafting_state(rng: np.random.Generator, task: str) -> GridState:
    """Play random milestones, deep ones rather, in a small world; stop before the final one."""
    state = random_small_world(rng)
    every = milestone_mask(CRAFTING.milestones, CRAFTING)
    for _ in range(rng.integers(60)):
        reached = reached_milestones(state[0], CRAFTING_CODE, every, MOST_STATES)
        rows = [row for row in reached or {} if CRAFTING.milestones[row] != task]
        if not reached or not rows:
            break
        odds = (1.0 + np.array(rows)) ** 1.5
        state[0] = reached[rows[rng.choice(len(rows), p=odds / odds.sum())]]
    return state


def reachable_treasure_state(rng: np.random.Generator) -> GridState:
    state = new_state(1)
    seed_lane(state[0], int(rng.integers(2**31)))
    treasure.generate(state[0])
    every = milestone_mask(TREASURE.milestones, TREASURE)
    for _ in range(rng.integers(20)):
        reached = reached_milestones(state[0], TREASURE_CODE, every, MOST_STATES)
        assert reached
        rows = [row for row in reached if TREASURE.milestones[row] != "treasure"]
        if not rows:
            break
        state[0] = reached[rows[rng.integers(len(rows))]]
    return state


@pytest.mark.parametrize("task", CRAFTING.tasks)
def test_crafting_is_exact_with_every_tasks_full_set(task: str) -> None:
    rng = np.random.default_rng(CRAFTING.tasks.index(task))
    mask = milestone_mask(full_set(task, CRAFTING), CRAFTING)
    for _ in range(60):
        state = reachable_crafting_state(rng, task)
        reached = reached_milestones(state[0], CRAFTING_CODE, mask, MOST_STATES)
        if reached is not None:
            assert fast(state[0], CRAFTING, mask) == names_of(set(reached), CRAFTING), state[0]


def test_crafting_is_exact_with_the_full_set_and_any_inventory() -> None:
    rng = np.random.default_rng(5)
    mask = milestone_mask(CRAFTING.milestones, CRAFTING)
    seen: Counter[tuple[str, bool]] = Counter()
    for _ in range(1500):
        state = random_small_world(rng)
        _fill_inventory(rng, state[0])
        reached = reached_milestones(state[0], CRAFTING_CODE, mask, MOST_STATES)
        assert reached is not None
        afforded = fast(state[0], CRAFTING, mask)
        assert afforded == names_of(set(reached), CRAFTING), state[0]
        seen.update((name, name in afforded) for name in CRAFTING.milestones)
    for name in CRAFTING.milestones:
        assert min(seen[name, True], seen[name, False]) > 20


@pytest.mark.parametrize("task", TREASURE.tasks)
def test_treasure_is_exact_with_any_set(task: str) -> None:
    rng = np.random.default_rng(TREASURE.tasks.index(task))
    full = milestone_mask(full_set(task, TREASURE), TREASURE)
    for _ in range(60):
        state = reachable_treasure_state(rng)
        if task == "green_door" and "green_door" not in [
            TREASURE.tiles[tile] for tile in state[0].grid.ravel()
        ]:
            continue  # the task would have ended
        for mask in (full, milestone_mask(reduced_set(rng, task, TREASURE), TREASURE)):
            reached = reached_milestones(state[0], TREASURE_CODE, mask, 20_000)
            assert reached is not None
            assert fast(state[0], TREASURE, mask) == names_of(set(reached), TREASURE)


def test_crafting_with_reduced_sets_agrees_on_nearly_every_state() -> None:
    rng = np.random.default_rng(11)
    num_checked, num_wrong = 0, 0
    for i in range(1200):
        task = ("iron", "diamond", rng.choice(CRAFTING.tasks))[i % 3]
        mask = milestone_mask(reduced_set(rng, task, CRAFTING), CRAFTING)
        state = reachable_crafting_state(rng, task)
        if i % 4 == 0:
            _fill_inventory(rng, state[0])
        reached = reached_milestones(state[0], CRAFTING_CODE, mask, MOST_STATES)
        if reached is not None:
            num_checked += 1
            num_wrong += fast(state[0], CRAFTING, mask) != names_of(set(reached), CRAFTING)
    assert num_checked > 900
    assert num_wrong <= 0.005 * num_checked


def _fill_inventory(rng: np.random.Generator, lane: Lane) -> None:
    is_held = rng.random(len(CRAFTING.items)) < 0.5
    lane.inventory[:] = is_held * rng.integers(1, 9, size=len(CRAFTING.items))


def test_a_plan_of_free_steps() -> None:
    only_iron = milestone_mask(("iron",), CRAFTING)
    # Bench 4, furnace: stone 4, wood pickaxe 3 + 2 sticks, stone pickaxe 3 stone + 2 sticks:
    # 9 wood or three logs, and seven stones.
    world = ("TTT>", "SSSS", "SSSS", "IC  ")
    assert fast(crafting_world(*world)[0], CRAFTING, only_iron) == ["iron"]
    two_trees = crafting_world("TT >", *world[1:])
    assert fast(two_trees[0], CRAFTING, only_iron) == []
    assert fast(crafting_world("TT >", *world[1:], wood=1)[0], CRAFTING, only_iron) == ["iron"]
    six_stones = crafting_world(*world[:2], "SSddd", "IC  ")
    assert fast(six_stones[0], CRAFTING, only_iron) == []
    ore_out_of_reach = crafting_world(*world[:3], "IC##")
    ore_out_of_reach[0].grid[3, 1:3] = CRAFTING.tiles.index("diamond")
    assert fast(ore_out_of_reach[0], CRAFTING, only_iron) == []


def test_a_removed_milestone_may_be_done_on_the_way() -> None:
    state = crafting_world(">T")
    every = milestone_mask(full_set("stick", CRAFTING), CRAFTING)
    assert fast(state[0], CRAFTING, every) == ["log"]
    without_log = milestone_mask(("wood", "stick"), CRAFTING)
    assert fast(state[0], CRAFTING, without_log) == ["wood"]
    assert fast(state[0], CRAFTING, milestone_mask(("stick",), CRAFTING)) == ["stick"]
    assert every.size == NUM_PRODUCTIONS


def test_the_strongest_pickaxe_hides_the_weaker() -> None:
    every = milestone_mask(CRAFTING.milestones, CRAFTING)
    held = {"stick": 4, "wood": 3}
    assert "wood_pickaxe" in fast(crafting_world("> B", **held)[0], CRAFTING, every)
    with_stone = crafting_world("> B", **held, stone=3)
    assert "wood_pickaxe" not in fast(with_stone[0], CRAFTING, every)
    assert "stone_pickaxe" in fast(with_stone[0], CRAFTING, every)
    without = milestone_mask(
        tuple(m for m in CRAFTING.milestones if m != "stone_pickaxe"), CRAFTING
    )
    assert "wood_pickaxe" in fast(with_stone[0], CRAFTING, without), "the stone can be spent first"
