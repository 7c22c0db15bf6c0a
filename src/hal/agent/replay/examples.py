"""Examples of affordances, D_g^+ and D_g^-: states labelled by what options achieved in them."""

from typing import NamedTuple

import numpy as np

from hal.agent.networks.encoder import Layout
from hal.agent.replay.steps import Replay
from hal.envs.observations import Obs, pick


class Drawn(NamedTuple):
    """A batch of examples."""

    obs: Obs
    truth: np.ndarray  # whether the milestone was really afforded


class Examples:
    """States labelled as positive or negative for each milestone, a ring per milestone."""

    KEPT = ("obs", "parity", "truth", "counts")

    def __init__(self, capacity: int, layout: Layout, num_milestones: int) -> None:
        self.capacity = capacity
        self.obs = layout.blank(num_milestones, capacity)
        self.parity = np.zeros((num_milestones, capacity), dtype=np.uint8)
        self.truth = np.zeros((num_milestones, capacity), dtype=np.bool_)
        self.counts = np.zeros(num_milestones, dtype=np.int64)  # ever written

    @property
    def sizes(self) -> np.ndarray:
        """How many examples each milestone has."""
        return np.minimum(self.counts, self.capacity)

    def draw(self, milestones: np.ndarray, rng: np.random.Generator) -> Drawn:
        """Draw one example for each of these milestones."""
        at = rng.integers(self.sizes[milestones])
        return Drawn(pick(self.obs, milestones, at), self.truth[milestones, at])

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
            at = (self.counts[milestone] + np.arange(rows.size)) % self.capacity
            source = rows % replay.capacity
            for name, values in replay.obs.items():
                self.obs[name][milestone, at] = values[source, lane]
            self.truth[milestone, at] = replay.truth[source, lane, milestone]
            self.parity[milestone, at] = parity
            self.counts[milestone] += rows.size
