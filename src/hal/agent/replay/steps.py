"""Experience, the paper's D_c: rows of steps per lane, in a ring of plain arrays.

A row holds the observation before a step and what the step did; the observation after it is the
lane's next row, also at an episode's end (next-step autoreset).
"""

from typing import NamedTuple

import numba
import numpy as np

from hal.agent.networks.encoder import Layout
from hal.agent.options import NONE, EndedOptions
from hal.agent.replay.events import Events
from hal.agent.replay.priorities import Priorities, make_priorities
from hal.config.settings import ReplaySettings
from hal.envs.observations import Obs, pick

# How a step ended its option: not at all; for good; or cut off, with a future that still counts.
CONTINUES, ENDS, CUT = range(3)


class Windows(NamedTuple):
    """Runs of consecutive rows, (batch, length) each, the observations one longer."""

    obs: Obs
    action: np.ndarray
    reward: np.ndarray
    subtask: np.ndarray
    milestone: np.ndarray
    hindsight: np.ndarray
    end: np.ndarray
    episode_end: np.ndarray
    is_valid: np.ndarray
    weight: np.ndarray  # (batch,) importance
    slots: np.ndarray  # (batch,) where the first rows are, for their priorities


class Replay:
    """A ring of rows, (capacity, lanes, ...), and where the milestones are in it."""

    KEPT = (
        "obs",
        "truth",
        "action",
        "reward",
        "subtask",
        "milestone",
        "hindsight",
        "end",
        "episode_end",
        "is_valid",
        "segment",
        "num_rows",
        "events",
        "priorities",
        "_rng",
    )

    def __init__(
        self,
        capacity: int,
        num_lanes: int,
        layout: Layout,
        num_milestones: int,
        rng: np.random.Generator,
        priorities: Priorities | None = None,
        window: int = 1,
    ) -> None:
        shape = (capacity, num_lanes)
        self.capacity = capacity
        self.num_lanes = num_lanes
        self.obs = layout.blank(*shape)
        self.truth = np.zeros((*shape, num_milestones), dtype=np.bool_)
        self.action = np.zeros(shape, dtype=np.int64)
        self.reward = np.zeros(shape, dtype=np.float32)
        self.subtask = np.zeros(shape, dtype=np.int64)
        self.milestone = np.full(shape, NONE, dtype=np.int64)
        self.hindsight = np.full(shape, NONE, dtype=np.int64)  # what the row's option collected
        self.end = np.zeros(shape, dtype=np.uint8)  # of the option
        self.episode_end = np.zeros(shape, dtype=np.uint8)
        self.is_valid = np.zeros(shape, dtype=np.bool_)  # not the step that only resets
        self.segment = np.zeros(shape, dtype=np.int64)
        self.num_rows = 0  # ever written; row i is at i % capacity
        self.events = Events(num_milestones, capacity=8192)
        self.priorities = priorities  # of rows as the first of a window
        self._window = window  # length of those
        self._rng = rng

    @property
    def oldest(self) -> int:
        """The oldest row that has not been overwritten."""
        return max(0, self.num_rows - self.capacity)

    def add(self, obs: Obs, **fields: np.ndarray) -> None:
        """Write one row of every lane."""
        at = self.num_rows % self.capacity
        for name, values in obs.items():
            self.obs[name][at] = values
        for name, values in fields.items():
            getattr(self, name)[at] = values
        self.hindsight[at] = NONE
        lanes = np.flatnonzero(fields["milestone"] != NONE)
        self.events.add(fields["milestone"][lanes], self.num_rows, lanes)
        self.num_rows += 1
        if self.priorities is not None:
            self._open_rows(self.priorities, at)

    def _open_rows(self, priorities: Priorities, written: int) -> None:
        """A row can be drawn once its window is there, until it is overwritten."""
        lanes = np.arange(self.num_lanes)
        priorities.close(written * self.num_lanes + lanes)
        first = self.num_rows - 1 - self._window
        if first >= 0:
            row = first % self.capacity
            priorities.open(row * self.num_lanes + lanes[self.is_valid[row]])

    def cut(self) -> None:
        """End the last row's options here, with a future that nobody saw."""
        for ends in (self.end, self.episode_end):
            last = ends[(self.num_rows - 1) % self.capacity]
            last[last == CONTINUES] = CUT

    def obs_at(self, rows: np.ndarray, lanes: np.ndarray) -> Obs:
        """Return the observations of rows that are still there."""
        return pick(self.obs, rows % self.capacity, lanes)

    def mark(self, ended: EndedOptions, starts: np.ndarray) -> None:
        """Write into every row of options, from these on, what the option collected.

        That is news for rows which pursued something else: they get a new row's priority again.
        """
        has = ended.collected != NONE
        lanes, starts, collected = ended.lanes[has], starts[has], ended.collected[has]
        mark_options(self.hindsight, lanes, starts, self.num_rows, collected)
        if self.priorities is None:
            return
        for lane, start, milestone in zip(lanes, starts, collected, strict=True):
            rows = np.arange(start, self.num_rows - self._window) % self.capacity
            rows = rows[self.is_valid[rows, lane] & (self.subtask[rows, lane] != milestone)]
            self.priorities.open(rows * self.num_lanes + lane)

    def has_window(self, length: int) -> bool:
        """Tell whether there are enough rows for a run of this length."""
        return self.num_rows > length

    def draw(self, settings: ReplaySettings, beta: float) -> Windows:
        """Draw a batch of windows: by priority, or around milestones."""
        if settings.prioritised:
            return self.draw_prioritised(settings.batch_windows, beta)
        return self.draw_windows(settings.batch_windows, settings.window, settings.event_share)

    def note_errors(self, windows: Windows, errors: np.ndarray) -> None:
        """Take the errors of drawn windows as their priorities, if it has any."""
        if self.priorities is not None:
            self.priorities.update(windows.slots, errors)

    def draw_windows(self, size: int, length: int, event_share: float) -> Windows:
        """Draw runs of rows, a share of them around milestones, each milestone as often."""
        first, last = self.oldest, self.num_rows - 1 - length
        starts = self._rng.integers(first, last + 1, size=size)
        lanes = self._rng.integers(self.num_lanes, size=size)
        num_events = int(size * event_share)
        rows, event_lanes = self.events.draw(num_events, first, self._rng)
        offsets = self._rng.integers(length, size=rows.size)
        starts[: rows.size] = np.clip(rows - offsets, first, last)
        lanes[: rows.size] = event_lanes
        return self._windows(starts, lanes, length, np.ones(size, dtype=np.float32))

    def draw_prioritised(self, size: int, beta: float) -> Windows:
        """Draw runs of rows by the priority of their first row."""
        assert self.priorities is not None
        slots, weights = self.priorities.draw(size, beta, self._rng)
        return self._windows(slots // self.num_lanes, slots % self.num_lanes, self._window, weights)

    def _windows(
        self, starts: np.ndarray, lanes: np.ndarray, length: int, weight: np.ndarray
    ) -> Windows:
        at = (starts[:, np.newaxis] + np.arange(length + 1)) % self.capacity
        lane = np.broadcast_to(lanes[:, np.newaxis], at.shape)
        steps, step_lane = at[:, :-1], lane[:, :-1]
        return Windows(
            obs=pick(self.obs, at, lane),
            action=self.action[steps, step_lane],
            reward=self.reward[steps, step_lane],
            subtask=self.subtask[steps, step_lane],
            milestone=self.milestone[steps, step_lane],
            hindsight=self.hindsight[steps, step_lane],
            end=self.end[steps, step_lane],
            episode_end=self.episode_end[steps, step_lane],
            is_valid=self.is_valid[steps, step_lane],
            weight=weight,
            slots=at[:, 0] * self.num_lanes + lanes,
        )


def make_replay(
    settings: ReplaySettings,
    num_lanes: int,
    layout: Layout,
    num_milestones: int,
    rng: np.random.Generator,
) -> Replay:
    """Return a replay, with priorities if these are asked for."""
    capacity = settings.capacity // num_lanes
    priorities = make_priorities(settings, capacity * num_lanes)
    return Replay(capacity, num_lanes, layout, num_milestones, rng, priorities, settings.window)


@numba.njit(cache=True)
def mark_options(
    hindsight: np.ndarray, lanes: np.ndarray, starts: np.ndarray, stop: int, milestones: np.ndarray
) -> None:
    """Write into every row of these options what the option collected."""
    for i in range(lanes.size):
        for row in range(starts[i], stop):
            hindsight[row % hindsight.shape[0], lanes[i]] = milestones[i]
