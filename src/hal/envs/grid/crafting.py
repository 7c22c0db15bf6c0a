"""Crafting, one lane at a time: world generation, the actions, and what disappears.

The numbers are in `rules.py`; what is possible from a state is in `affordances.py`.
"""

import numpy as np

from hal.envs.grid.geometry import ahead, move
from hal.envs.grid.jit import kernel
from hal.envs.grid.rng import draw
from hal.envs.grid.rules import (
    COST,
    CRAFTED_BY,
    CRAFTING,
    DISAPPEAR_WEIGHT,
    FEWEST_OF,
    FLOOR,
    GIVES,
    ITEM,
    LOWER_TILES,
    MINED_BY,
    MOVES,
    NEAR,
    NEAR_DISTANCE,
    NOTHING,
    PICKAXE_ITEMS,
    PICKAXE_NEEDED,
    PICKAXE_PRODUCTIONS,
    PLACES,
    UPPER_TILES,
    WALL,
)
from hal.envs.grid.state import Lane

NUM_MOVES = len(MOVES)
MINE = CRAFTING.actions.index("mine")
CRAFT_PICKAXE = CRAFTING.actions.index("craft_pickaxe")
DIAMOND = CRAFTING.tiles.index("diamond")
IS_WALKABLE = np.array([tile == "floor" for tile in CRAFTING.tiles])
PROBABILITY_STEPS = 2**31


@kernel
def generate(lane: Lane) -> None:
    """Draw worlds until one has enough of everything; put the agent on an empty cell."""
    grid, rng = lane.grid, lane.world_rng
    while not _draw_world(grid, rng):
        pass
    row, col = 0, 0  # a wall
    while grid[row, col] != FLOOR:
        row = draw(rng, grid.shape[0])
        col = draw(rng, grid.shape[1])
    lane.position[0] = row
    lane.position[1] = col
    lane.direction = draw(rng, 4)


@kernel
def _draw_world(grid: np.ndarray, rng: np.ndarray) -> bool:
    height, width = grid.shape
    grid[:] = WALL
    for row in range(1, height - 1):
        tiles = UPPER_TILES if row < height // 2 else LOWER_TILES
        for col in range(1, width - 1):
            grid[row, col] = tiles[draw(rng, tiles.size)]
    grid[height - 2, 1 + draw(rng, width - 2)] = DIAMOND
    missing = FEWEST_OF.copy()
    for row in range(height):
        for col in range(width):
            missing[grid[row, col]] -= 1
    return missing.max() <= 0


@kernel
def act(lane: Lane, action: int) -> int:
    """Do an action; return the production it completed (dirt is one too), else NOTHING."""
    if action < NUM_MOVES:
        move(lane, action, IS_WALKABLE)
        return NOTHING
    grid, inventory = lane.grid, lane.inventory
    row, col = ahead(lane, 1)
    if action == MINE:
        production = MINED_BY[grid[row, col]]
    elif action == CRAFT_PICKAXE:
        production = _strongest_affordable_pickaxe(inventory)
    else:
        production = CRAFTED_BY[action]
    if production == NOTHING or not _is_possible(lane, production, grid[row, col]):
        return NOTHING

    for item in range(inventory.size):
        inventory[item] -= COST[production, item]
    if ITEM[production] != NOTHING:
        inventory[ITEM[production]] += GIVES[production]
    if action == MINE:
        grid[row, col] = FLOOR
    elif PLACES[production] != NOTHING:
        grid[row, col] = PLACES[production]
    return production


@kernel
def _is_possible(lane: Lane, production: int, front: int) -> bool:
    inventory = lane.inventory
    if strongest_pickaxe(inventory) < PICKAXE_NEEDED[production]:
        return False
    if PLACES[production] != NOTHING and front != FLOOR:
        return False
    if NEAR[production] != NOTHING and not is_near(
        lane.grid, lane.position[0], lane.position[1], NEAR[production]
    ):
        return False
    return holds_cost(inventory, production)


@kernel
def holds_cost(inventory: np.ndarray, production: int) -> bool:
    """Tell whether the inventory pays for one run of the production."""
    for item in range(inventory.size):
        if inventory[item] < COST[production, item]:
            return False
    return True


@kernel
def _strongest_affordable_pickaxe(inventory: np.ndarray) -> int:
    for pickaxe in PICKAXE_PRODUCTIONS[::-1]:
        if holds_cost(inventory, pickaxe):
            return pickaxe
    return NOTHING


@kernel
def strongest_pickaxe(inventory: np.ndarray) -> int:
    """Return 0 for bare hands, 1 for wood, 2 for stone, 3 for iron."""
    for strength in range(PICKAXE_ITEMS.size, 0, -1):
        if inventory[PICKAXE_ITEMS[strength - 1]] > 0:
            return strength
    return 0


@kernel
def is_near(grid: np.ndarray, row: int, col: int, tile: int) -> bool:
    """Tell whether a tile of this kind is within reach of a crafter at (row, col)."""
    for r in range(max(row - NEAR_DISTANCE, 0), min(row + NEAR_DISTANCE + 1, grid.shape[0])):
        for c in range(max(col - NEAR_DISTANCE, 0), min(col + NEAR_DISTANCE + 1, grid.shape[1])):
            if grid[r, c] == tile:
                return True
    return False


@kernel
def disappear(lane: Lane, rate: float) -> bool:
    """Edge stochasticity: at this rate one unit of one held item is lost. Tell if it was."""
    inventory, rng = lane.inventory, lane.disappear_rng
    if draw(rng, PROBABILITY_STEPS) >= rate * PROBABILITY_STEPS:
        return False
    total = 0
    for item in range(inventory.size):
        if inventory[item] > 0:
            total += DISAPPEAR_WEIGHT[item]
    if total == 0:
        return False
    ticket = draw(rng, total)
    for item in range(inventory.size):
        if inventory[item] > 0:
            ticket -= DISAPPEAR_WEIGHT[item]
            if ticket < 0:
                inventory[item] -= 1
                return True
    return False
