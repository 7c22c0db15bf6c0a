"""Where in the replay milestones were collected, so that rare ones are drawn as often."""

import numpy as np


class Events:
    """Where each milestone was last collected, a ring per milestone."""

    KEPT = ("rows", "lanes", "counts", "gone")

    def __init__(self, num_milestones: int, capacity: int) -> None:
        self.capacity = capacity
        self.rows = np.zeros((num_milestones, capacity), dtype=np.int64)
        self.lanes = np.zeros((num_milestones, capacity), dtype=np.int64)
        self.counts = np.zeros(num_milestones, dtype=np.int64)  # ever collected
        self.gone = np.zeros(num_milestones, dtype=np.int64)  # of these, no longer in the replay

    def add(self, milestones: np.ndarray, row: int, lanes: np.ndarray) -> None:
        """Note that these milestones were collected in this row."""
        for milestone, lane in zip(milestones, lanes, strict=True):
            at = self.counts[milestone] % self.capacity
            self.rows[milestone, at] = row
            self.lanes[milestone, at] = lane
            self.counts[milestone] += 1

    def draw(
        self, size: int, oldest: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw events of uniformly drawn milestones, as far as the replay still has some."""
        self._forget(oldest)
        known = np.flatnonzero(self.counts > self.gone)
        if known.size == 0:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        milestones = known[rng.integers(known.size, size=size)]
        at = rng.integers(self.gone[milestones], self.counts[milestones]) % self.capacity
        return self.rows[milestones, at], self.lanes[milestones, at]

    def _forget(self, oldest: int) -> None:
        self.gone = np.maximum(self.gone, self.counts - self.capacity)
        for milestone in range(self.counts.size):
            while (
                self.gone[milestone] < self.counts[milestone]
                and self.rows[milestone, self.gone[milestone] % self.capacity] < oldest
            ):
                self.gone[milestone] += 1
