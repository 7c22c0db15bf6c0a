"""Examples of affordances: states labelled by what options achieved in them."""

from typing import NamedTuple

import numpy as np

from hal.agent.networks import Encoder
from hal.agent.replay import Replay


class Drawn(NamedTuple):
    """A batch of examples."""

    image: np.ndarray
    inventory: np.ndarray
    truth: np.ndarray  # whether the milestone was really afforded


class Examples:
    """States labelled as positive or negative for each milestone, a ring per milestone."""

    KEPT = ("image", "inventory", "parity", "truth", "counts")

    def __init__(self, capacity: int, encoder: Encoder, num_milestones: int) -> None:
        self.image = np.zeros((num_milestones, capacity, *encoder.view), dtype=np.uint8)
        self.inventory = np.zeros((num_milestones, capacity, encoder.num_counts), dtype=np.int16)
        self.parity = np.zeros((num_milestones, capacity), dtype=np.uint8)
        self.truth = np.zeros((num_milestones, capacity), dtype=np.bool_)
        self.counts = np.zeros(num_milestones, dtype=np.int64)  # ever written

    @property
    def sizes(self) -> np.ndarray:
        """How many examples each milestone has."""
        return np.minimum(self.counts, self.image.shape[1])

    def draw(self, milestones: np.ndarray, rng: np.random.Generator) -> Drawn:
        """Draw one example for each of these milestones."""
        at = rng.integers(self.sizes[milestones])
        return Drawn(
            self.image[milestones, at], self.inventory[milestones, at], self.truth[milestones, at]
        )

    def add_options(
        self,
        replay: Replay,
        lanes: np.ndarray,
        starts: np.ndarray,
        milestones: np.ndarray,
        parities: np.ndarray,
    ) -> None:
        """Copy the rows from each start to the newest, as examples for these milestones."""
        for lane, start, milestone, parity in zip(lanes, starts, milestones, parities, strict=True):
            rows = np.arange(start, replay.num_rows)
            at = (self.counts[milestone] + np.arange(rows.size)) % self.image.shape[1]
            source = rows % replay.capacity
            self.image[milestone, at] = replay.image[source, lane]
            self.inventory[milestone, at] = replay.inventory[source, lane]
            self.truth[milestone, at] = replay.truth[source, lane, milestone]
            self.parity[milestone, at] = parity
            self.counts[milestone] += rows.size
