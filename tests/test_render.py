"""Pictures of the games: each thing is in its cell, and nothing else moves."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from hal.envs.grid.rules import TREASURE, Game
from hal.envs.grid.vector import GridVectorEnv
from hal.pictures.render import draw, draw_view
from hal.pictures.text import to_text
from hal.pictures.tiles import tile_image
from tests.frames import TILE, VALUES, changed_pixels, each_game, make_frame


def cell(row: int, column: int, size: int = TILE) -> tuple[slice, slice]:
    return slice(row * size, (row + 1) * size), slice(column * size, (column + 1) * size)


@pytest.mark.parametrize("size", [8, 17, 24, 40, 64])
@each_game
def test_frames_have_one_even_size_and_nothing_is_cut_off(game: Game, size: int) -> None:
    longest, predicted = max(game.milestones, key=len), np.ones(len(game.milestones), dtype=bool)
    full = make_frame(game, subtask=longest, collected=longest, predicted=predicted)
    full = replace(full, step=game.max_steps, action=max(game.actions, key=len))
    full = replace(full, inventory=np.full(len(game.items), game.most_items))
    picture = draw(full, size)
    assert picture.shape == draw(make_frame(game), size).shape
    assert [number % 2 for number in picture.shape] == [0, 0, 1]
    panel = picture[:, game.size * size :]
    for edge in (panel[:2], panel[-2:], panel[:, :2], panel[:, -2:]):
        assert (edge == panel[0, 0]).all()


def test_lanes_draw_their_own_moments() -> None:
    lanes = GridVectorEnv("iron", 2, render_mode="rgb_array")
    lanes.reset(seed=0)
    pictures = lanes.render()
    assert pictures is not None
    for lane in range(2):
        np.testing.assert_array_equal(pictures[lane], draw(lanes.frame(lane)))
    frame = replace(lanes.frame(1), values=VALUES[2:])
    assert draw(frame).shape != pictures[1].shape, "values take a column of their own"


def test_turning_changes_only_the_agents_cell() -> None:
    frames = [make_frame(direction=direction) for direction in range(4)]
    for one, other in itertools.combinations(frames, 2):
        changed = changed_pixels(one, other)
        assert changed[cell(5, 4)].sum() > 50
        changed[cell(5, 4)] = False
        assert not changed.any()


@each_game
def test_every_tile_is_drawn_in_its_own_cell(game: Game) -> None:
    frame = make_frame(game)
    picture = draw(frame, TILE)
    for (row, column), code in np.ndenumerate(frame.grid):
        is_tile = (picture[cell(row, column)] == tile_image(game.tiles[code], TILE)).all()
        assert is_tile == ((row, column) != frame.position)


def test_the_view_has_the_agent_in_the_middle_facing_up() -> None:
    codes = np.zeros((11, 11), dtype=np.uint8)
    codes[0, 10] = TREASURE.tiles.index("chest")
    view = draw_view(TREASURE, codes, 16)
    picture = draw(make_frame(TREASURE, grid=codes, position=(5, 5)), 16)
    np.testing.assert_array_equal(view, picture[:176, :176])


def test_rendering_changes_nothing() -> None:
    frame = make_frame(predicted=np.ones(13, dtype=bool), subtask="log", collected="log")
    arrays = [value for value in vars(frame).values() if isinstance(value, np.ndarray)]
    before = [array.copy() for array in arrays]
    first = draw(frame)
    draw(replace(frame, step=8, direction=2, collected=None))
    to_text(frame)
    draw_view(frame.game, frame.grid[:11, :11])
    np.testing.assert_array_equal(draw(frame), first)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)
