"""Changes to a state of this package's games, as a person makes them on the page."""

from typing import NamedTuple

from hal.checks import check_choice, check_whole_number
from hal.envs.grid.rules import FLOOR, TREASURE, WALL, Game
from hal.envs.grid.state import Lane
from hal.envs.grid.treasure import IS_WALKABLE

KINDS = ("tile", "item", "agent", "door")


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
        check_whole_number("item", edit.code, 0, len(game.items) - 1)
        check_whole_number(game.items[edit.code], edit.amount, 0, game.most_items)
        if game is TREASURE:  # there is one hand
            lane.inventory[:] = 0
        lane.inventory[edit.code] = edit.amount
        return
    # The wall around the world stays: the kernels rely on it.
    check_whole_number("row", edit.row, 1, game.size - 2)
    check_whole_number("column", edit.col, 1, game.size - 2)
    if edit.kind == "agent":
        _place_agent(edit, game, lane)
    elif edit.kind == "door":
        lane.grid[edit.row, edit.col] = other_door(game, int(lane.grid[edit.row, edit.col]))
    else:
        check_whole_number("tile", edit.code, 0, len(game.tiles) - 1)
        if tuple(lane.position) == (edit.row, edit.col) and not is_free(game, edit.code):
            raise ValueError(f"the agent stands there; legal: {game.tiles[FLOOR]}")
        lane.grid[edit.row, edit.col] = edit.code


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
    other = name.removeprefix("open_") if name.startswith("open_") else f"open_{name}"
    if tile == WALL or other not in game.tiles:
        raise ValueError(f"there is a {name}; legal: a door")
    return game.tiles.index(other)
