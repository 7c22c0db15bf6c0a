"""Treasure, one lane at a time: world generation and the actions.

The rooms' contents and what opens what are in `rules.py`.
"""

import numpy as np

from hal.envs.grid.geometry import DIRECTIONS, ahead, move
from hal.envs.grid.jit import kernel
from hal.envs.grid.rng import draw
from hal.envs.grid.rules import (
    BECOMES,
    DOOR_TILE,
    FLOOR,
    INTERACTION_OF,
    ITEM_OF_TILE,
    ITEM_TILE,
    MOVES,
    NOTHING,
    OBJECT_DOOR,
    OBJECT_TILE,
    OPENS,
    TAKES,
    TO_OPEN_DOOR,
    TREASURE,
    USES,
    WALL,
)
from hal.envs.grid.state import Lane

NUM_MOVES = len(MOVES)
NUM_SIDES = len(DIRECTIONS)
IS_WALKABLE = np.array([tile == "floor" or tile.startswith("open_") for tile in TREASURE.tiles])
MIDDLE = TREASURE.size // 2
# Steps from the grid's middle to a side's doorway and to the far row of the room behind it.
DOORWAY, OUTER_ROW = 2, 4


@kernel
def generate(lane: Lane) -> None:
    """Draw which door is on which side, one of the three starts, all places, and the agent's."""
    grid, rng = lane.grid, lane.world_rng
    _carve_rooms(grid)
    side_of_door = _shuffled_sides(rng)
    for door in range(NUM_SIDES):
        row, col = _cell(side_of_door[door], DOORWAY, 0)
        grid[row, col] = DOOR_TILE[door]

    door_of_object = OBJECT_DOOR[draw(rng, OBJECT_DOOR.shape[0])]
    for i in range(OBJECT_TILE.size):
        door = door_of_object[i]
        row, col = _draw_place(grid, NOTHING if door == NOTHING else side_of_door[door], rng)
        grid[row, col] = OBJECT_TILE[i]
        item = ITEM_OF_TILE[OBJECT_TILE[i]]
        if item != NOTHING:
            lane.home[item, 0] = row
            lane.home[item, 1] = col

    row, col = 0, 0  # a wall
    while grid[row, col] != FLOOR:
        row = MIDDLE - 1 + draw(rng, 3)
        col = MIDDLE - 1 + draw(rng, 3)
    lane.position[0] = row
    lane.position[1] = col
    lane.direction = draw(rng, 4)


@kernel
def _cell(side: int, distance: int, offset: int) -> tuple[int, int]:
    """Return the cell so far out from the middle on one side, and so far to the right of that."""
    row = MIDDLE + distance * DIRECTIONS[side, 0] + offset * DIRECTIONS[(side + 1) % 4, 0]
    col = MIDDLE + distance * DIRECTIONS[side, 1] + offset * DIRECTIONS[(side + 1) % 4, 1]
    return row, col


@kernel
def _carve_rooms(grid: np.ndarray) -> None:
    grid[:] = WALL
    grid[MIDDLE - 1 : MIDDLE + 2, MIDDLE - 1 : MIDDLE + 2] = FLOOR
    for side in range(NUM_SIDES):
        for distance in range(DOORWAY + 1, OUTER_ROW + 1):
            for offset in range(-1, 2):
                row, col = _cell(side, distance, offset)
                grid[row, col] = FLOOR


@kernel
def _shuffled_sides(rng: np.ndarray) -> np.ndarray:
    sides = np.arange(NUM_SIDES)
    for last in range(NUM_SIDES - 1, 0, -1):
        other = draw(rng, last + 1)
        sides[last], sides[other] = sides[other], sides[last]
    return sides


@kernel
def _draw_place(grid: np.ndarray, side: int, rng: np.ndarray) -> tuple[int, int]:
    """Draw a free corner of the central room, or a free cell of a side room's outer row."""
    while True:
        if side == NOTHING:
            row = MIDDLE - 1 + 2 * draw(rng, 2)
            col = MIDDLE - 1 + 2 * draw(rng, 2)
        else:
            row, col = _cell(side, OUTER_ROW, draw(rng, 3) - 1)
        if grid[row, col] == FLOOR:
            return row, col


@kernel
def act(lane: Lane, action: int) -> int:
    """Do an action; return the interaction it completed, else NOTHING."""
    if action < NUM_MOVES:
        move(lane, action, IS_WALKABLE)
        return NOTHING
    row, col = ahead(lane, 1)
    return interact(lane, row, col)


@kernel
def interact(lane: Lane, row: int, col: int) -> int:
    """Take what lies at (row, col), or use the carried item on it; return what was completed."""
    interaction = INTERACTION_OF[lane.grid[row, col]]
    if interaction == NOTHING or not is_possible(lane, interaction):
        return NOTHING
    if TAKES[interaction] != NOTHING:
        _put_back(lane)
        lane.grid[row, col] = FLOOR
        lane.inventory[TAKES[interaction]] = 1
    else:
        lane.inventory[USES[interaction]] = 0
        if BECOMES[interaction] != NOTHING:
            lane.grid[row, col] = BECOMES[interaction]
        if OPENS[interaction] != NOTHING:
            row, col = find(lane.grid, OPENS[interaction])
            if row != NOTHING:  # it may be open already
                lane.grid[row, col] += TO_OPEN_DOOR
    return interaction


@kernel
def is_possible(lane: Lane, interaction: int) -> bool:
    """Tell whether the interaction needs nothing that is not carried."""
    return USES[interaction] == NOTHING or lane.inventory[USES[interaction]] > 0


@kernel
def _put_back(lane: Lane) -> None:
    for item in range(ITEM_TILE.size):
        if lane.inventory[item] > 0:
            lane.inventory[item] = 0
            lane.grid[lane.home[item, 0], lane.home[item, 1]] = ITEM_TILE[item]


@kernel
def find(grid: np.ndarray, tile: int) -> tuple[int, int]:
    """Return the first cell with this tile; (NOTHING, NOTHING) if there is none."""
    for row in range(grid.shape[0]):
        for col in range(grid.shape[1]):
            if grid[row, col] == tile:
                return row, col
    return NOTHING, NOTHING
