"""Options: what each lane pursues, from the choice of a subtask to its end.

Each subtask has an option: where it may begin, its subpolicy, when it ends (the paper's Sect. 4).
`choices.py` picks subtasks; the tracker follows them. The learning agent and a policy at play use
the same one.
"""

from typing import NamedTuple

import numpy as np

NONE = -1  # no milestone, no subtask


class EndedOptions(NamedTuple):
    """Options that have ended, an entry each."""

    lanes: np.ndarray
    subtask: np.ndarray  # what was pursued
    collected: np.ndarray  # the milestone that ended it, NONE after a timeout or an episode's end
    steps: np.ndarray
    reward: np.ndarray  # the sum of what was had on the way

    @classmethod
    def none(cls) -> "EndedOptions":
        """Return no options."""
        whole, decimal = np.zeros(0, dtype=np.int64), np.zeros(0)
        return cls(whole, whole, whole, whole, decimal)

    def where(self, is_chosen: np.ndarray) -> "EndedOptions":
        """Return some of them, by a mask."""
        return EndedOptions(*(values[is_chosen] for values in self))


class Advance(NamedTuple):
    """What a step has done to the options, (lanes,) each."""

    milestone: np.ndarray  # collected on this step, NONE where there is none
    is_ended: np.ndarray
    ended: EndedOptions  # of those lanes


class OptionTracker:
    """The present option of every lane."""

    KEPT = ("subtask", "steps", "reward", "failed")

    def __init__(
        self, num_lanes: int, num_milestones: int, max_steps: int, discount: float = 1.0
    ) -> None:
        self.max_steps = max_steps
        self.discount = discount  # of rewards, per step
        self.subtask = np.full(num_lanes, NONE)  # (lanes,) NONE where one is to be chosen
        self.steps = np.zeros(num_lanes, dtype=np.int64)
        self.reward = np.zeros(num_lanes)
        # (lanes, K) what has timed out since the last milestone; never the whole task
        self.failed = np.zeros((num_lanes, num_milestones), dtype=np.bool_)

    @property
    def undecided(self) -> np.ndarray:
        """Lanes whose subtask is to be chosen."""
        return np.flatnonzero(self.subtask == NONE)

    def begin(self, lanes: np.ndarray, subtasks: np.ndarray) -> None:
        """Begin to pursue subtasks."""
        self.subtask[lanes] = subtasks
        self.steps[lanes] = 0
        self.reward[lanes] = 0.0

    def advance(
        self,
        signals: np.ndarray,
        is_done: np.ndarray,
        is_valid: np.ndarray | None = None,
        reward: np.ndarray | float = 0.0,
    ) -> Advance:
        """Count a step with the milestones (lanes, K) that it signals, and a reward.

        Options end at any milestone, a timeout or an episode's end (beta_g, Sect. 6; Alg. 1, line
        7). A step that is not valid only resets: it counts for nothing.
        """
        is_valid = np.ones(self.subtask.size, dtype=np.bool_) if is_valid is None else is_valid
        milestone = np.where(is_valid, main_milestone(signals, self.subtask), NONE)
        self.steps += 1
        self.reward += np.where(is_valid, reward * self.discount ** (self.steps - 1), 0.0)
        is_new = (milestone != NONE) | is_done
        is_over = is_new | (self.steps >= self.max_steps)
        timed_out = np.flatnonzero(is_over & ~is_new & (self.subtask < self.failed.shape[1]))
        self.failed[timed_out, self.subtask[timed_out]] = True
        # Where everything has failed, it is tried again, from where the tries have led.
        self.failed[is_new | self.failed.all(axis=1)] = False
        is_ended = is_over & is_valid
        lanes = np.flatnonzero(is_ended)
        now = (self.subtask, milestone, self.steps, self.reward)
        ended = EndedOptions(lanes, *(values[lanes] for values in now))
        self.subtask = np.where(is_over, NONE, self.subtask)
        self.steps[is_over] = 0
        return Advance(milestone, is_ended, ended)

    def idle(self, lanes: np.ndarray) -> None:
        """Let lanes (a mask) take a step that only resets: any subtask will do for it."""
        self.subtask[lanes] = 0
        self.steps[lanes] = 0

    def reset(self, lanes: np.ndarray) -> None:
        """Forget what lanes (a mask) pursued: new episodes begin there."""
        self.subtask[lanes] = NONE
        self.steps[lanes] = 0
        self.failed[lanes] = False


def main_milestone(signals: np.ndarray, subtask: np.ndarray) -> np.ndarray:
    """Return the milestone of each lane's step, (lanes,), NONE where there is none.

    Of several in one step it is what was pursued, or else the last: the final one goes first.
    """
    lanes = np.arange(len(signals))
    last = signals.shape[1] - 1 - signals[:, ::-1].argmax(axis=1)
    collected = np.where(signals.any(axis=1), last, NONE)
    is_milestone = (subtask != NONE) & (subtask < signals.shape[1])  # not the whole task
    is_pursued = signals[lanes, np.where(is_milestone, subtask, 0)] & is_milestone
    return np.where(is_pursued, subtask, collected)
