"""One moment of an episode as a picture: the environment and, beside it, the panel.

Takes a moment of `frame.py` and pictures of tiles from `tiles.py`; `window.py` shows the result,
`film.py` writes many of them into a file, and `text.py` is the same for a terminal.
Rendering changes nothing: no state, no random numbers.
"""

from functools import lru_cache
from math import ceil, isnan

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from hal.pictures.frame import Frame, Game, Mark, Moment, Shown, spaced
from hal.pictures.pen import Color, Pen
from hal.pictures.tiles import agent_image, item_image, paint, tile_image

PANEL, DIVIDER, HIGHLIGHT = (28, 30, 38), (58, 62, 76), (54, 62, 92)
BRIGHT, DIM, ACCENT = (236, 238, 244), (152, 158, 174), (255, 176, 66)
RED, GREEN = (232, 82, 78), (84, 206, 112)
BANNER, BANNER_TEXT = (250, 200, 82), (46, 34, 8)
TRACK, BAR, PRUNED_BAR = (44, 47, 58), (126, 150, 214), (84, 90, 108)

SMALLEST_ROW = 14  # pixels; text in lower rows cannot be read
TILES_HIGH = 12  # pictures of other environments are about as high as this package's worlds
MOST_STEPS = "step 00000 / 00000"


# --- The environment ------------------------------------------------------------------------


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


def _fitted(picture: np.ndarray, height: int) -> np.ndarray:
    """Return a picture no higher, nor twice as wide: enlarged by a whole number, or shrunk."""
    rows, columns, _ = picture.shape
    scale = min(height / rows, 2 * height / columns)
    if scale >= 1:
        return picture.repeat(int(scale), axis=0).repeat(int(scale), axis=1)
    size = ceil(columns * scale), ceil(rows * scale)
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))


def _draw_seen(moment: Shown, tile_size: int) -> np.ndarray:
    """Return what there is to see of the environment, of no size if it shows nothing."""
    if isinstance(moment, Frame):
        return _draw_cells(moment.game, moment.grid, moment.position, moment.direction, tile_size)
    picture = moment.picture
    if picture is None:
        return np.empty((0, 0, 3), dtype=np.uint8)
    return _fitted(picture, TILES_HIGH * tile_size)


# --- The panel ------------------------------------------------------------------------------


class Layout:
    """Where things are in the panel, in pixels: the longest names and largest counts fit.

    Without a game there are no items, and the milestones begin where those would.
    """

    def __init__(
        self,
        title: str,
        game: Game | None,
        milestones: tuple[str, ...],
        tile_size: int,
        has_values: bool,
    ) -> None:
        self.has_values = has_values
        self.row = max(SMALLEST_ROW, round(tile_size * 0.58))
        self.margin = round(self.row * 0.6)
        self.label_width = self.row * 3
        self.arrow = self.margin + self.row // 4 if game is None else self._place_items(game)
        self.dot = self.arrow + round(self.row * 0.9)
        self.milestone_name = self.dot + self.row
        name_width = max(self.width_of(name) for name in ("milestones", *milestones))
        self.bar = self.milestone_name + name_width + self.row
        self.bar_end = self.bar + self.row * 3
        number_width = max(self.width_of(f"-{digit}.{digit}{digit}") for digit in range(10))
        self.number = self.bar_end + self.row // 2 + number_width  # its right end
        right = self.number if has_values else self.milestone_name + name_width
        self.width = max(right, self.margin + self._widest_line(title, name_width)) + self.margin
        # Rows are given by their middle.
        self.title = self.margin + self.row // 2
        self.header = self.title + round(self.row * 1.1)
        self.first_row = self.header + self.row
        num_rows = max(len(milestones), 0 if game is None else len(game.items))
        self.footer = self.first_row + self.row * num_rows
        self.banner = self.footer + round(self.row * 2.8)
        self.height = self.banner + round(self.row * 0.7) + self.margin

    def _place_items(self, game: Game) -> int:
        """Place the column of the items; return where the next one begins."""
        self.item_name = self.margin + round(self.row * 1.15)
        item_width = max(self.width_of(item) for item in game.items)
        count_width = self.width_of(str(game.most_items))
        self.count = self.item_name + item_width + self.row // 2 + count_width  # its right end
        return self.count + round(self.row * 0.9)

    def _widest_line(self, title: str, name_width: int) -> int:
        """Return the room that the lines above and below the table take."""
        return self.row + max(
            self.width_of(title) + self.width_of(MOST_STEPS),
            self.label_width + name_width + self.width_of("disc predicted"),
            self.width_of("milestone: ") + name_width,
        )

    def width_of(self, name: str) -> int:
        """Return how wide a name is."""
        return _text(spaced(name), self.row).width


@lru_cache(maxsize=64)
def _layout(
    title: str, game: Game | None, milestones: tuple[str, ...], tile_size: int, has_values: bool
) -> Layout:
    return Layout(title, game, milestones, tile_size, has_values)


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
def _dot(size: int, is_afforded: bool | None, is_predicted: bool | None) -> Image.Image:
    """Return a disc of the affordance's color, or of the prediction's; of both, a ring and it."""

    def discs(pen: Pen) -> None:
        if is_afforded is not None:
            pen.disc(0.5, 0.5, 0.48, GREEN if is_afforded else RED)
        if is_afforded is not None and is_predicted is not None:
            pen.disc(0.5, 0.5, 0.35, PANEL)
        if is_predicted is not None:
            pen.disc(0.5, 0.5, 0.24, GREEN if is_predicted else RED)

    return Image.fromarray(paint(size, discs))


@lru_cache(maxsize=64)
def _empty_panel(title: str, game: Game | None, at: Layout, size: tuple[int, int]) -> Image.Image:
    """Return the parts of the panel that are the same in every moment."""
    panel, icon = Image.new("RGB", size, PANEL), round(at.row * 0.86)
    _write(panel, at.margin, at.title, _text(title, at.row), BRIGHT)
    _write(panel, at.dot, at.header, _text("milestones", at.row), DIM)
    if at.has_values:
        _write(panel, at.bar, at.header, _text("value", at.row), DIM)
    for y in ((at.title + at.header) // 2, at.footer - at.row // 4):
        panel.paste(DIVIDER, (at.margin, y, size[0] - at.margin, y + 1))
    if game is None:
        return panel
    _write(panel, at.margin, at.header, _text("items", at.row), DIM)
    for index, item in enumerate(game.items):
        y = at.first_row + index * at.row
        panel.paste(Image.fromarray(item_image(item, icon)), (at.margin, y - icon // 2))
    return panel


def _write_items(panel: Image.Image, at: Layout, frame: Frame) -> None:
    for index, item in enumerate(frame.game.items):
        y, count = at.first_row + index * at.row, int(frame.inventory[index])
        color, number = BRIGHT if count else DIM, _text(str(count), at.row)
        _write(panel, at.item_name, y, _text(spaced(item), at.row), color)
        _write(panel, at.count - number.width, y, number, color)


def _write_milestones(panel: Image.Image, at: Layout, moment: Moment) -> None:
    size = round(at.row * 0.74)
    for index, mark in enumerate(moment.marks()):
        y = at.first_row + index * at.row
        if mark.milestone == moment.subtask:
            pen, half, tip = ImageDraw.Draw(panel), at.row // 2, at.row // 4
            box = (at.arrow - tip, y - half, panel.width - at.margin // 2, y + half)
            pen.rounded_rectangle(box, tip, HIGHLIGHT)
            arrow = ((at.arrow, y - tip), (at.arrow, y + tip), (at.arrow + 2 * tip, y))
            pen.polygon(arrow, ACCENT)
        dot = _dot(size, mark.is_afforded, mark.is_predicted)
        panel.paste(dot, (at.dot, y - size // 2), dot)
        name = _text(spaced(mark.milestone), at.row)
        _write(panel, at.milestone_name, y, name, BRIGHT if mark.is_possible else DIM)
        if mark.value is not None:
            _write_value(panel, at, y, mark)


def _write_value(panel: Image.Image, at: Layout, y: int, mark: Mark) -> None:
    bar, color = (PRUNED_BAR, DIM) if mark.is_pruned else (BAR, BRIGHT)
    if mark.is_best:
        bar, color = ACCENT, ACCENT
    top, bottom = y - at.row // 6, y + at.row // 6
    panel.paste(TRACK, (at.bar, top, at.bar_end, bottom))
    if not isnan(mark.fraction):
        length = max(1, round(mark.fraction * (at.bar_end - at.bar)))  # the least is there, too
        panel.paste(bar, (at.bar, top, at.bar + length, bottom))
    number = _text(mark.number, at.row)
    _write(panel, at.number - number.width, y, number, color)


def _write_status(panel: Image.Image, at: Layout, moment: Moment) -> None:
    right = panel.width - at.margin
    step = _text(moment.progress, at.row)
    _write(panel, right - step.width, at.title, step, BRIGHT)
    lines = (
        ("action", moment.action, BRIGHT, None if moment.affordances is None else "ring true"),
        ("subtask", moment.subtask, ACCENT, "disc predicted"),
    )
    for index, (label, value, color, legend) in enumerate(lines):
        y = at.footer + at.row // 2 + index * at.row
        _write(panel, at.margin, y, _text(label, at.row), DIM)
        _write(panel, at.margin + at.label_width, y, _text(spaced(value), at.row), color)
        if legend is not None and moment.predicted is not None:
            small = _text(legend, at.row, 0.62)
            _write(panel, right - small.width, y, small, DIM)
    if moment.collected is not None:
        half = round(at.row * 0.65)
        box = (at.margin, at.banner - half, right, at.banner + half)
        ImageDraw.Draw(panel).rounded_rectangle(box, at.row // 4, BANNER)
        alert = _text(f"milestone: {spaced(moment.collected)}", at.row)
        _write(panel, (panel.width - alert.width) // 2, at.banner, alert, BANNER_TEXT)


def draw(moment: Shown, tile_size: int = 40) -> np.ndarray:
    """Draw the environment and, beside it, the panel: uint8 (height, width, 3), both even."""
    seen = _draw_seen(moment, tile_size)
    rows, columns, _ = seen.shape
    game = moment.game if isinstance(moment, Frame) else None
    at = _layout(moment.title, game, moment.milestones, tile_size, moment.values is not None)
    height, width = max(rows, at.height), columns + at.width
    picture = np.empty((height + height % 2, width + width % 2, 3), dtype=np.uint8)
    picture[:rows, :columns] = seen
    picture[rows:, :columns] = PANEL
    beside = picture[:, columns:]
    panel = _empty_panel(moment.title, game, at, (beside.shape[1], beside.shape[0])).copy()
    if isinstance(moment, Frame):
        _write_items(panel, at, moment)
    _write_milestones(panel, at, moment)
    _write_status(panel, at, moment)
    beside[:] = np.asarray(panel)
    return picture
