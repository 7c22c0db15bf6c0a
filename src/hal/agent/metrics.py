"""Metrics while an agent learns: running sums between two lines."""

from collections import defaultdict
from typing import Any

import numpy as np


class Tally:
    """Means of what was added since they were last taken."""

    KEPT = ("_sums", "_counts")

    def __init__(self) -> None:
        self._sums: dict[str, float] = defaultdict(float)
        self._counts: dict[str, int] = defaultdict(int)

    def add(self, name: str, values: np.ndarray | float) -> None:
        """Add one value, or all of an array's."""
        array = np.asarray(values)
        self._sums[name] += float(array.sum())
        self._counts[name] += array.size

    def add_columns(
        self, name: str, columns: np.ndarray, values: np.ndarray, titles: tuple[str, ...]
    ) -> None:
        """Add values under a name, and each also under the title of its column."""
        self.add(name, values)
        sums = np.bincount(columns, values, minlength=len(titles))
        for title, total, count in zip(
            titles, sums, np.bincount(columns, minlength=len(titles)), strict=True
        ):
            self._sums[f"{name}/{title}"] += float(total)
            self._counts[f"{name}/{title}"] += int(count)

    def add_share(self, name: str, part: int, whole: int) -> None:
        """Add a part of a whole; what is taken is the share of all parts in all wholes."""
        self._sums[name] += part
        self._counts[name] += whole

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


class EpisodeStats:
    """Each lane's latest episode: the last that has ended or, before any has, the first so far.

    The episodes that have ended since the last line would not do: between the waves in which lanes
    that began together are cut, those that end are successes, however many others will fail.
    """

    KEPT = ("present", "latest", "has_ended", "variety")

    def __init__(self, num_lanes: int, milestones: tuple[str, ...], final: int) -> None:
        self._final = final
        coverage = (f"episode/coverage/{name}" for name in milestones)
        self._titles = ("episode/success", "episode/length", "episode/return", *coverage)
        self.present = np.zeros((num_lanes, len(self._titles)))
        self.latest = np.zeros_like(self.present)  # of those that have ended
        self.has_ended = np.zeros(num_lanes, dtype=np.bool_)
        # (lanes, K) how many different milestones the episode had when it last collected each
        self.variety = np.zeros((num_lanes, len(milestones)), dtype=np.int64)

    def add(
        self, reward: np.ndarray, collected: np.ndarray, is_valid: np.ndarray, tally: Tally
    ) -> None:
        """Count a step of the lanes where it is one."""
        self.present[:, 1] += is_valid
        self.present[:, 2] += np.where(is_valid, reward, 0.0)
        self.present[:, 3:][collected & is_valid[:, np.newaxis]] = 1.0
        lanes = np.flatnonzero(collected.any(axis=1) & is_valid)
        self._count_circles(lanes, collected[lanes], tally)

    def are_first(self, collected: np.ndarray, is_valid: np.ndarray) -> np.ndarray:
        """Tell which milestones of a step, (lanes, K), their episodes have not had before."""
        is_first: np.ndarray = collected & (self.present[:, 3:] == 0) & is_valid[:, np.newaxis]
        return is_first

    def _count_circles(self, lanes: np.ndarray, collected: np.ndarray, tally: Tally) -> None:
        """Count milestones that the episode had before, with none new to it since then."""
        before = self.variety[lanes]
        now = ((before > 0) | collected).sum(axis=1, keepdims=True)
        num_circles = int((collected & (before == now)).sum())
        tally.add_share("milestones/circles", num_circles, int(collected.sum()))
        self.variety[lanes] = np.where(collected, now, before)

    def end(self, lanes: np.ndarray) -> np.ndarray:
        """End the episodes of these lanes and begin new ones; return which were successes."""
        is_success = succeeded(self.present[lanes, 3:] > 0, self._final)
        self.latest[lanes] = self.present[lanes]
        self.latest[lanes, 0] = is_success
        self.has_ended[lanes] = True
        self.begin(lanes)
        return is_success

    def begin(self, lanes: np.ndarray) -> None:
        """Begin new episodes on these lanes."""
        self.present[lanes] = 0.0
        self.variety[lanes] = 0

    def means(self) -> dict[str, float]:
        """Return the means over lanes."""
        rows = np.where(self.has_ended[:, np.newaxis], self.latest, self.present)
        means = dict(zip(self._titles, rows.mean(axis=0).tolist(), strict=True))
        return {**means, "episode/coverage": float(rows[:, 3:].mean())}


def succeeded(covered: np.ndarray, final: int) -> np.ndarray:
    """Tell from what episodes collected, (episodes, K) bool, whether they got the final milestone.

    Where there is no final one, a success is to get them all.
    """
    is_success: np.ndarray = covered[:, final] if final >= 0 else np.all(covered, axis=1)
    return is_success


def tally_options(
    tally: Tally,
    subtask: np.ndarray,
    collected: np.ndarray,
    steps: np.ndarray,
    milestones: tuple[str, ...],
) -> None:
    """Count which options that have ended were successes, and the steps spent in the others.

    The whole task is no milestone: its options neither succeed nor fail.
    """
    is_milestone = subtask < len(milestones)
    pursued, steps = subtask[is_milestone], steps[is_milestone]
    is_success = pursued == collected[is_milestone]
    tally.add_columns("subpolicy/success", pursued, is_success, milestones)
    tally.add_share("subpolicy/wasted", int(steps[~is_success].sum()), int(steps.sum()))


def tally_mask(
    tally: Tally,
    afforded: np.ndarray,
    mask: np.ndarray,
    values: np.ndarray,
    info: dict[str, Any],
    lanes: np.ndarray,
    milestones: tuple[str, ...],
) -> None:
    """Count what masks of some lanes prune, and how right the agent is where the truth is told.

    A mask allows everything where nothing is held to be afforded: it then says nothing of that.
    """
    column = np.broadcast_to(np.arange(len(milestones)), mask.shape)
    every = column.ravel()
    tally.add_columns("mask/pruned", every, ~mask.ravel(), milestones)
    tally.add("mask/impact", ~mask[np.arange(len(mask)), values.argmax(axis=1)])
    tally.add("mask/empty", np.all(~afforded, axis=1))
    if "affordances" not in info:
        return
    truth = info["affordances"][lanes]
    # The paper's three are shares of all subtasks; the last two of the afforded and the others.
    tally.add_columns("mask/accuracy", every, (afforded == truth).ravel(), milestones)
    tally.add_columns("mask/overpruned", every, (truth & ~afforded).ravel(), milestones)
    tally.add_columns("mask/underpruned", every, (afforded & ~truth).ravel(), milestones)
    tally.add_columns("mask/afforded_pruned", column[truth], ~afforded[truth], milestones)
    tally.add_columns("mask/unafforded_kept", column[~truth], afforded[~truth], milestones)
