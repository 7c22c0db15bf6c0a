"""Made-up moments of the games, and their pictures compared."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hal.envs.grid.rules import CRAFTING, FLOOR, GAMES, WALL, Game
from hal.pictures.frame import Frame
from hal.pictures.render import draw

TILE = 40
VALUES = np.array([0.1, 0.5, -0.3, 0.2, 0.0, 0.3, 0.9, 0.4, -0.1, 0.25, 0.15, 0.35, 0.05])
each_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)


def make_frame(game: Game = CRAFTING, **changes: Any) -> Frame:
    grid = np.full((game.size, game.size), WALL)
    grid[1:-1, 1:-1] = FLOOR
    grid[2, 1:-1] = np.arange(game.size - 2) % len(game.tiles)
    frame = Frame(
        game=game,
        grid=grid,
        position=(5, 4),
        direction=0,
        inventory=np.zeros(len(game.items), dtype=int),
        milestones=game.milestones,
        affordances=np.arange(len(game.milestones)) % 2 == 0,
        step=7,
        max_steps=game.max_steps,
    )
    return replace(frame, **changes)


def one_of(item: int) -> np.ndarray:
    return np.asarray(np.arange(len(CRAFTING.items)) == item, dtype=int)


def redness(pixels: np.ndarray) -> np.ndarray:
    # 1 for red, -1 for green, 0 for anything else
    return np.asarray((pixels[..., 0].astype(int) - pixels[..., 1]) / 90).astype(int).clip(-1, 1)


def changed_pixels(one: Frame, other: Frame) -> np.ndarray:
    return np.asarray((draw(one, TILE) != draw(other, TILE)).any(axis=-1))
