"""Options: what each lane pursues, when that ends, and how the next subtask is chosen."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hal.agent.replay import NONE
from hal.config import Exploration


@dataclass
class SubtaskState:
    """What each lane is pursuing."""

    KEPT = ("subtask", "steps", "failed")

    subtask: np.ndarray  # (lanes,) NONE where one is to be chosen
    steps: np.ndarray  # (lanes,) of the present option
    failed: np.ndarray  # (lanes, K) bool, what has timed out since the last milestone

    @classmethod
    def new(cls, num_lanes: int, num_milestones: int) -> "SubtaskState":
        """Return lanes that have no subtask yet."""
        return cls(
            np.full(num_lanes, NONE),
            np.zeros(num_lanes, dtype=np.int64),
            np.zeros((num_lanes, num_milestones), dtype=np.bool_),
        )

    def advance(self, milestone: np.ndarray, is_done: np.ndarray, max_steps: int) -> np.ndarray:
        """Count a step; end options at any milestone, a timeout or an episode's end.

        Returns which lanes' options ended.
        """
        self.steps += 1
        is_new = (milestone != NONE) | is_done
        is_ended = is_new | (self.steps >= max_steps)
        timed_out = np.flatnonzero(is_ended & ~is_new)
        self.failed[timed_out, self.subtask[timed_out]] = True
        # Where everything has failed, it is tried again, from where the tries have led.
        self.failed[is_new | self.failed.all(axis=1)] = False
        self.subtask = np.where(is_ended, NONE, self.subtask)
        self.steps[is_ended] = 0
        return is_ended


class Beliefs(NamedTuple):
    """What an agent holds true where it chooses subtasks, (choices, K) each."""

    afforded: np.ndarray  # bool
    mask: np.ndarray  # bool, what is considered: what is afforded or, where nothing is, everything
    values: np.ndarray

    @classmethod
    def of(cls, afforded: np.ndarray, values: np.ndarray) -> "Beliefs":
        """Return them with the mask that follows."""
        return cls(afforded, mask_of(afforded), values)


def mask_of(afforded: np.ndarray, otherwise: np.ndarray | bool = True) -> np.ndarray:
    """Return which subtasks are considered, (batch, K) bool; never none."""
    return np.where(afforded.any(axis=1, keepdims=True), afforded, otherwise)


def main_milestone(milestones: np.ndarray, subtask: np.ndarray) -> np.ndarray:
    """Return the milestone of each lane's step, (lanes,), NONE where there is none.

    Of several in one step it is what was pursued, or else the last: the final one goes first.
    """
    lanes = np.arange(len(milestones))
    last = milestones.shape[1] - 1 - milestones[:, ::-1].argmax(axis=1)
    collected = np.where(milestones.any(axis=1), last, NONE)
    is_pursued = milestones[lanes, subtask] & (subtask != NONE)
    return np.where(is_pursued, subtask, collected)


def greedy_choice(values: np.ndarray, mask: np.ndarray, avoided: np.ndarray) -> np.ndarray:
    """Return the best subtask within the mask, not an avoided one if there is another.

    Where all of the mask is to be avoided, the mask is wrong: the others are considered.
    """
    preferred = mask & ~avoided
    none_left = ~preferred.any(axis=1)
    preferred[none_left] = ~avoided[none_left]
    return np.where(preferred, values, -np.inf).argmax(axis=1)


def weighted_choice(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one column of each row, in proportion to its weights."""
    ticket = rng.random(len(weights)) * weights.sum(axis=1)
    return (weights.cumsum(axis=1) <= ticket[:, np.newaxis]).sum(axis=1)


def epsilon2_choice(
    greedy: np.ndarray,
    within: np.ndarray,
    anything: np.ndarray,
    explore: Exploration,
    rng: np.random.Generator,
) -> np.ndarray:
    """Choose epsilon^2-greedily: within the mask, anything, or else the greedy one."""
    draw = rng.random(greedy.size)
    others = np.where(draw < explore.mask + explore.meta, anything, greedy)
    return np.where(draw < explore.mask, within, others)
