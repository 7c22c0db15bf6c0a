"""Pictures, text and the window: each thing looks like itself, and nothing else moves."""

import itertools
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pygame
import pytest
from PIL import Image

from hal.envs.render import AGENT_SYMBOLS, BANNER, CELLS, Frame, draw, draw_view, to_text
from hal.envs.rules import CRAFTING, FLOOR, GAMES, TREASURE, WALL, Game
from hal.envs.tiles import agent_image, item_image, tile_image
from hal.envs.window import Window

TILE = 40
TILES = sorted({*CRAFTING.tiles, *TREASURE.tiles})
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


def flipped(bits: np.ndarray, index: int) -> np.ndarray:
    return np.where(np.arange(len(bits)) == index, ~bits, bits)


def one_of(item: int) -> np.ndarray:
    return np.asarray(np.arange(len(CRAFTING.items)) == item, dtype=int)


def redness(pixels: np.ndarray) -> np.ndarray:
    # 1 for red, -1 for green, 0 for anything else
    return np.asarray((pixels[..., 0].astype(int) - pixels[..., 1]) / 90).astype(int).clip(-1, 1)


def changed_pixels(one: Frame, other: Frame) -> np.ndarray:
    return np.asarray((draw(one, TILE) != draw(other, TILE)).any(axis=-1))


def cell(row: int, column: int, size: int = TILE) -> tuple[slice, slice]:
    return slice(row * size, (row + 1) * size), slice(column * size, (column + 1) * size)


@pytest.mark.parametrize("size", [16, 40])
@each_game
def test_no_two_tiles_and_no_two_items_look_alike(game: Game, size: int) -> None:
    for names, image in ((game.tiles, tile_image), (game.items, item_image)):
        for one, other in itertools.combinations(names, 2):
            difference = image(one, size).astype(int) - image(other, size)
            assert np.abs(difference).mean() > 8, (one, other)


def test_only_the_floor_is_blank() -> None:
    for name in TILES:
        contrast = tile_image(name, 40)[4:-4, 4:-4].std(axis=(0, 1)).max()
        assert (contrast < 4) == (name == "floor"), name


@pytest.mark.parametrize("name", TILES)
def test_a_picture_is_the_same_at_every_size(name: str) -> None:
    large = Image.fromarray(tile_image(name, 128))
    first = 8 + TILES.index(name) % 4  # every size, but not every tile at every size
    for size in range(first, 129, 4):
        picture = tile_image(name, size)
        shrunk = np.asarray(large.resize((size, size), Image.Resampling.LANCZOS))
        assert picture.dtype == np.uint8
        assert np.abs(shrunk.astype(int) - picture).mean() < 14, size


@pytest.mark.parametrize("size", [8, 16, 40, 128])
def test_the_agents_beak_is_where_it_faces(size: int) -> None:
    for direction, (down, right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
        picture = agent_image(direction, size)
        is_beak = (picture[..., 3] > 128) & (picture[..., 0] > picture[..., 2].astype(int) + 100)
        rows, columns = np.nonzero(is_beak)
        offset = np.array([rows.mean(), columns.mean()]) / size - 0.5
        assert np.abs(offset - [0.3 * down, 0.3 * right]).max() < 0.12, direction


def test_cached_pictures_cannot_be_spoiled() -> None:
    for picture in (tile_image("tree", 16), item_image("log", 16), agent_image(0, 16)):
        with pytest.raises(ValueError, match="read-only"):
            picture[0, 0, 0] = 1


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


@pytest.mark.parametrize(
    "change",
    [
        *({"inventory": one_of(item)} for item in range(12)),
        *({"affordances": flipped(make_frame().affordances, k)} for k in range(13)),
        *({"predicted": flipped(make_frame().affordances, k)} for k in range(13)),
        *({"subtask": milestone} for milestone in CRAFTING.milestones),
        {"collected": "iron"},
        {"action": "mine"},
        {"step": 8},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_panel_shows_it_and_the_grid_does_not(change: dict[str, Any]) -> None:
    frame = make_frame(predicted=make_frame().affordances)
    changed = changed_pixels(frame, replace(frame, **change))
    grid_width = frame.grid.shape[1] * TILE
    assert changed[:, grid_width:].sum() > 5
    assert not changed[:, :grid_width].any()


def test_each_item_and_each_milestone_has_its_own_row() -> None:
    frame = make_frame()
    held = [replace(frame, inventory=one_of(item)) for item in range(12)]
    afforded = [replace(frame, affordances=flipped(frame.affordances, k)) for k in range(13)]
    for others in (held, afforded):
        rows = [np.nonzero(changed_pixels(frame, other).any(axis=1))[0] for other in others]
        for above, below in itertools.pairwise(rows):
            assert above.max() < below.min()
    for milestone, row in zip(frame.milestones, rows, strict=True):
        changed = changed_pixels(frame, replace(frame, subtask=milestone))
        assert changed[row].any(axis=1).all()
        assert changed[rows[0][0] : rows[-1][-1]].any(axis=1).sum() < 30  # no other row is marked


def test_the_alert_is_there_only_when_a_milestone_was_collected() -> None:
    for collected, is_alert in ((None, False), ("iron", True)):
        is_banner = (draw(make_frame(collected=collected)) == BANNER).all(axis=-1)
        assert (is_banner.sum() > 2000) == is_alert


@pytest.mark.parametrize("size", [24, 40, 64])
@pytest.mark.parametrize("truth", [False, True])
@pytest.mark.parametrize("prediction", [None, False, True])
def test_ring_is_true_disc_predicted(size: int, truth: bool, prediction: bool | None) -> None:
    predicted = None if prediction is None else np.array([prediction])
    frame = make_frame(milestones=("log",), affordances=np.array([truth]), predicted=predicted)
    panel = draw(frame, size)[:, CRAFTING.size * size :]
    panel = panel[:, panel.shape[1] // 2 :]  # the icons further left have reds and greens, too
    rows, columns = np.nonzero(redness(panel))
    middle = (rows.min() + rows.max()) // 2, (columns.min() + columns.max()) // 2
    ring = (panel[rows.min(), middle[1]], panel[middle[0], columns.max()])
    assert [redness(pixel) for pixel in ring] == [-1 if truth else 1] * 2
    disc = truth if prediction is None else prediction
    assert redness(panel[middle]) == (-1 if disc else 1)


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


@each_game
def test_every_tile_has_its_own_characters_in_its_cell(game: Game) -> None:
    symbols = [CELLS[tile][0] for tile in game.tiles]
    assert len({*symbols, *AGENT_SYMBOLS}) == len(game.tiles) + 4
    for direction in range(4):
        frame = make_frame(game, direction=direction)
        lines = to_text(frame, color=False).splitlines()
        top = next(number for number, line in enumerate(lines) if line.startswith("##"))
        for (row, column), code in np.ndenumerate(frame.grid):
            is_agent = (row, column) == frame.position
            expected = "^>v<"[direction] if is_agent else symbols[code]
            assert lines[top + row][2 * column : 2 * column + 2] == expected.ljust(2)


def test_text_without_color_says_everything() -> None:
    frame = make_frame(inventory=17 * one_of(2), predicted=np.arange(13) % 3 == 0)
    frame = replace(frame, action="craft_wood", subtask="iron_ore", collected="wood")
    text = to_text(frame, color=False)
    for words in ("step 7 / 4320", "action: craft wood", "subtask: iron ore", "milestone: wood"):
        assert words in text
    panel = [re.split(r" {2,}", line[24:].strip()) for line in text.splitlines()[3:17]]
    assert panel[0] == ["items", "milestones: true, predicted"]
    assert panel[1] == ["17 wood", "o o log"]
    marks = [row[0] for row in panel[2:]]
    assert marks[:3] == ["x x wood", "o x stick", "x o crafting bench"]
    assert [mark for mark in marks if "*" in mark] == ["* o x iron ore"]
    assert "predicted" not in to_text(make_frame())


def test_color_adds_only_escape_codes() -> None:
    frame = make_frame(predicted=np.ones(13, dtype=bool), subtask="log", collected="log")
    colored, plain = to_text(frame), to_text(frame, color=False)
    assert "\x1b" not in plain
    assert {"\x1b[38;5;77mo", "\x1b[38;5;203mx"} <= set(re.findall(r"\x1b[^m]*m[ox]", colored))
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    window = Window()
    yield window
    window.close()


def test_the_window_shows_each_picture_even_after_closing(window: Window) -> None:
    for size in (16, 24, 24):
        picture = draw(make_frame(), size)
        window.show(picture)
        surface = pygame.display.get_surface()
        assert surface is not None
        np.testing.assert_array_equal(pygame.surfarray.array3d(surface).swapaxes(0, 1), picture)
        if size == 24:
            window.close()
            assert not window.is_closed()  # by the user


def test_the_window_returns_keys_in_order_and_then_quit(window: Window) -> None:
    picture = np.zeros((20, 30, 3), dtype=np.uint8)
    window.show(picture)
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_LEFT))
    pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION))
    window.show(picture)  # does not lose the key
    pygame.event.post(pygame.event.Event(pygame.KEYUP, key=pygame.K_LEFT))
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_m))
    assert not window.is_closed()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert window.is_closed()
    assert list(iter(window.key, "quit")) == ["left", "m"]


def test_the_window_keeps_the_rate(window: Window) -> None:
    start = time.perf_counter()
    for _ in range(6):
        window.show(np.zeros((20, 30, 3), dtype=np.uint8), fps=50)
    assert time.perf_counter() - start > 0.08


def test_pygame_is_not_loaded_before_a_window_is_made() -> None:
    code = "import sys, hal.envs.render, hal.envs.window; sys.exit('pygame' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
