"""Prioritised replay: a sum tree that draws slots in proportion to their priority."""

from typing import NamedTuple

import numba
import numpy as np

from hal.config.settings import ReplaySettings


class Draw(NamedTuple):
    """Slots that were drawn, and the importance of each, at most 1."""

    slots: np.ndarray
    weights: np.ndarray


class Priorities:
    """Priorities of slots, zero for those that must not be drawn."""

    KEPT = ("tree", "largest", "num_open")

    def __init__(self, num_slots: int, exponent: float) -> None:
        self.exponent = exponent
        self.first_leaf = 1 << (num_slots - 1).bit_length()
        self.tree = np.zeros(2 * self.first_leaf)  # node i has the sum of nodes 2i and 2i + 1
        self.largest = 1.0  # priority of what was never trained on
        self.num_open = 0  # slots that can be drawn

    def open(self, slots: np.ndarray) -> None:
        """Let slots be drawn, as if they had the largest error so far."""
        self._set(slots, np.full(slots.size, self.largest))

    def close(self, slots: np.ndarray) -> None:
        """Let slots not be drawn."""
        self._set(slots, np.zeros(slots.size))

    def update(self, slots: np.ndarray, errors: np.ndarray) -> None:
        """Set the priorities of drawn slots by their errors."""
        priorities = (np.abs(errors) + 1e-6) ** self.exponent
        self.largest = max(self.largest, float(priorities.max()))
        self._set(slots, priorities)

    def draw(self, size: int, beta: float, rng: np.random.Generator) -> Draw:
        """Draw slots, one from each of `size` equal shares of the sum."""
        tickets = (np.arange(size) + rng.random(size)) / size * self.tree[1]
        slots = _find(self.tree, self.first_leaf, tickets)
        chances = self.tree[self.first_leaf + slots] / self.tree[1]
        weights = (self.num_open * chances) ** -beta
        return Draw(slots, (weights / weights.max()).astype(np.float32))

    def _set(self, slots: np.ndarray, priorities: np.ndarray) -> None:
        self.num_open += _set_leaves(self.tree, self.first_leaf, slots, priorities)


def make_priorities(settings: ReplaySettings, num_slots: int) -> Priorities | None:
    """Return priorities, if these are asked for."""
    return Priorities(num_slots, settings.alpha) if settings.prioritised else None


@numba.njit(cache=True)
def _set_leaves(
    tree: np.ndarray, first_leaf: int, slots: np.ndarray, priorities: np.ndarray
) -> int:
    """Set leaves and the sums above them; return how many more leaves are not zero."""
    num_more = 0
    for i in range(slots.size):
        node = first_leaf + slots[i]
        num_more += int(priorities[i] > 0) - int(tree[node] > 0)
        tree[node] = priorities[i]
        node //= 2
        while node > 0:
            tree[node] = tree[2 * node] + tree[2 * node + 1]
            node //= 2
    return num_more


@numba.njit(cache=True)
def _find(tree: np.ndarray, first_leaf: int, tickets: np.ndarray) -> np.ndarray:
    """Return the leaf that each ticket falls on."""
    slots = np.empty(tickets.size, dtype=np.int64)
    for i in range(tickets.size):
        node, ticket = 1, tickets[i]
        while node < first_leaf:
            node *= 2
            # Rounding must not lead to a branch without leaves to draw.
            if ticket >= tree[node] and tree[node + 1] > 0:
                ticket -= tree[node]
                node += 1
        slots[i] = node - first_leaf
    return slots
