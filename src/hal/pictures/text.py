"""One moment of an episode as text for a terminal; `render.py` makes it a picture."""

import textwrap
from collections.abc import Callable, Iterator
from itertools import zip_longest

import numpy as np
from PIL import Image

from hal.pictures.frame import Frame, Moment, Scene, Shown, spaced

AGENT_SYMBOLS = ("^", ">", "v", "<")
# Each tile's name, its characters in a cell two wide, and its color of the terminal's 256.
_CELLS = (
    "floor:.:240 wall:##:244 tree:T:71 dirt:d:137 stone:s:250 coal:c:103 iron_ore:i:209 "
    "diamond:D:51 crafting_bench:B:179 furnace:F:202 green_weight:gw:77 scale:sc:250 "
    "pressed_scale:sC:77 chest:ch:141 red_key:rk:203 yellow_key:yk:220 blue_key:bk:75 "
    "purple_key:pk:141 "
    "red_door:R+:203 yellow_door:Y+:220 green_door:G+:77 blue_door:B+:75 "
    "open_red_door:R':203 open_yellow_door:Y':220 open_green_door:G':77 open_blue_door:B':75"
)
CELLS = {name: (symbol, code) for name, symbol, code in (c.split(":") for c in _CELLS.split())}
MARKS = {True: ("o", "77"), False: ("x", "203")}
AGENT_CODE, SUBTASK_CODE, ALERT_CODE = "231", "215", "220"
PICTURE_SIZE = 40  # half cells, at most, across and down

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
            yield f"{count:3d} {spaced(item)}"


def _milestone_lines(moment: Moment, paint_text: Painter) -> Iterator[str]:
    table = {"true": moment.affordances, "predicted": moment.predicted, "value": moment.values}
    columns = [name for name, values in table.items() if values is not None]
    yield "milestones" if columns in ([], ["true"]) else f"milestones: {', '.join(columns)}"
    for mark in moment.marks():
        words = [paint_text("*", SUBTASK_CODE) if mark.milestone == moment.subtask else " "]
        told = (mark.is_afforded, mark.is_predicted)
        words += [paint_text(*MARKS[is_so]) for is_so in told if is_so is not None]
        if mark.value is not None:
            number = f"{mark.number:>5}"
            words.append(paint_text(number, SUBTASK_CODE) if mark.is_best else number)
        yield " ".join([*words, spaced(mark.milestone)])


def _frame_lines(frame: Frame, paint_text: Painter) -> Iterator[str]:
    columns = (
        [*_grid_lines(frame, paint_text)],
        [*_item_lines(frame)],
        [*_milestone_lines(frame, paint_text)],
    )
    blank, width = "  " * frame.grid.shape[1], 6 + max(len(item) for item in frame.game.items)
    for cells, item, milestone in zip_longest(*columns, fillvalue=""):
        yield f"{cells or blank}  {item:{width}}{milestone}".rstrip()
    legend = " ".join(f"{CELLS[tile][0]}={tile}" for tile in frame.game.tiles)
    yield from textwrap.wrap(legend, 78, break_on_hyphens=False)


def _scene_lines(scene: Scene, paint_text: Painter, color: bool) -> Iterator[str]:
    picture = scene.picture if color else None  # it says nothing without its colors
    cells = [] if picture is None else [*_picture_lines(picture)]
    blank = " " * (cells[0].count("▀") + 2) if cells else ""
    for line, milestone in zip_longest(cells, _milestone_lines(scene, paint_text), fillvalue=""):
        yield (f"{line}  " if line else blank) + milestone


def _picture_lines(picture: np.ndarray) -> Iterator[str]:
    """Yield a picture as blocks, each the upper half of a cell before the lower one."""
    image = Image.fromarray(picture)
    image.thumbnail((PICTURE_SIZE, PICTURE_SIZE))
    pixels = np.asarray(image)
    for upper, lower in zip(pixels[0:-1:2], pixels[1::2], strict=True):
        colors = np.hstack([upper, lower])  # two of each cell
        blocks = ("\x1b[38;2;{};{};{};48;2;{};{};{}m▀".format(*cell) for cell in colors)
        yield "".join(blocks) + "\x1b[0m"


def to_text(moment: Shown, color: bool = True) -> str:
    """Write what is seen and, beside it, the panel, with escape codes only if `color`."""

    def paint_text(text: str, code: str) -> str:
        return f"\x1b[38;5;{code}m{text}\x1b[0m" if color and text else text

    alert = f"milestone: {spaced(moment.collected)}" if moment.collected else ""
    lines = [
        f"{moment.title}  {moment.progress}",
        f"action: {spaced(moment.action)}  subtask: {spaced(moment.subtask)}",
        paint_text(alert, ALERT_CODE),
    ]
    if isinstance(moment, Frame):
        return "\n".join([*lines, *_frame_lines(moment, paint_text)])
    return "\n".join([*lines, *_scene_lines(moment, paint_text, color)])
