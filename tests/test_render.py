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

from hal.envs.grid.rules import CRAFTING, FLOOR, GAMES, TREASURE, WALL, Game
from hal.envs.grid.vector import GridVectorEnv
from hal.pictures.frame import Frame
from hal.pictures.render import ACCENT, BANNER, BAR, PRUNED_BAR, draw, draw_view
from hal.pictures.text import AGENT_SYMBOLS, CELLS, to_text
from hal.pictures.tiles import agent_image, item_image, tile_image
from hal.pictures.window import Window

TILE = 40
VALUES = np.array([0.1, 0.5, -0.3, 0.2, 0.0, 0.3, 0.9, 0.4, -0.1, 0.25, 0.15, 0.35, 0.05])
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


def milestone_rows(frame: Frame) -> list[slice]:
    flips = [replace(frame, affordances=flipped(frame.affordances, k)) for k in range(13)]
    rows = [np.nonzero(changed_pixels(frame, other).any(axis=1))[0] for other in flips]
    return [slice(row.min(), row.max() + 1) for row in rows]


def bar_lengths(frame: Frame, color: tuple[int, int, int]) -> list[int]:
    left = draw(replace(frame, values=None), TILE).shape[1]
    bars = draw(frame, TILE)[:, left : left + 80]  # further right, there are numbers
    rows = [bars[(rows.start + rows.stop) // 2] for rows in milestone_rows(frame)]
    return [int((row == color).all(axis=-1).sum()) for row in rows]


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


@pytest.mark.parametrize("size", [8, 24, 40])
@each_game
def test_values_make_the_panel_wider_whatever_they_are(game: Game, size: int) -> None:
    plain, num = draw(make_frame(game), size), len(game.milestones)
    odd = [np.nan, np.inf, -np.inf, 1e30, -1e30, -0.001]
    shapes = set()
    for values in (*np.full((6, num), np.array(odd)[:, None]), np.resize(odd, num), np.ones(num)):
        picture = draw(make_frame(game, values=values, subtask=game.milestones[-1]), size)
        shapes.add(picture.shape)
        edge = picture[:, -2:]
        assert (edge == edge[0, 0]).all()
    ((height, width, _),) = shapes
    assert (height, width % 2) == (plain.shape[0], 0)
    assert width > plain.shape[1]


def test_values_are_beside_the_names_and_change_nothing_else() -> None:
    plain, frame = make_frame(), make_frame(values=VALUES)
    rows, picture = milestone_rows(frame), draw(frame, TILE)
    width = draw(plain, TILE).shape[1] - 12  # without its margin
    table = slice(rows[0].start, rows[-1].stop)
    np.testing.assert_array_equal(picture[table, :width], draw(plain, TILE)[table, :width])
    for k, row in enumerate(rows):
        values = np.where(np.arange(13) == k, 0.45, VALUES)  # neither the least nor the best
        if VALUES[k] in (VALUES.min(), VALUES.max()):
            continue
        changed = changed_pixels(frame, replace(frame, values=values))
        assert changed[row, width:].sum() > 5
        changed[row, width:] = False
        assert not changed.any()


def test_bars_go_from_the_least_value_to_the_best() -> None:
    frame = make_frame(values=VALUES)
    best, others = bar_lengths(frame, ACCENT), bar_lengths(frame, BAR)
    assert np.flatnonzero(best).tolist() == [VALUES.argmax()]
    lengths = np.array(best) + others
    full = lengths.max()
    expected = full * (VALUES - VALUES.min()) / np.ptp(VALUES)
    assert full > 50
    assert lengths.min() == 1  # the least can be seen, too
    np.testing.assert_allclose(lengths, expected, atol=1)
    for values in (5 * VALUES - 3, VALUES.astype(np.float32)):  # of any range
        same = bar_lengths(replace(frame, values=values), BAR)
        np.testing.assert_allclose(same, others, atol=1)


def test_pruned_bars_are_dim_and_never_the_best() -> None:
    predicted = np.arange(13) < 6  # without the greatest value
    frame = make_frame(values=VALUES, predicted=predicted)
    assert np.flatnonzero(bar_lengths(frame, ACCENT)).tolist() == [VALUES[:6].argmax()]
    assert np.flatnonzero(bar_lengths(frame, PRUNED_BAR)).tolist() == [*range(6, 13)]
    pruned = replace(frame, predicted=np.zeros(13, dtype=bool))
    assert np.count_nonzero(bar_lengths(pruned, PRUNED_BAR)) == 13
    assert not any(bar_lengths(pruned, ACCENT))


def test_values_that_are_no_numbers_have_no_bars() -> None:
    values = VALUES.copy()
    values[[1, 6, 8]] = np.nan, np.inf, -np.inf
    frame = make_frame(values=values)
    lengths = np.array(bar_lengths(frame, ACCENT)) + bar_lengths(frame, BAR)
    assert np.flatnonzero(lengths == 0).tolist() == [1, 6, 8]
    assert np.flatnonzero(bar_lengths(frame, ACCENT)).tolist() == [7]
    equal = make_frame(values=np.full(13, -2.5))
    assert len({*bar_lengths(equal, BAR)[1:], *bar_lengths(equal, ACCENT)[:1]}) == 1


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


def test_text_shows_values_in_one_column() -> None:
    values = np.array([0.125, -0.3, -0.001, 12.5, -9.996, np.nan, np.inf, -np.inf, *VALUES[:5]])
    text = to_text(make_frame(values=values, subtask="wood"), color=False)
    header, *lines = [line[24:] for line in text.splitlines()[3:17]]
    assert header.endswith("milestones: true, value")
    numbers = ["0.12", "-0.30", "0.00", "9.99", "-9.99", "nan", "inf", "-inf"]
    for line, number, name in zip(lines, numbers, CRAFTING.milestones, strict=False):
        assert line.endswith(f"{number:>5} {name.replace('_', ' ')}")
    assert lines[1].endswith("* x -0.30 wood")
    text = to_text(make_frame(values=VALUES, predicted=VALUES > 0), color=False)
    assert "milestones: true, predicted, value" in text
    assert "o x -0.30 stick" in text


def test_color_adds_only_escape_codes() -> None:
    frame = make_frame(predicted=np.ones(13, dtype=bool), subtask="log", collected="log")
    frame = replace(frame, values=VALUES)
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
    code = "import sys, hal.pictures.render, hal.pictures.window; sys.exit('pygame' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
