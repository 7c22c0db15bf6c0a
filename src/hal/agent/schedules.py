"""What changes over a run, as functions of how far it has come."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hal.config.settings import ExplorationSettings


@dataclass(frozen=True)
class Exploration:
    """Shares of random choices."""

    controller: float  # actions: the paper's epsilon_c
    meta: float | np.ndarray  # subtasks, among all: epsilon_mc
    mask: float | np.ndarray  # subtasks, within the mask: epsilon_aff


GREEDY = Exploration(controller=0.0, meta=0.0, mask=0.0)


class Progress(NamedTuple):
    """How far a run has come."""

    num_steps: int
    total_steps: int

    @property
    def share(self) -> float:
        """From 0 to 1, and a bit more after the last step of all lanes."""
        return self.num_steps / self.total_steps


def between(ends: tuple[float, float], share: float) -> float:
    """Return what lies between two values after a share of the way, 1 and above being the end."""
    return ends[0] + (ends[1] - ends[0]) * min(share, 1.0)


def is_due(every: int, num_envs: int, num_vector_steps: int) -> bool:
    """Tell whether so many environment steps have passed, to a step of all lanes."""
    return num_vector_steps % max(every // num_envs, 1) == 0


def exploration(
    settings: ExplorationSettings, progress: Progress, num_successes: int | None
) -> Exploration:
    """Return the shares of random choices; without successes, those of subtasks go by steps too."""
    by_steps = progress.num_steps / settings.controller_anneal_steps
    if settings.anneal_share > 0:
        by_steps = progress.share / settings.anneal_share
    by_successes = by_steps
    if num_successes is not None:
        further = max(num_successes - settings.first_successes, 0)
        by_successes = further / settings.meta_anneal_successes
    return Exploration(
        between(settings.controller_epsilon, by_steps),
        between(settings.meta_epsilon, by_successes),
        between(settings.mask_epsilon, by_successes),
    )


def goal_epsilon(
    settings: ExplorationSettings, progress: Progress, num_events: np.ndarray
) -> np.ndarray:
    """Return the share of random actions by subtask, after so many events of each, (K,)."""
    by_steps = exploration(settings, progress, None).controller
    if settings.goal_anneal_events == 0 or settings.anneal_share > 0:
        return np.full(num_events.size, by_steps)
    first, last = settings.controller_epsilon
    by_events = first + (last - first) * np.minimum(num_events / settings.goal_anneal_events, 1.0)
    return np.maximum(by_steps, by_events)


def importance(
    ends: tuple[float, float], settings: ExplorationSettings, progress: Progress
) -> float:
    """Return the exponent of importance weights, which rises as long as exploration falls."""
    return between(ends, progress.share / (settings.anneal_share or 1.0))
