"""One moment of a game as a picture, or as text for a terminal.

Takes names from `rules.py` and pictures of tiles from `tiles.py`; `window.py` shows the result.
Rendering reads a `Frame` and changes nothing: no state, no random numbers.
"""

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from math import ceil

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from hal.envs.rules import Game
from hal.envs.tiles import Color, Pen, agent_image, item_image, paint, tile_image

PANEL, DIVIDER, HIGHLIGHT = (28, 30, 38), (58, 62, 76), (54, 62, 92)
BRIGHT, DIM, ACCENT = (236, 238, 244), (152, 158, 174), (255, 176, 66)
RED, GREEN = (232, 82, 78), (84, 206, 112)
BANNER, BANNER_TEXT = (250, 200, 82), (46, 34, 8)

SMALLEST_ROW = 14  # pixels; text in lower rows cannot be read


@dataclass(frozen=True)
class Frame:
    """One moment of one lane, with what an agent thinks of it if it says so."""

    game: Game
    grid: np.ndarray  # (height, width) tile codes
    position: tuple[int, int]  # row, column
    direction: int  # 0 up, 1 right, 2 down, 3 left
    inventory: np.ndarray  # (items,)
    milestones: tuple[str, ...]  # the chosen milestone set, K names
    affordances: np.ndarray  # (K,) bool, ground truth
    step: int
    max_steps: int
    action: str | None = None  # last action
    collected: str | None = None  # the milestone collected on this step: the alert
    subtask: str | None = None  # the agent's current subtask
    predicted: np.ndarray | None = None  # (K,) bool, the agent's own affordances

    def marks(self) -> Iterator[tuple[str, bool, bool | None]]:
        """Yield each milestone with its affordance: the true one and the predicted one."""
        for k, milestone in enumerate(self.milestones):
            predicted = None if self.predicted is None else bool(self.predicted[k])
            yield milestone, bool(self.affordances[k]), predicted


def _spaced(name: str | None) -> str:
    return "-" if name is None else name.replace("_", " ")


# --- The grid -------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _atlas(tiles: tuple[str, ...], tile_size: int) -> np.ndarray:
    return np.stack([tile_image(tile, tile_size) for tile in tiles])  # (tiles, size, size, 3)


def _draw_cells(
    game: Game, codes: np.ndarray, position: tuple[int, int], direction: int, tile_size: int
) -> np.ndarray:
    """Return the cells with the agent on one of them, uint8 (rows * size, columns * size, 3)."""
    cells: np.ndarray = _atlas(game.tiles, tile_size)[codes]  # (rows, columns, size, size, 3)
    agent = agent_image(direction, tile_size).astype(np.int32)
    opacity = agent[..., 3:]
    cells[position] = (agent[..., :3] * opacity + cells[position] * (255 - opacity)) // 255
    rows, columns = codes.shape
    return cells.swapaxes(1, 2).reshape(rows * tile_size, columns * tile_size, 3)


def draw_view(game: Game, image: np.ndarray, tile_size: int = 8) -> np.ndarray:
    """Draw an egocentric view of tile codes (V, V), the agent in the middle facing up."""
    middle = image.shape[0] // 2
    return _draw_cells(game, image, (middle, middle), 0, tile_size)


# --- The panel ------------------------------------------------------------------------------


class Layout:
    """Where things are in the panel, in pixels: the longest names and largest counts fit."""

    def __init__(self, game: Game, milestones: tuple[str, ...], tile_size: int) -> None:
        self.row = max(SMALLEST_ROW, round(tile_size * 0.58))
        self.margin = round(self.row * 0.6)
        self.item_name = self.margin + round(self.row * 1.15)
        item_width = max(self.width_of(item) for item in game.items)
        count_width = self.width_of(str(game.most_items))
        self.count = self.item_name + item_width + self.row // 2 + count_width  # its right end
        self.arrow = self.count + round(self.row * 0.9)
        self.dot = self.arrow + round(self.row * 0.9)
        self.milestone_name = self.dot + self.row
        name_width = max(self.width_of(name) for name in ("milestones", *milestones))
        self.width = self.milestone_name + name_width + self.margin
        # Rows are given by their middle.
        self.title = self.margin + self.row // 2
        self.header = self.title + round(self.row * 1.1)
        self.first_row = self.header + self.row
        self.footer = self.first_row + self.row * max(len(game.items), len(milestones))
        self.banner = self.footer + round(self.row * 2.8)
        self.height = self.banner + round(self.row * 0.7) + self.margin

    def width_of(self, name: str) -> int:
        """Return how wide a name is."""
        return _text(_spaced(name), self.row).width


_layout = lru_cache(maxsize=64)(Layout)


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


@lru_cache(maxsize=1024)
def _text(text: str, row: int, size: float = 0.74) -> Image.Image:
    """Return a line of text as a mask, a row high."""
    font = _font(round(row * size))
    mask = Image.new("L", (ceil(font.getlength(text)), row))
    ImageDraw.Draw(mask).text((0, row / 2), text, 255, font, "lm")
    return mask


def _write(panel: Image.Image, x: int, y: int, mask: Image.Image, color: Color) -> None:
    panel.paste(color, (x, y - mask.height // 2), mask)


@lru_cache(maxsize=64)
def _dot(size: int, is_afforded: bool, is_predicted: bool | None) -> Image.Image:
    """Return a disc of the affordance's color; with a prediction, a ring around its disc."""

    def discs(pen: Pen) -> None:
        pen.disc(0.5, 0.5, 0.48, GREEN if is_afforded else RED)
        if is_predicted is not None:
            pen.disc(0.5, 0.5, 0.35, PANEL)
            pen.disc(0.5, 0.5, 0.24, GREEN if is_predicted else RED)

    return Image.fromarray(paint(size, discs))


@lru_cache(maxsize=64)
def _empty_panel(game: Game, at: Layout, size: tuple[int, int]) -> Image.Image:
    """Return the parts of the panel that are the same in every frame."""
    panel, icon = Image.new("RGB", size, PANEL), round(at.row * 0.86)
    _write(panel, at.margin, at.title, _text(game.name, at.row), BRIGHT)
    _write(panel, at.margin, at.header, _text("items", at.row), DIM)
    _write(panel, at.dot, at.header, _text("milestones", at.row), DIM)
    for y in ((at.title + at.header) // 2, at.footer - at.row // 4):
        panel.paste(DIVIDER, (at.margin, y, size[0] - at.margin, y + 1))
    for index, item in enumerate(game.items):
        y = at.first_row + index * at.row
        panel.paste(Image.fromarray(item_image(item, icon)), (at.margin, y - icon // 2))
    return panel


def _write_items(panel: Image.Image, at: Layout, frame: Frame) -> None:
    for index, item in enumerate(frame.game.items):
        y, count = at.first_row + index * at.row, int(frame.inventory[index])
        color, number = BRIGHT if count else DIM, _text(str(count), at.row)
        _write(panel, at.item_name, y, _text(_spaced(item), at.row), color)
        _write(panel, at.count - number.width, y, number, color)


def _write_milestones(panel: Image.Image, at: Layout, frame: Frame) -> None:
    size = round(at.row * 0.74)
    for index, (milestone, is_afforded, is_predicted) in enumerate(frame.marks()):
        y = at.first_row + index * at.row
        if milestone == frame.subtask:
            pen, half, tip = ImageDraw.Draw(panel), at.row // 2, at.row // 4
            box = (at.arrow - tip, y - half, panel.width - at.margin // 2, y + half)
            pen.rounded_rectangle(box, tip, HIGHLIGHT)
            arrow = ((at.arrow, y - tip), (at.arrow, y + tip), (at.arrow + 2 * tip, y))
            pen.polygon(arrow, ACCENT)
        dot = _dot(size, is_afforded, is_predicted)
        panel.paste(dot, (at.dot, y - size // 2), dot)
        name = _text(_spaced(milestone), at.row)
        _write(panel, at.milestone_name, y, name, BRIGHT if is_afforded else DIM)


def _write_status(panel: Image.Image, at: Layout, frame: Frame) -> None:
    right = panel.width - at.margin
    step = _text(f"step {frame.step} / {frame.max_steps}", at.row)
    _write(panel, right - step.width, at.title, step, BRIGHT)
    lines = (
        ("action", frame.action, BRIGHT, "ring true"),
        ("subtask", frame.subtask, ACCENT, "disc predicted"),
    )
    for index, (label, value, color, legend) in enumerate(lines):
        y = at.footer + at.row // 2 + index * at.row
        _write(panel, at.margin, y, _text(label, at.row), DIM)
        _write(panel, at.margin + at.row * 3, y, _text(_spaced(value), at.row), color)
        if frame.predicted is not None:
            small = _text(legend, at.row, 0.62)
            _write(panel, right - small.width, y, small, DIM)
    if frame.collected is not None:
        half = round(at.row * 0.65)
        box = (at.margin, at.banner - half, right, at.banner + half)
        ImageDraw.Draw(panel).rounded_rectangle(box, at.row // 4, BANNER)
        alert = _text(f"milestone: {_spaced(frame.collected)}", at.row)
        _write(panel, (panel.width - alert.width) // 2, at.banner, alert, BANNER_TEXT)


def draw(frame: Frame, tile_size: int = 40) -> np.ndarray:
    """Draw the grid and, beside it, the panel: uint8 (height, width, 3), both even numbers."""
    cells = _draw_cells(frame.game, frame.grid, frame.position, frame.direction, tile_size)
    rows, columns, _ = cells.shape
    at = _layout(frame.game, frame.milestones, tile_size)
    height, width = max(rows, at.height), columns + at.width
    picture = np.empty((height + height % 2, width + width % 2, 3), dtype=np.uint8)
    picture[:rows, :columns] = cells
    picture[rows:, :columns] = PANEL
    beside = picture[:, columns:]
    panel = _empty_panel(frame.game, at, (beside.shape[1], beside.shape[0])).copy()
    _write_items(panel, at, frame)
    _write_milestones(panel, at, frame)
    _write_status(panel, at, frame)
    beside[:] = np.asarray(panel)
    return picture


# --- Text -----------------------------------------------------------------------------------

AGENT_SYMBOLS = ("^", ">", "v", "<")
# Each tile's name, its characters in a cell two wide, and its color of the terminal's 256.
_CELLS = (
    "floor:.:240 wall:##:244 tree:T:71 dirt:d:137 stone:s:250 coal:c:103 iron_ore:i:209 "
    "diamond:D:51 crafting_bench:B:179 furnace:F:202 green_weight:gw:77 scale:sc:250 "
    "chest:ch:141 red_key:rk:203 yellow_key:yk:220 blue_key:bk:75 purple_key:pk:141 "
    "red_door:R+:203 yellow_door:Y+:220 green_door:G+:77 blue_door:B+:75 "
    "open_red_door:R':203 open_yellow_door:Y':220 open_green_door:G':77 open_blue_door:B':75"
)
CELLS = {name: (symbol, code) for name, symbol, code in (c.split(":") for c in _CELLS.split())}
MARKS = {True: ("o", "77"), False: ("x", "203")}
AGENT_CODE, SUBTASK_CODE, ALERT_CODE = "231", "215", "220"

Painter = Callable[[str, str], str]  # text, color code


def _grid_lines(frame: Frame, paint_text: Painter) -> Iterator[str]:
    for row, codes in enumerate(frame.grid):
        cells = [CELLS[frame.game.tiles[code]] for code in codes]
        if row == frame.position[0]:
            cells[frame.position[1]] = (AGENT_SYMBOLS[frame.direction], AGENT_CODE)
        yield "".join(paint_text(symbol.ljust(2), code) for symbol, code in cells)


def _item_lines(frame: Frame) -> Iterator[str]:
    yield "items"
    for item, count in zip(frame.game.items, frame.inventory, strict=True):
        if count:
            yield f"{count:3d} {_spaced(item)}"


def _milestone_lines(frame: Frame, paint_text: Painter) -> Iterator[str]:
    yield "milestones" if frame.predicted is None else "milestones: true, predicted"
    for milestone, is_afforded, is_predicted in frame.marks():
        pointer = paint_text("*", SUBTASK_CODE) if milestone == frame.subtask else " "
        prediction = "" if is_predicted is None else paint_text(*MARKS[is_predicted]) + " "
        yield f"{pointer} {paint_text(*MARKS[is_afforded])} {prediction}{_spaced(milestone)}"


def to_text(frame: Frame, color: bool = True) -> str:
    """Write the grid and, beside it, the panel, with escape codes only if `color`."""

    def paint_text(text: str, code: str) -> str:
        return f"\x1b[38;5;{code}m{text}\x1b[0m" if color and text else text

    game = frame.game
    lines = [
        f"{game.name}  step {frame.step} / {frame.max_steps}",
        f"action: {_spaced(frame.action)}  subtask: {_spaced(frame.subtask)}",
        paint_text(f"milestone: {_spaced(frame.collected)}" if frame.collected else "", ALERT_CODE),
    ]
    columns = (
        [*_grid_lines(frame, paint_text)],
        [*_item_lines(frame)],
        [*_milestone_lines(frame, paint_text)],
    )
    blank, width = "  " * frame.grid.shape[1], 6 + max(len(item) for item in game.items)
    for cells, item, milestone in zip_longest(*columns, fillvalue=""):
        lines.append(f"{cells or blank}  {item:{width}}{milestone}".rstrip())
    legend = " ".join(f"{CELLS[tile][0]}={tile}" for tile in game.tiles)
    return "\n".join([*lines, *textwrap.wrap(legend, 78, break_on_hyphens=False)])
