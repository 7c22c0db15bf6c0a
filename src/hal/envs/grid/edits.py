"""Changes to a state, as a person makes them in the studio; what the rules rely on stays."""

from typing import NamedTuple

import numpy as np

from hal.checks import check_choice, check_whole_number
from hal.envs.grid.rules import FLOOR, ITEM_OF_TILE, ITEM_TILE, NOTHING, TREASURE, WALL, Game
from hal.envs.grid.state import Lane
from hal.envs.grid.treasure import IS_WALKABLE

KINDS = ("tile", "item", "agent", "door")
OPEN = "open_"


class Edit(NamedTuple):
    """One change: a tile at a cell, a count of an item, the agent's place, or a door's state."""

    kind: str
    row: int = 0
    col: int = 0
    code: int = 0  # of the tile or the item
    amount: int = 0  # of the item; or the agent's direction


def apply(edit: Edit, game: Game, lane: Lane) -> None:
    """Change a lane, or refuse what cannot be."""
    check_choice("edit", edit.kind, KINDS)
    if edit.kind == "item":
        _hold(edit, game, lane)
        return
    # The wall around the world stays: the kernels rely on it.
    check_whole_number("row", edit.row, 1, game.size - 2)
    check_whole_number("column", edit.col, 1, game.size - 2)
    if edit.kind == "agent":
        _place_agent(edit, game, lane)
        return
    code = edit.code
    if edit.kind == "door":
        code = other_door(game, int(lane.grid[edit.row, edit.col]))
    check_whole_number("tile", code, 0, len(game.tiles) - 1)
    if tuple(lane.position) == (edit.row, edit.col) and not is_free(game, code):
        raise ValueError(f"the agent stands there; legal: {game.tiles[FLOOR]}")
    if game is TREASURE:
        _take_away(code, lane)
    lane.grid[edit.row, edit.col] = code
    if game is TREASURE and ITEM_OF_TILE[code] != NOTHING:  # it comes back to there
        lane.home[ITEM_OF_TILE[code]] = edit.row, edit.col


def _hold(edit: Edit, game: Game, lane: Lane) -> None:
    """Change what is held; in Treasure by the one hand, which puts back what it held before."""
    check_whole_number("item", edit.code, 0, len(game.items) - 1)
    check_whole_number(game.items[edit.code], edit.amount, 0, game.most_items)
    if game is TREASURE and edit.amount:
        for item in np.flatnonzero(lane.inventory[: len(game.items)]):
            lane.inventory[item] = 0
            lane.grid[tuple(lane.home[item])] = ITEM_TILE[item]
        _take_away(int(ITEM_TILE[edit.code]), lane)
    lane.inventory[edit.code] = edit.amount


def _take_away(tile: int, lane: Lane) -> None:
    """Leave floor where a thing of Treasure is: each is there once, as the rules rely on."""
    name = TREASURE.tiles[tile]
    if tile in (FLOOR, WALL):
        return
    alike = [name.removeprefix(OPEN), OPEN + name.removeprefix(OPEN)]
    codes = [code for code, other in enumerate(TREASURE.tiles) if other in alike]
    lane.grid[np.isin(lane.grid, codes)] = FLOOR
    if ITEM_OF_TILE[tile] != NOTHING:
        lane.inventory[ITEM_OF_TILE[tile]] = 0


def _place_agent(edit: Edit, game: Game, lane: Lane) -> None:
    check_whole_number("direction", edit.amount, 0, 3)
    tile = int(lane.grid[edit.row, edit.col])
    if not is_free(game, tile):
        raise ValueError(f"there is a {game.tiles[tile]}; legal: a cell to walk on")
    lane.position[:] = edit.row, edit.col
    lane.direction = edit.amount


def is_free(game: Game, tile: int) -> bool:
    """Tell whether the agent can stand on a tile."""
    return bool(IS_WALKABLE[tile]) if game is TREASURE else tile == FLOOR


def other_door(game: Game, tile: int) -> int:
    """Return the open door of a closed one, and the other way round."""
    name = game.tiles[tile]
    other = name.removeprefix(OPEN) if name.startswith(OPEN) else OPEN + name
    if other not in game.tiles:
        raise ValueError(f"there is a {name}; legal: a door")
    return game.tiles.index(other)
