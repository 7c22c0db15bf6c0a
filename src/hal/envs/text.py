"""One moment of a game as text for a terminal; `render.py` makes it a picture."""

import textwrap
from collections.abc import Callable, Iterator
from itertools import zip_longest

from hal.envs.frame import Frame, spaced

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
            yield f"{count:3d} {spaced(item)}"


def _milestone_lines(frame: Frame, paint_text: Painter) -> Iterator[str]:
    said = (("predicted", frame.predicted), ("value", frame.values))
    columns = ["true", *(name for name, thought in said if thought is not None)]
    yield "milestones" if len(columns) == 1 else f"milestones: {', '.join(columns)}"
    for mark in frame.marks():
        words = [paint_text("*", SUBTASK_CODE) if mark.milestone == frame.subtask else " "]
        words.append(paint_text(*MARKS[mark.is_afforded]))
        if mark.is_predicted is not None:
            words.append(paint_text(*MARKS[mark.is_predicted]))
        if mark.value is not None:
            number = f"{mark.number:>5}"
            words.append(paint_text(number, SUBTASK_CODE) if mark.is_best else number)
        yield " ".join([*words, spaced(mark.milestone)])


def to_text(frame: Frame, color: bool = True) -> str:
    """Write the grid and, beside it, the panel, with escape codes only if `color`."""

    def paint_text(text: str, code: str) -> str:
        return f"\x1b[38;5;{code}m{text}\x1b[0m" if color and text else text

    game = frame.game
    lines = [
        f"{game.name}  step {frame.step} / {frame.max_steps}",
        f"action: {spaced(frame.action)}  subtask: {spaced(frame.subtask)}",
        paint_text(f"milestone: {spaced(frame.collected)}" if frame.collected else "", ALERT_CODE),
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
