"""Treasure's rules and its worlds' statistics."""

import itertools

import numpy as np
import pytest
from scipy.stats import chisquare

from hal.envs.grid import treasure
from hal.envs.grid.affordances import afford_treasure
from hal.envs.grid.rules import NOTHING, TREASURE, TREASURE_CODE
from hal.envs.grid.state import GridState, Lane, new_state, seed_lane
from tests.search import reached_milestones
from tests.worlds import milestone_mask

NUM_WORLDS = 10_000
TILE = {name: code for code, name in enumerate(TREASURE.tiles)}
DOORWAYS = {(3, 5): 0, (5, 7): 1, (7, 5): 2, (5, 3): 3}  # cell -> side, clockwise from the top
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))
COLOURS = ("yellow", "red", "green", "blue")


@pytest.fixture(scope="module")
def worlds() -> GridState:
    states = new_state(NUM_WORLDS)
    for i in range(NUM_WORLDS):
        seed_lane(states[i], i)
        treasure.generate(states[i])
    return states


def cell_of(lane: Lane, tile: str) -> tuple[int, int] | None:
    cells = np.argwhere(lane.grid == TILE[tile])
    assert len(cells) <= 1
    return (int(cells[0][0]), int(cells[0][1])) if len(cells) else None


def outer_row(side: int) -> set[tuple[int, int]]:
    out, along = STEPS[side], STEPS[(side + 1) % 4]
    return {(5 + 4 * out[0] + k * along[0], 5 + 4 * out[1] + k * along[1]) for k in (-1, 0, 1)}


def side_of_door(lane: Lane, colour: str) -> int:
    cell = cell_of(lane, f"{colour}_door")
    assert cell is not None
    return DOORWAYS[cell]


def test_layout(worlds: GridState) -> None:
    is_open = np.zeros((12, 12), dtype=np.bool_)
    is_open[4:7, 4:7] = True
    is_open[1:3, 4:7] = is_open[8:10, 4:7] = is_open[4:7, 1:3] = is_open[4:7, 8:10] = True
    for cell in DOORWAYS:
        is_open[cell] = True
    assert ((worlds["grid"] != TILE["wall"]) == is_open).all()


def test_doors_are_on_uniformly_random_sides(worlds: GridState) -> None:
    orders = [tuple(side_of_door(lane, colour) for colour in COLOURS) for lane in worlds]
    every = list(itertools.permutations(range(4)))
    assert chisquare([orders.count(order) for order in every]).pvalue > 1e-4


def test_contents_of_the_rooms(worlds: GridState) -> None:
    behind = {"blue_key": "yellow", "green_weight": "red", "chest": "red"}
    behind |= {"purple_key": "green", "scale": "blue"}
    places = np.zeros(3, dtype=np.int64)
    for lane in worlds:
        for tile, colour in behind.items():
            cell = cell_of(lane, tile)
            room = sorted(outer_row(side_of_door(lane, colour)))
            assert cell in room
            places[room.index(cell)] += tile == "scale"
    assert chisquare(places).pvalue > 1e-4


def test_the_three_starts(worlds: GridState) -> None:
    starts = np.zeros(3, dtype=np.int64)
    corners = {(4, 4), (4, 6), (6, 4), (6, 6)}
    corner_counts = dict.fromkeys(sorted(corners), 0)
    for lane in worlds:
        red, yellow = cell_of(lane, "red_key"), cell_of(lane, "yellow_key")
        assert red is not None
        assert yellow is not None
        if red in corners and yellow in corners:
            starts[0] += 1
        elif red in corners:
            assert yellow in outer_row(side_of_door(lane, "red"))
            starts[1] += 1
        else:
            assert yellow in corners
            assert red in outer_row(side_of_door(lane, "yellow"))
            starts[2] += 1
        for cell in {red, yellow} & corners:
            corner_counts[cell] += 1
    assert chisquare(starts).pvalue > 1e-4
    assert chisquare(list(corner_counts.values())).pvalue > 1e-4


def test_the_agent_starts_on_the_central_rooms_floor(worlds: GridState) -> None:
    rows, cols = worlds["position"].T
    assert rows.min() == cols.min() == 4
    assert rows.max() == cols.max() == 6
    assert (worlds["grid"][np.arange(NUM_WORLDS), rows, cols] == TILE["floor"]).all()
    assert chisquare(np.bincount(worlds["direction"], minlength=4)).pvalue > 1e-4


def test_homes_are_where_the_items_lie(worlds: GridState) -> None:
    for lane in worlds[:200]:
        for item, name in enumerate(TREASURE.items):
            assert tuple(lane.home[item]) == cell_of(lane, name)


def test_every_world_is_solvable_by_search(worlds: GridState) -> None:
    only_the_end = milestone_mask(("treasure",), TREASURE)
    treasure_row = TREASURE.milestones.index("treasure")
    for lane in worlds[:150]:
        reached = reached_milestones(lane, TREASURE_CODE, only_the_end, most_states=10_000)
        assert reached is not None
        assert treasure_row in reached
    # Beyond these, worlds differ only in ways that the fast search, which agrees with brute force
    # (test_affordances.py), can judge.
    for lane in worlds:
        afford_treasure(lane, only_the_end)
        assert lane.is_afforded[treasure_row]


def stand_before(lane: Lane, tile: str) -> None:
    """Put the agent on a walkable cell next to the tile, facing it."""
    cell = cell_of(lane, tile)
    assert cell is not None
    for direction, (row_step, col_step) in enumerate(STEPS):
        row, col = cell[0] - row_step, cell[1] - col_step
        if treasure.IS_WALKABLE[lane.grid[row, col]]:
            lane.position[:] = row, col
            lane.direction = direction
            return
    raise AssertionError(f"no free cell next to {tile}")


def interact_with(lane: Lane, tile: str) -> str | None:
    stand_before(lane, tile)
    done = treasure.act(lane, TREASURE.actions.index("interact"))
    return None if done == NOTHING else TREASURE.milestones[done]


def carried(lane: Lane) -> list[str]:
    return [name for item, name in enumerate(TREASURE.items) if lane.inventory[item]]


def test_items_are_taken_and_the_carried_one_goes_back_home(worlds: GridState) -> None:
    lane = worlds[:1].copy()[0]
    homes = {name: cell_of(lane, name) for name in TREASURE.items}
    before: str | None = None
    for name in TREASURE.items:
        assert interact_with(lane, name) == name
        assert carried(lane) == [name]
        assert cell_of(lane, name) is None
        if before:
            assert cell_of(lane, before) == homes[before]
        before = name


@pytest.mark.parametrize("colour", ["red", "yellow", "blue"])
def test_a_key_opens_its_door_alone_for_good_and_is_used_up(worlds: GridState, colour: str) -> None:
    lane = worlds[1:2].copy()[0]
    for other in ("red", "yellow", "blue", "purple"):
        if other != colour:
            interact_with(lane, f"{other}_key")
            assert interact_with(lane, f"{colour}_door") is None
    assert interact_with(lane, f"{colour}_key") == f"{colour}_key"
    cell = cell_of(lane, f"{colour}_door")
    assert interact_with(lane, f"{colour}_door") == f"{colour}_door"
    assert carried(lane) == []
    assert cell_of(lane, f"open_{colour}_door") == cell
    assert cell_of(lane, f"{colour}_key") is None
    assert treasure.act(lane, TREASURE.actions.index("interact")) == NOTHING
    assert treasure.act(lane, TREASURE.actions.index("forward")) == NOTHING
    assert tuple(lane.position) == cell, "an open door can be walked through"


def test_the_weight_on_the_scale_opens_the_green_door(worlds: GridState) -> None:
    lane = worlds[2:3].copy()[0]
    assert interact_with(lane, "scale") is None
    assert interact_with(lane, "purple_key") == "purple_key"
    assert interact_with(lane, "green_door") is None
    assert interact_with(lane, "scale") is None
    assert interact_with(lane, "green_weight") == "green_weight"
    assert interact_with(lane, "green_door") is None
    assert interact_with(lane, "scale") == "green_door"
    assert carried(lane) == []
    assert cell_of(lane, "green_door") is None
    assert cell_of(lane, "open_green_door") is not None
    assert cell_of(lane, "scale") is None
    assert cell_of(lane, "pressed_scale") is not None, "it shows that it was used"
    assert interact_with(lane, "pressed_scale") is None


def test_a_door_that_is_open_already_stays_so(worlds: GridState) -> None:
    lane = worlds[2:3].copy()[0]
    door = cell_of(lane, "green_door")
    lane.grid[door] = TREASURE.tiles.index("open_green_door")
    lane.inventory[TREASURE.items.index("green_weight")] = 1
    scale, before = cell_of(lane, "scale"), lane.grid.copy()
    assert interact_with(lane, "scale") == "green_door"
    before[scale] = TREASURE.tiles.index("pressed_scale")
    np.testing.assert_array_equal(lane.grid, before)


def test_the_chest_needs_the_purple_key(worlds: GridState) -> None:
    lane = worlds[3:4].copy()[0]
    for item in TREASURE.items:
        interact_with(lane, item)
        assert (interact_with(lane, "chest") == "treasure") == (item == "purple_key")
