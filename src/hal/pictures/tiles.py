"""Pictures of tiles, items and the agent, drawn in code; `render.py` puts them together.

Every drawing is a small function of a `Pen`, which speaks unit coordinates: (0, 0) is the upper
left corner of the cell and (1, 1) the lower right one, so a picture is crisp at any size.
"""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from PIL import Image

from hal.pictures.pen import OUTLINE, Color, Pen, Place

WHITE, AGENT, BEAK = (255, 255, 255), (34, 44, 74), (255, 132, 38)
FLOOR, FLOOR_EDGE, WALL, WALL_JOINT = (231, 226, 212), (214, 208, 192), (52, 56, 70), (37, 40, 51)
STONE, STONE_DARK, STONE_LIGHT = (156, 158, 163), (112, 114, 121), (177, 179, 184)
DIRT, DIRT_DARK, DIRT_LIGHT = (141, 101, 66), (105, 72, 44), (172, 131, 91)
BARK, TIMBER, TIMBER_LIGHT = (112, 75, 45), (190, 138, 84), (221, 177, 123)
LEAF, LEAF_DARK, LEAF_LIGHT = (70, 140, 70), (45, 104, 54), (110, 174, 88)
COAL, COAL_LIGHT, ORE, ORE_LIGHT = (34, 34, 40), (84, 86, 98), (222, 138, 98), (247, 190, 158)
IRON, IRON_LIGHT = (190, 197, 209), (240, 243, 248)
GEM, GEM_DARK, GEM_LIGHT = (74, 205, 222), (32, 150, 178), (196, 246, 250)
SOOT, FIRE, FLAME = (44, 38, 40), (240, 122, 40), (255, 214, 92)
RED, YELLOW, GREEN = (214, 62, 56), (244, 194, 40), (54, 158, 84)
BLUE, PURPLE, GOLD, STEEL = (56, 108, 218), (142, 76, 196), (236, 190, 74), (188, 198, 210)


Drawing = Callable[[Pen], None]


def _shade(color: Color, factor: float) -> Color:
    red, green, blue = (min(255, round(channel * factor)) for channel in color)
    return red, green, blue


def _floor(pen: Pen) -> None:
    pen.box((0, 0, 1, 1), FLOOR_EDGE)
    pen.box((0.02, 0.02, 0.98, 0.98), FLOOR)


def _wall(pen: Pen) -> None:
    pen.box((0, 0, 1, 1), WALL)
    for y, x in ((0.0, 0.25), (0.33, 0.72), (0.67, 0.25)):
        pen.box((0, y, 1, y + 0.05), WALL_JOINT)
        pen.box((x, y, x + 0.05, y + 0.33), WALL_JOINT)


def _tree(pen: Pen) -> None:
    pen.box((0.42, 0.55, 0.58, 0.96), BARK, 0.03)
    for color, grow in ((LEAF_DARK, 0.035), (LEAF, 0.0)):
        for x, y in ((0.5, 0.28), (0.29, 0.48), (0.71, 0.48), (0.5, 0.5)):
            pen.disc(x, y, 0.21 + grow, color)
    for x, y, radius in ((0.42, 0.25, 0.1), (0.25, 0.44, 0.07), (0.63, 0.44, 0.07)):
        pen.disc(x, y, radius, LEAF_LIGHT)


def _dirt(pen: Pen) -> None:
    pen.box((0, 0, 1, 1), DIRT_DARK)
    pen.box((0.03, 0.03, 0.97, 0.97), DIRT)
    for x, y in ((0.18, 0.2), (0.52, 0.12), (0.7, 0.4), (0.3, 0.5), (0.6, 0.66), (0.16, 0.78)):
        pen.disc(x, y, 0.055, DIRT_DARK)
        pen.disc(x + 0.18, y + 0.12, 0.055, DIRT_LIGHT)


def _rock(pen: Pen, inlay: Drawing) -> None:
    pen.box((0, 0, 1, 1), STONE_DARK)
    pen.box((0.03, 0.03, 0.97, 0.97), STONE_LIGHT)
    pen.box((0.08, 0.08, 0.97, 0.97), STONE)
    inlay(pen)


def _cracks(pen: Pen) -> None:
    pen.line(((0.12, 0.34), (0.3, 0.26), (0.4, 0.4), (0.58, 0.36)), STONE_DARK, 0.06)
    pen.line(((0.4, 0.4), (0.36, 0.58)), STONE_DARK, 0.06)
    pen.line(((0.56, 0.88), (0.64, 0.72), (0.8, 0.68), (0.9, 0.52)), STONE_DARK, 0.06)


def _lumps(pen: Pen, color: Color, light: Color, places: tuple[Place, ...]) -> None:
    for place in places:
        pen.shape(((-1, 0.3), (-0.7, -0.7), (0.2, -1), (1, -0.4), (0.8, 0.7), (0, 1)), color, place)
        pen.shape(((-0.6, -0.1), (-0.5, -0.6), (0.2, -0.8), (0.3, -0.3)), light, place)


def _gem(pen: Pen, unit: float) -> None:
    place = (0.5, 0.5, unit)
    pen.shape(((-1.1, -0.2), (-0.6, -0.9), (0.6, -0.9), (1.1, -0.2), (0, 1.1)), GEM, place, 0.04)
    pen.shape(((-0.3, -0.2), (0.3, -0.2), (0, 0.95)), GEM_LIGHT, place)
    pen.shape(((0.3, -0.2), (0.95, -0.2), (0, 0.95)), GEM_DARK, place)
    pen.shape(((-0.53, -0.78), (0, -0.78), (-0.3, -0.2)), GEM_LIGHT, place)


def _bench(pen: Pen) -> None:
    for left in (0.1, 0.72):
        pen.box((left, 0.6, left + 0.18, 0.96), BARK, 0.02)
    pen.box((0.04, 0.06, 0.96, 0.78), TIMBER, 0.05, rim=0.035)
    pen.box((0.075, 0.095, 0.925, 0.64), TIMBER_LIGHT, 0.02)
    for place in range(9):
        left, top = 0.15 + 0.25 * (place % 3), 0.125 + 0.17 * (place // 3)
        pen.box((left, top, left + 0.2, top + 0.13), TIMBER)


def _furnace(pen: Pen) -> None:
    pen.box((0.04, 0.04, 0.96, 0.96), STONE_DARK, 0.08, rim=0.04)
    pen.box((0.08, 0.08, 0.92, 0.3), STONE, 0.04)
    pen.box((0.3, 0.15, 0.7, 0.22), SOOT, 0.03)
    pen.box((0.2, 0.38, 0.8, 0.92), SOOT, 0.16)
    tongues = ((0.27, 0.64), (0.39, 0.74), (0.5, 0.44), (0.61, 0.74), (0.73, 0.64))
    pen.shape(((0.3, 0.9), *tongues, (0.7, 0.9)), FIRE)
    pen.shape(((0.38, 0.9), (0.42, 0.78), (0.5, 0.66), (0.58, 0.78), (0.62, 0.9)), FLAME)


def _log(pen: Pen) -> None:
    pen.line(((0.28, 0.68), (0.7, 0.32)), BARK, 0.44, rim=0.035)
    for color, radius in ((TIMBER_LIGHT, 0.185), (TIMBER, 0.115), (TIMBER_LIGHT, 0.055)):
        pen.disc(0.28, 0.68, radius, color)


def _planks(pen: Pen) -> None:
    pen.box((0.06, 0.1, 0.94, 0.9), OUTLINE, 0.05)
    for top, seam in ((0.14, 0.62), (0.39, 0.34), (0.64, 0.7)):
        pen.box((0.1, top, seam, top + 0.22), TIMBER_LIGHT)
        pen.box((seam + 0.03, top, 0.9, top + 0.22), TIMBER)


def _pickaxe(pen: Pen, color: Color) -> None:
    back = ((0.2, 0.08), (0.5, 0.08), (0.76, 0.24), (0.92, 0.5), (0.92, 0.8))
    head = (*back, (0.76, 0.56), (0.6, 0.4), (0.44, 0.24))
    pen.line(((0.14, 0.86), (0.66, 0.34)), TIMBER, 0.18, rim=0.035)
    pen.line((*head, head[0]), OUTLINE, 0.09)
    pen.shape(head, color)
    pen.line(back[1:4], _shade(color, 1.25), 0.05)


def _ingot(pen: Pen) -> None:
    pen.shape(((0.04, 0.82), (0.2, 0.22), (0.8, 0.22), (0.96, 0.82)), OUTLINE)
    pen.shape(((0.24, 0.27), (0.76, 0.27), (0.82, 0.48), (0.18, 0.48)), IRON_LIGHT)
    pen.shape(((0.17, 0.51), (0.83, 0.51), (0.9, 0.77), (0.1, 0.77)), IRON)


def _key(pen: Pen, color: Color) -> None:
    for paint, grow in ((OUTLINE, 0.045), (color, 0.0)):
        pen.disc(0.29, 0.5, 0.21 + grow, paint)
        for left, right, bottom in ((0.4, 0.93, 0.56), (0.64, 0.74, 0.74), (0.83, 0.93, 0.78)):
            pen.box((left - grow, 0.44 - grow, right + grow, bottom + grow), paint, 0.03)
    pen.disc(0.29, 0.5, 0.125, FLOOR, rim=0.045)


def _kettlebell(pen: Pen, color: Color) -> None:
    pen.box((0.28, 0.08, 0.72, 0.6), _shade(color, 0.75), 0.14, rim=0.04)
    pen.box((0.39, 0.19, 0.61, 0.5), FLOOR, 0.05, rim=0.04)
    pen.disc(0.5, 0.62, 0.33, color, rim=0.045)
    pen.disc(0.4, 0.53, 0.08, _shade(color, 1.5))


def _scale(pen: Pen) -> None:
    pen.box((0.06, 0.06, 0.94, 0.94), STEEL, 0.12, rim=0.05)
    pen.box((0.22, 0.27, 0.78, 0.33), OUTLINE, 0.02)
    pen.box((0.47, 0.18, 0.53, 0.7), OUTLINE, 0.02)
    pen.shape(((0.5, 0.6), (0.34, 0.75), (0.66, 0.75)), OUTLINE)
    for x in (0.28, 0.72):
        pen.shape(((x, 0.3), (x - 0.13, 0.52), (x + 0.13, 0.52)), STEEL, rim=0.04)
        pen.box((x - 0.13, 0.49, x + 0.13, 0.58), GREEN, 0.03)


def _pressed_scale(pen: Pen) -> None:
    pen.box((0.06, 0.06, 0.94, 0.94), _shade(STEEL, 0.75), 0.12, rim=0.05)
    pen.box((0.14, 0.14, 0.86, 0.86), _shade(STEEL, 0.9), 0.08)
    _kettlebell(pen, GREEN)


def _chest(pen: Pen) -> None:
    pen.box((0.05, 0.14, 0.95, 0.9), PURPLE, 0.14, rim=0.04)
    pen.box((0.09, 0.18, 0.91, 0.46), _shade(PURPLE, 1.2), 0.1)
    for left in (0.19, 0.72):
        pen.box((left, 0.18, left + 0.09, 0.86), GOLD)
    pen.box((0.09, 0.44, 0.91, 0.49), OUTLINE)
    pen.box((0.38, 0.38, 0.62, 0.66), GOLD, 0.05, rim=0.035)
    pen.disc(0.5, 0.51, 0.045, OUTLINE)


def _closed_door(pen: Pen, color: Color) -> None:
    pen.box((0, 0, 1, 1), _shade(color, 0.5))
    pen.box((0.1, 0.06, 0.9, 1), color, 0.04)
    pen.box((0.2, 0.16, 0.6, 0.9), _shade(color, 0.78), 0.03)
    pen.disc(0.76, 0.5, 0.115, GOLD, rim=0.04)


def _open_door(pen: Pen, color: Color) -> None:
    for inset, factor in ((0, 0.5), (0.03, 1), (0.16, 0.5)):
        pen.box((inset, inset, 1 - inset, 1 - inset), _shade(color, factor))
    pen.box((0.19, 0.19, 0.81, 0.81), FLOOR)


def _agent(pen: Pen) -> None:
    pen.shape(((0.5, 0.0), (0.84, 0.46), (0.16, 0.46)), BEAK, rim=0.04)
    pen.disc(0.5, 0.59, 0.37, WHITE)
    pen.disc(0.5, 0.59, 0.325, AGENT)
    for x in (0.37, 0.63):
        pen.disc(x, 0.5, 0.1, WHITE)
        pen.disc(x, 0.46, 0.05, OUTLINE)


_NUGGETS = ((0.3, 0.29, 0.17), (0.73, 0.35, 0.13), (0.3, 0.73, 0.13), (0.7, 0.74, 0.17))
_STICK = ((0.2, 0.82), (0.8, 0.18))
_KEYS = {"red_key": RED, "yellow_key": YELLOW, "blue_key": BLUE, "purple_key": PURPLE}
_DOORS = {"yellow_door": YELLOW, "red_door": RED, "green_door": GREEN, "blue_door": BLUE}

TILES: dict[str, Drawing] = {
    "floor": _floor,
    "wall": _wall,
    "tree": _tree,
    "dirt": _dirt,
    "stone": partial(_rock, inlay=_cracks),
    "coal": partial(_rock, inlay=partial(_lumps, color=COAL, light=COAL_LIGHT, places=_NUGGETS)),
    "iron_ore": partial(_rock, inlay=partial(_lumps, color=ORE, light=ORE_LIGHT, places=_NUGGETS)),
    "diamond": partial(_rock, inlay=partial(_gem, unit=0.37)),
    "crafting_bench": _bench,
    "furnace": _furnace,
    "green_weight": partial(_kettlebell, color=GREEN),
    "scale": _scale,
    "pressed_scale": _pressed_scale,
    "chest": _chest,
    **{key: partial(_key, color=color) for key, color in _KEYS.items()},
    **{door: partial(_closed_door, color=color) for door, color in _DOORS.items()},
    **{f"open_{door}": partial(_open_door, color=color) for door, color in _DOORS.items()},
}

# An item looks like the tile of its name, unless it is here.
ITEMS: dict[str, Drawing] = TILES | {
    "log": _log,
    "wood": _planks,
    "stick": partial(Pen.line, points=_STICK, color=TIMBER, width=0.19, rim=0.035),
    "wood_pickaxe": partial(_pickaxe, color=TIMBER),
    "stone_pickaxe": partial(_pickaxe, color=STONE_DARK),
    "iron_pickaxe": partial(_pickaxe, color=IRON),
    "iron": _ingot,
    "coal": partial(_lumps, color=COAL, light=COAL_LIGHT, places=((0.5, 0.5, 0.4),)),
    "diamond": partial(_gem, unit=0.42),
}


@lru_cache(maxsize=1024)
def paint(size: int, *drawings: Drawing) -> np.ndarray:
    """Return the drawings one over the other, read-only uint8 RGBA (size, size, 4)."""
    pen = Pen(size)
    for drawing in drawings:
        drawing(pen)
    return np.asarray(pen.canvas.resize((size, size), Image.Resampling.LANCZOS))


def tile_image(name: str, size: int) -> np.ndarray:
    """Return the picture of a tile, read-only uint8 (size, size, 3)."""
    return paint(size, _floor, TILES[name])[..., :3]


def item_image(name: str, size: int) -> np.ndarray:
    """Return the picture of an item in the inventory, read-only uint8 (size, size, 3)."""
    return paint(size, _floor, ITEMS[name])[..., :3]


def agent_image(direction: int, size: int) -> np.ndarray:
    """Return the agent facing up, right, down or left (0 to 3), read-only RGBA (size, size, 4)."""
    return np.rot90(paint(size, _agent), -direction)
