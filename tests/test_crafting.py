"""Crafting's rules, each number written down here again, and its worlds' statistics."""

import numpy as np
import pytest
from scipy.stats import chisquare

from hal.envs.grid import crafting
from hal.envs.grid.rules import CRAFTING, NOTHING
from hal.envs.grid.state import LANE, new_state, seed_lane
from tests.worlds import crafting_world, front_tile, inventory_of

Held = dict[str, int]
NUM_WORLDS = 10_000


def do(state: np.ndarray, action: str) -> str | None:
    """Do one action; return the name of what it completed."""
    done = crafting.act(state[0], CRAFTING.actions.index(action))
    return None if done == NOTHING else (*CRAFTING.milestones, "dirt")[done]


@pytest.mark.parametrize(
    ("front", "held", "collected"),
    [
        ("T", {}, "log"),
        ("d", {}, "dirt"),
        ("S", {"wood_pickaxe": 1}, "stone"),
        ("S", {"stone_pickaxe": 1}, "stone"),
        ("S", {"iron_pickaxe": 1}, "stone"),
        ("C", {"stone_pickaxe": 1}, "coal"),
        ("C", {"iron_pickaxe": 1}, "coal"),
        ("I", {"stone_pickaxe": 1}, "iron_ore"),
        ("I", {"iron_pickaxe": 1}, "iron_ore"),
        ("D", {"iron_pickaxe": 1}, "diamond"),
    ],
)
def test_mining(front: str, held: Held, collected: str) -> None:
    state = crafting_world(f">{front}", **held)
    assert do(state, "mine") == collected
    assert inventory_of(state) == {**held, collected: 1}
    assert front_tile(state) == "floor"


@pytest.mark.parametrize(
    ("front", "held"),
    [
        ("S", {}),
        ("C", {}),
        ("C", {"wood_pickaxe": 1}),
        ("I", {"wood_pickaxe": 1}),
        ("D", {"wood_pickaxe": 1, "stone_pickaxe": 1}),
        ("B", {"iron_pickaxe": 1}),
        ("F", {"iron_pickaxe": 1}),
        ("#", {"iron_pickaxe": 1}),
        (" ", {"iron_pickaxe": 1}),
    ],
)
def test_what_cannot_be_mined(front: str, held: Held) -> None:
    state = crafting_world(f">{front}", **held)
    before = state.copy()
    assert do(state, "mine") is None
    assert state.tobytes() == before.tobytes()


@pytest.mark.parametrize(
    ("world", "action", "held", "collected", "left"),
    [
        (">", "craft_wood", {"log": 2}, "wood", {"log": 1, "wood": 4}),
        (">", "craft_stick", {"wood": 3}, "stick", {"wood": 1, "stick": 4}),
        ("> ", "craft_bench", {"wood": 5}, "crafting_bench", {"wood": 1}),
        ("> ", "craft_furnace", {"stone": 5}, "furnace", {"stone": 1}),
        (
            "> B",
            "craft_pickaxe",
            {"stick": 3, "wood": 4},
            "wood_pickaxe",
            {"stick": 1, "wood": 1, "wood_pickaxe": 1},
        ),
        (
            "> B",
            "craft_pickaxe",
            {"stick": 3, "wood": 4, "stone": 4},
            "stone_pickaxe",
            {"stick": 1, "wood": 4, "stone": 1, "stone_pickaxe": 1},
        ),
        (
            "> B",
            "craft_pickaxe",
            {"stick": 2, "wood": 4, "stone": 4, "iron": 3},
            "iron_pickaxe",
            {"wood": 4, "stone": 4, "iron_pickaxe": 1},
        ),
        (
            ">SF",
            "craft_iron",
            {"iron_ore": 2, "coal": 2},
            "iron",
            {"iron_ore": 1, "coal": 1, "iron": 1},
        ),
    ],
)
def test_crafting(world: str, action: str, held: Held, collected: str, left: Held) -> None:
    state = crafting_world(world, **held)
    assert do(state, action) == collected
    assert inventory_of(state) == left
    if collected in ("crafting_bench", "furnace"):
        assert front_tile(state) == collected


@pytest.mark.parametrize(
    ("world", "action", "held"),
    [
        (">", "craft_wood", {}),
        (">", "craft_stick", {"wood": 1}),
        ("> ", "craft_bench", {"wood": 3}),
        (">T", "craft_bench", {"wood": 4}),
        (">d", "craft_bench", {"wood": 4}),
        ("> ", "craft_furnace", {"stone": 3}),
        (">", "craft_furnace", {"stone": 4}),
        (">  B", "craft_pickaxe", {"stick": 2, "wood": 3}),
        (">F", "craft_pickaxe", {"stick": 2, "wood": 3}),
        (">B", "craft_pickaxe", {"stick": 1, "wood": 3, "stone": 3, "iron": 3}),
        (">B", "craft_pickaxe", {"stick": 2, "wood": 2, "stone": 2, "iron": 2}),
        (">  F", "craft_iron", {"iron_ore": 1, "coal": 1}),
        (">B", "craft_iron", {"iron_ore": 1, "coal": 1}),
        (">F", "craft_iron", {"coal": 1}),
        (">F", "craft_iron", {"iron_ore": 1}),
    ],
)
def test_what_cannot_be_crafted(world: str, action: str, held: Held) -> None:
    state = crafting_world(world, **held)
    before = state.copy()
    assert do(state, action) is None
    assert state.tobytes() == before.tobytes()


def test_stations_are_near_within_two_cells_diagonally_too() -> None:
    assert do(crafting_world(">  ", "SSS", "SSB", stick=2, wood=3), "craft_pickaxe")
    assert do(crafting_world("> ", "SS", "SS", "SB", stick=2, wood=3), "craft_pickaxe") is None


def test_what_disappears() -> None:
    weights = {"log": 20, "wood": 20, "stick": 20, "stone": 10, "wood_pickaxe": 10}
    weights |= {"stone_pickaxe": 8, "iron_ore": 5, "iron": 5, "coal": 5, "iron_pickaxe": 2}
    weights |= {"diamond": 1, "dirt": 0}
    states = np.repeat(crafting_world(">"), 20_000)
    states["inventory"] = 3
    num_lost = 0
    for i in range(states.size):
        seed_lane(states[i], i)
        num_lost += crafting.disappear(states[i], 0.25)
    lost = (3 - states["inventory"]).sum(axis=0)
    assert lost.sum() == num_lost
    assert abs(num_lost / states.size - 0.25) < 4 * np.sqrt(0.25 * 0.75 / states.size)
    assert lost[CRAFTING.items.index("dirt")] == 0
    expected = np.array([weights[item] for item in CRAFTING.items], dtype=np.float64)
    seen = expected > 0
    assert chisquare(lost[seen], expected[seen] / 106 * num_lost).pvalue > 1e-4


def test_only_held_items_disappear() -> None:
    state = crafting_world(">", dirt=5)
    seed_lane(state[0], 1)
    assert not any(crafting.disappear(state[0], 1.0) for _ in range(20))
    state = crafting_world(">", dirt=5, diamond=1)
    seed_lane(state[0], 1)
    assert crafting.disappear(state[0], 1.0)
    assert inventory_of(state) == {"dirt": 5}


@pytest.fixture(scope="module")
def worlds() -> np.ndarray:
    states = new_state(NUM_WORLDS)
    for i in range(NUM_WORLDS):
        seed_lane(states[i], i)
        crafting.generate(states[i])
    return states


def tiles_of(states: np.ndarray, rows: slice) -> dict[str, int]:
    counts = np.bincount(states["grid"][:, rows, 1:11].ravel(), minlength=len(CRAFTING.tiles))
    return dict(zip(CRAFTING.tiles, counts.tolist(), strict=True))


def test_every_world_has_enough(worlds: np.ndarray) -> None:
    for tile, fewest in (("tree", 5), ("iron_ore", 4), ("coal", 4), ("diamond", 1)):
        code = CRAFTING.tiles.index(tile)
        assert (worlds["grid"] == code).sum(axis=(1, 2)).min() >= fewest


def test_shares_of_the_upper_half(worlds: np.ndarray) -> None:
    # Worlds that lack something are drawn again, which lifts rare tiles a little: so the shares
    # are judged on the draws before the check.
    counts = tiles_of(_unchecked_worlds(), slice(1, 6))
    assert {name for name, count in counts.items() if count} == {"tree", "dirt", "floor"}
    expected = np.array([10, 4, 36]) / 50 * NUM_WORLDS * 50
    assert chisquare([counts["tree"], counts["dirt"], counts["floor"]], expected).pvalue > 1e-4
    accepted = tiles_of(worlds, slice(1, 6))
    assert abs(accepted["tree"] / (NUM_WORLDS * 50) - 10 / 50) < 0.003


def test_shares_of_the_lower_half(worlds: np.ndarray) -> None:
    names = ["stone", "coal", "iron_ore", "dirt"]
    counts = tiles_of(_unchecked_worlds(), slice(6, 10))  # without the diamond's row
    assert {name for name, count in counts.items() if count} == set(names)
    expected = np.array([29, 8, 8, 5]) / 50 * NUM_WORLDS * 40
    assert chisquare([counts[name] for name in names], expected).pvalue > 1e-4
    accepted = tiles_of(worlds, slice(6, 10))
    for name, share in zip(names, (29, 8, 8, 5), strict=True):
        assert abs(accepted[name] / (NUM_WORLDS * 40) - share / 50) < 0.006


def test_one_diamond_in_the_bottom_row_at_a_uniform_column(worlds: np.ndarray) -> None:
    _, rows, cols = np.nonzero(worlds["grid"] == CRAFTING.tiles.index("diamond"))
    assert rows.size == NUM_WORLDS
    assert (rows == 10).all()
    assert chisquare(np.bincount(cols, minlength=12)[1:11]).pvalue > 1e-4


def test_start_is_a_uniform_floor_cell_and_direction(worlds: np.ndarray) -> None:
    rows, cols = worlds["position"].T
    assert (worlds["grid"][np.arange(NUM_WORLDS), rows, cols] == 0).all()
    assert chisquare(np.bincount(cols, minlength=12)[1:11]).pvalue > 1e-4
    assert chisquare(np.bincount(rows, minlength=12)[1:6]).pvalue > 1e-4
    assert chisquare(np.bincount(worlds["direction"], minlength=4)).pvalue > 1e-4


def test_walls_surround_every_world(worlds: np.ndarray) -> None:
    border = np.ones((12, 12), dtype=np.bool_)
    border[1:-1, 1:-1] = False
    is_wall = worlds["grid"] == CRAFTING.tiles.index("wall")
    assert (is_wall == border).all()


def _unchecked_worlds() -> np.ndarray:
    states = np.zeros(NUM_WORLDS, dtype=LANE)
    for i in range(NUM_WORLDS):
        seed_lane(states[i], i + NUM_WORLDS)
        crafting._draw_world(states[i].grid, states[i].world_rng)
    return states
