"""Episodes as the page takes them: plain lists, short, everything for a scrub without asking.

Grids are letters, a tile's code counted from `0`. Numbers have four digits.
"""

import math
from base64 import b64encode
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from hal.checks import printable
from hal.pictures.frame import Frame, Game, Shown
from hal.pictures.tiles import agent_image, item_image, tile_image
from hal.studio.episode import Episode, Record

ATLAS_TILE = 48  # pixels
FIRST_LETTER = ord("0")
Packed = dict[str, Any]


def rounded(values: Any) -> Any:
    """Return an array's numbers as lists, None where they are not finite."""
    if values is None:
        return None
    if isinstance(values, np.ndarray):
        return [rounded(one) for one in values.tolist()]
    if isinstance(values, list):
        return [rounded(one) for one in values]
    if isinstance(values, bool | int):
        return values
    return round(values, 4) if math.isfinite(values) else None


def pack_episode(episode: Episode) -> Packed:
    """Return an episode with all that the agent believes."""
    records, beliefs = episode.records, episode.beliefs()
    shown = [record.seen.shown for record in records]
    player, config = episode.player, episode.player.config
    first = shown[0]
    return {
        "title": printable(config.task),
        "method": printable(config.method),
        "stage": player.stage,
        "seed": episode.seed,
        "milestones": [printable(name) for name in player.milestones],
        "subtasks": [printable(name) for name in episode.subtasks],
        "actions": list(episode.world.actions),
        "canEdit": episode.world.can_edit,
        "canUndo": len(episode.past),
        "isOver": records[-1].seen.is_over,
        "threshold": config.affordances.threshold if beliefs.probability is not None else None,
        "maxSteps": first.max_steps,
        "game": pack_game(first.game) if isinstance(first, Frame) else None,
        "steps": [_pack_record(record) for record in records],
        "probability": rounded(beliefs.probability),
        "afforded": None if beliefs.afforded is None else beliefs.afforded.astype(int).tolist(),
        "truth": _truth(shown),
        "values": rounded(beliefs.values),
        "actionValues": rounded(beliefs.actions),
    }


def _truth(shown: list[Shown]) -> list[list[int]] | None:
    told = [one.affordances for one in shown]
    return None if any(one is None for one in told) else np.array(told, dtype=int).tolist()


def _pack_record(record: Record) -> Packed:
    shown = record.seen.shown
    packed: Packed = {
        "subtask": record.subtask,
        "next": record.action,  # what the agent does from here
        "did": shown.action,  # what led here
        "got": None if shown.collected is None else shown.milestones.index(shown.collected),
        "by": record.came_by,
        "forced": record.is_forced,
        "timeout": record.timed_out,
    }
    if isinstance(shown, Frame):
        packed |= pack_world(shown)
    return packed


def pack_world(frame: Frame) -> Packed:
    """Return what there is to see of a game."""
    return {
        "grid": letters(frame.grid),
        "agent": [*frame.position, frame.direction],
        "items": frame.inventory.tolist(),
    }


def letters(codes: np.ndarray) -> str:
    """Return tile codes as text."""
    return (codes.astype(np.uint8) + FIRST_LETTER).tobytes().decode()


def pack_game(game: Game) -> Packed:
    """Return a game's names."""
    return {
        "name": game.name,
        "tiles": list(game.tiles),
        "items": list(game.items),
        "most": game.most_items,
    }


def atlas(game: Game) -> bytes:
    """Return a PNG of a game's tiles, its items, and the agent in its four directions, in a row."""
    size = ATLAS_TILE
    pictures = [tile_image(name, size) for name in game.tiles]
    pictures += [item_image(name, size) for name in game.items]
    opaque = [np.dstack([picture, np.full((size, size), 255, np.uint8)]) for picture in pictures]
    agents = [agent_image(direction, size) for direction in range(4)]
    file = BytesIO()
    Image.fromarray(np.hstack([*opaque, *agents])).save(file, format="PNG", optimize=True)
    return file.getvalue()


def data_url(png: bytes) -> str:
    """Return a picture as part of a page."""
    return "data:image/png;base64," + b64encode(png).decode()
