"""Experience of the meta-controller, D_mc: whole options, in a ring of plain arrays."""

import numpy as np

from hal.agent.networks.encoder import Layout
from hal.agent.replay.priorities import Draw, Priorities
from hal.envs.observations import Obs


class MetaReplay:
    """A ring of the meta-controller's transitions."""

    KEPT = (
        "obs",
        "next_obs",
        "next_mask",
        "subtask",
        "reward",
        "discount",
        "lower_bound",
        "num_added",
        "priorities",
    )

    def __init__(
        self,
        capacity: int,
        layout: Layout,
        num_milestones: int,
        priorities: Priorities | None = None,
    ) -> None:
        self.capacity = capacity
        self.priorities = priorities
        self.obs, self.next_obs = layout.blank(capacity), layout.blank(capacity)
        self.next_mask = np.zeros((capacity, num_milestones), dtype=np.bool_)
        self.subtask = np.zeros(capacity, dtype=np.int64)
        self.reward = np.zeros(capacity, dtype=np.float32)
        self.discount = np.zeros(capacity, dtype=np.float32)
        self.lower_bound = np.full(capacity, -np.inf, dtype=np.float32)  # a return that was had
        self.num_added = 0

    def __len__(self) -> int:
        """Return how many transitions can be drawn."""
        return min(self.num_added, self.capacity)

    def add(self, obs: Obs, next_obs: Obs, **fields: np.ndarray) -> np.ndarray:
        """Write a batch of transitions; return their numbers."""
        size = len(fields["subtask"])
        numbers = self.num_added + np.arange(size)
        at = numbers % self.capacity
        for name in self.obs:
            self.obs[name][at], self.next_obs[name][at] = obs[name], next_obs[name]
        for name, values in fields.items():
            getattr(self, name)[at] = values
        self.lower_bound[at] = -np.inf
        self.num_added += size
        if self.priorities is not None:
            self.priorities.open(at)
        return numbers

    def bound(self, numbers: list[int], value: float) -> None:
        """Bound the value of transitions from below, as far as they are still there."""
        oldest = self.num_added - self.capacity
        self.lower_bound[[n % self.capacity for n in numbers if n >= oldest]] = value

    def draw(self, size: int, beta: float, rng: np.random.Generator) -> Draw:
        """Draw transitions: by priority, or each as likely."""
        if self.priorities is not None:
            return self.priorities.draw(size, beta, rng)
        return Draw(rng.integers(len(self), size=size), np.ones(size, dtype=np.float32))
