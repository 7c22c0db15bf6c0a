"""Metrics of a run: running sums between two log lines, and a file of JSON lines."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np


class Tally:
    """Means of what was added since they were last taken."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = defaultdict(float)
        self._counts: dict[str, int] = defaultdict(int)

    def add(self, name: str, values: np.ndarray | float) -> None:
        """Add one value, or all of an array's."""
        array = np.asarray(values)
        self._sums[name] += float(array.sum())
        self._counts[name] += array.size

    def add_all(self, values: dict[str, float]) -> None:
        """Add one value under each name."""
        for name, value in values.items():
            self.add(name, value)

    def take(self) -> dict[str, float]:
        """Return the means and begin anew."""
        means = {name: self._sums[name] / n for name, n in self._counts.items() if n}
        self._sums.clear()
        self._counts.clear()
        return means


def tally_mask(
    tally: Tally,
    mask: np.ndarray,
    values: np.ndarray,
    info: dict[str, Any],
    lanes: np.ndarray,
    milestones: tuple[str, ...],
) -> None:
    """Count what masks of some lanes prune, and, where the truth is told, what they should."""
    tally.add("mask/pruned", ~mask)
    tally.add("mask/impact", ~mask[np.arange(len(mask)), values.argmax(axis=1)])
    if "affordances" not in info:
        return
    truth = info["affordances"][lanes]
    columns = {"": np.arange(len(milestones))}
    columns |= {f"/{milestone}": np.array([k]) for k, milestone in enumerate(milestones)}
    for name, column in columns.items():
        said, true = mask[:, column], truth[:, column]
        tally.add(f"mask/accuracy{name}", said == true)
        tally.add(f"mask/overpruned{name}", ~said[true])
        tally.add(f"mask/underpruned{name}", said[~true])


class MetricsFile:
    """Appends one JSON object per line; a line is whole or not there."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")

    def write(self, metrics: dict[str, Any]) -> None:
        """Append one line."""
        self._file.write(json.dumps(metrics) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
