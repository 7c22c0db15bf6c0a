"""One moment of an episode with what an agent thinks of it: `render.py` and `text.py` show it."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from math import isfinite
from typing import Protocol

import numpy as np
from PIL import Image

GREATEST_NUMBER = 9.99  # of a value as text, so that every number takes the same room


class Game(Protocol):
    """What pictures show of a game: names, whose places are the codes in a frame's arrays."""

    @property
    def name(self) -> str:
        """Its own."""

    @property
    def tiles(self) -> tuple[str, ...]:
        """What a cell can be."""

    @property
    def items(self) -> tuple[str, ...]:
        """What can be held."""

    @property
    def most_items(self) -> int:
        """No count of one item ever exceeds this."""

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class Mark:
    """One milestone's line in the panel."""

    milestone: str
    is_afforded: bool | None  # ground truth, if it is told
    is_predicted: bool | None  # the agent's own affordance
    value: float | None
    fraction: float  # of the way from the least value of the frame to the greatest; or nan
    is_best: bool  # the greatest value of those that are not pruned

    @property
    def is_pruned(self) -> bool:
        """Tell whether the agent takes the milestone for impossible."""
        return self.is_predicted is False

    @property
    def is_possible(self) -> bool:
        """Tell whether the milestone can be collected next: the truth, or else the agent's view."""
        return not self.is_pruned if self.is_afforded is None else self.is_afforded

    @property
    def number(self) -> str:
        """Return the value with two decimals, or nothing."""
        if self.value is None:
            return ""
        if not isfinite(self.value):
            return str(self.value)
        return f"{max(-GREATEST_NUMBER, min(self.value, GREATEST_NUMBER)):z.2f}"


@dataclass(frozen=True, kw_only=True)
class Moment:
    """One moment of any environment, with what an agent thinks of it if it says so."""

    milestones: tuple[str, ...]  # the chosen milestone set, K names
    affordances: np.ndarray | None  # (K,) bool, ground truth, if it is told
    step: int
    max_steps: int | None  # None if nobody says
    action: str | None = None  # last action
    collected: str | None = None  # the milestone collected on this step: the alert
    subtask: str | None = None  # the agent's current subtask
    predicted: np.ndarray | None = None  # (K,) bool, the agent's own affordances
    values: np.ndarray | None = None  # (K,) the meta-controller's value of each subtask

    @property
    def progress(self) -> str:
        """Return how far the episode has come, in words."""
        return f"step {self.step}" + ("" if self.max_steps is None else f" / {self.max_steps}")

    def marks(self) -> Iterator[Mark]:
        """Yield what there is to show of each milestone."""
        fractions = self._fractions()
        is_pruned = False if self.predicted is None else np.logical_not(self.predicted)
        ranks = np.where(np.isnan(fractions) | is_pruned, -1, fractions)
        for k, milestone in enumerate(self.milestones):
            yield Mark(
                milestone,
                is_afforded=None if self.affordances is None else bool(self.affordances[k]),
                is_predicted=None if self.predicted is None else bool(self.predicted[k]),
                value=None if self.values is None else float(self.values[k]),
                fraction=float(fractions[k]),
                is_best=bool(ranks[k] >= 0 and k == ranks.argmax()),
            )

    def _fractions(self) -> np.ndarray:
        fractions = np.full(len(self.milestones), np.nan)
        if self.values is not None:
            is_finite = np.isfinite(self.values)
            values = self.values[is_finite].astype(np.float64)
            if values.size:
                spread = values.max() - values.min()
                fractions[is_finite] = 1 - (values.max() - values) / (spread or 1)
        return fractions


@dataclass(frozen=True, kw_only=True)
class Frame(Moment):
    """One moment of one lane of this package's games."""

    affordances: np.ndarray
    game: Game
    grid: np.ndarray  # (height, width) tile codes
    position: tuple[int, int]  # row, column
    direction: int  # 0 up, 1 right, 2 down, 3 left
    inventory: np.ndarray  # (items,)

    @property
    def title(self) -> str:
        """Return what is shown."""
        return self.game.name


@dataclass(frozen=True, kw_only=True)
class Scene(Moment):
    """One moment of an environment that is not of this package, as it shows itself."""

    title: str
    png: bytes | None  # the picture packed, as thousands of them are kept; None if there is none

    @property
    def picture(self) -> np.ndarray | None:
        """Return the environment's own picture, uint8 (height, width, 3)."""
        return None if self.png is None else np.asarray(Image.open(BytesIO(self.png)))


Shown = Frame | Scene


def to_png(picture: np.ndarray) -> bytes:
    """Return a picture, uint8 (height, width, 3), packed."""
    file = BytesIO()
    Image.fromarray(picture).save(file, format="PNG", compress_level=1)
    return file.getvalue()


def spaced(name: str | None) -> str:
    """Return a name as a reader sees it."""
    return "-" if name is None else name.replace("_", " ")
