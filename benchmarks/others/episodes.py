"""What the episodes of training have achieved."""

import numpy as np


class EpisodeLog:
    """Counts the episodes that end, and those of them with each milestone."""

    def __init__(self, num_lanes: int, num_milestones: int) -> None:
        self._present = np.zeros((num_lanes, num_milestones), dtype=np.bool_)
        self._is_resetting = np.zeros(num_lanes, dtype=np.bool_)
        self._num_episodes = 0
        self._counts = np.zeros(num_milestones, dtype=np.int64)

    def add(self, collected: np.ndarray, has_ended: np.ndarray) -> None:
        """Count a step; what the step that only resets says is no episode's."""
        self._present |= collected & ~self._is_resetting[:, np.newaxis]
        self._counts += self._present[has_ended].sum(axis=0)
        self._num_episodes += int(has_ended.sum())
        self._present[has_ended] = False
        self._is_resetting = has_ended.copy()

    def take(self) -> tuple[int, list[int]]:
        """Return how many episodes have ended since last time, and the counts of milestones."""
        taken = self._num_episodes, self._counts.tolist()
        self._num_episodes = 0
        self._counts[:] = 0
        return taken
