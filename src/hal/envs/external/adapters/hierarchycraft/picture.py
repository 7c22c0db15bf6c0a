"""A picture of a lane: what is held and what stands where the player is."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from hal.envs.external.adapters.hierarchycraft.rules import Rules

SIDE, COLUMNS = 72, 9  # pixels of an item with its name; items in a row
ICON = 40  # pixels
INK, PAPER = (20, 22, 30), (226, 226, 220)


class Painter:
    """Draws lanes, with HierarchyCraft's own icons where its package has them."""

    def __init__(self, world: Any, rules: Rules) -> None:
        self._icons = Path(world.resources_path) / "items"
        self._rules = rules

    def __call__(self, counts: np.ndarray, zone: int) -> np.ndarray:
        """Return a picture, bytes (height, width, 3)."""
        rules = self._rules
        num_rows = -(-len(rules.items) // COLUMNS) + 1
        image = Image.new("RGB", (COLUMNS * SIDE, num_rows * SIDE + 2 * SIDE // 3), PAPER)
        pen = ImageDraw.Draw(image)
        first = len(rules.items) + zone * len(rules.things)
        here = zip(rules.things, counts[first : first + len(rules.things)], strict=True)
        held = zip(rules.items, counts, strict=False)
        pen.text((6, 4), f"{rules.zones[zone]}; standing here:", INK, _font(13))
        self._row(image, here, SIDE // 3)
        pen.text((6, 4 * SIDE // 3 + 4), "held:", INK, _font(13))
        self._row(image, held, 5 * SIDE // 3)
        return np.asarray(image)

    def _row(self, image: Image.Image, things: Iterable[tuple[str, Any]], top: int) -> None:
        """Draw what there is of some things, in rows."""
        pen = ImageDraw.Draw(image)
        present = ((name, count) for name, count in things if count > 0)
        for at, (name, count) in enumerate(present):
            x, y = at % COLUMNS * SIDE + 6, top + at // COLUMNS * SIDE
            path = self._icons / f"{name}.png"
            if path.exists():
                icon = _icon(path)
                image.paste(icon, (x, y), icon)
            pen.text((x + ICON + 1, y + ICON // 2), str(count), INK, _font(12))
            for line, word in enumerate(name.split("_", 1)):
                pen.text((x, y + ICON + 9 * line), word, INK, _font(9))


@cache
def _icon(path: Path) -> Image.Image:
    return Image.open(path).convert("RGBA").resize((ICON, ICON))


@cache
def _font(size: int) -> Any:
    return ImageFont.load_default(size)
