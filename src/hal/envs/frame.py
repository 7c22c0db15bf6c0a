"""One moment of a game with what an agent thinks of it: what `render.py` and `text.py` show."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

import numpy as np

from hal.envs.rules import Game

GREATEST_NUMBER = 9.99  # of a value as text, so that every number takes the same room


@dataclass(frozen=True)
class Mark:
    """One milestone's line in the panel."""

    milestone: str
    is_afforded: bool  # ground truth
    is_predicted: bool | None  # the agent's own affordance
    value: float | None
    fraction: float  # of the way from the least value of the frame to the greatest; or nan
    is_best: bool  # the greatest value of those that are not pruned

    @property
    def is_pruned(self) -> bool:
        """Tell whether the agent takes the milestone for impossible."""
        return self.is_predicted is False

    @property
    def number(self) -> str:
        """Return the value with two decimals, or nothing."""
        if self.value is None:
            return ""
        if not isfinite(self.value):
            return str(self.value)
        return f"{max(-GREATEST_NUMBER, min(self.value, GREATEST_NUMBER)):z.2f}"


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
    values: np.ndarray | None = None  # (K,) the meta-controller's value of each subtask

    def marks(self) -> Iterator[Mark]:
        """Yield what there is to show of each milestone."""
        fractions = self._fractions()
        is_pruned = False if self.predicted is None else np.logical_not(self.predicted)
        ranks = np.where(np.isnan(fractions) | is_pruned, -1, fractions)
        for k, milestone in enumerate(self.milestones):
            yield Mark(
                milestone,
                is_afforded=bool(self.affordances[k]),
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


def spaced(name: str | None) -> str:
    """Return a name as a reader sees it."""
    return "-" if name is None else name.replace("_", " ")
