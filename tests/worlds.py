"""Worlds for tests, from pictures in text."""

import numpy as np

from hal.envs.grid.rules import CRAFTING, WALL, Game
from hal.envs.grid.state import GridState, new_state

SYMBOLS = {
    " ": "floor",
    "#": "wall",
    "T": "tree",
    "d": "dirt",
    "S": "stone",
    "C": "coal",
    "I": "iron_ore",
    "D": "diamond",
    "B": "crafting_bench",
    "F": "furnace",
}
AGENT = "^>v<"


def crafting_world(*rows: str, **inventory: int) -> GridState:
    """Return one lane of Crafting: the picture inside a wall, the agent one of ^ > v <."""
    state = new_state(1)
    lane = state[0]
    lane.grid[:] = WALL
    for r, row in enumerate(rows, start=1):
        for c, symbol in enumerate(row, start=1):
            if symbol in AGENT:
                lane.position[:] = r, c
                lane.direction = AGENT.index(symbol)
                lane.grid[r, c] = 0
            else:
                lane.grid[r, c] = CRAFTING.tiles.index(SYMBOLS[symbol])
    for item, count in inventory.items():
        lane.inventory[CRAFTING.items.index(item)] = count
    lane.is_done = False
    return state


def random_small_world(rng: np.random.Generator) -> GridState:
    """Return a Crafting world of 3 to 5 by 3 to 6 cells with everything in it."""
    symbols = " TdSCIDBF"
    shares = np.array([28, 25, 3, 20, 8, 8, 3, 2, 1])
    height, width = rng.integers(3, 6), rng.integers(3, 7)
    cells = rng.choice(list(symbols), size=(height, width), p=shares / shares.sum())
    cells[rng.integers(height), rng.integers(width)] = rng.choice(list(AGENT))
    return crafting_world(*("".join(row) for row in cells))


def inventory_of(state: GridState, game: Game = CRAFTING) -> dict[str, int]:
    """Return what is held, by name."""
    counts = state["inventory"][0]
    return {item: int(counts[i]) for i, item in enumerate(game.items) if counts[i]}


def front_tile(state: GridState, game: Game = CRAFTING) -> str:
    """Return the name of the tile in front of the agent."""
    lane = state[0]
    row_step, col_step = ((-1, 0), (0, 1), (1, 0), (0, -1))[lane.direction]
    return game.tiles[lane.grid[lane.position[0] + row_step, lane.position[1] + col_step]]


def milestone_mask(names: tuple[str, ...], game: Game) -> np.ndarray:
    """Return for each row of the game's table whether it is one of these milestones."""
    num_rows = len(game.milestones) + (game is CRAFTING)  # dirt
    mask = np.zeros(num_rows, dtype=np.bool_)
    mask[[game.milestones.index(name) for name in names]] = True
    return mask
