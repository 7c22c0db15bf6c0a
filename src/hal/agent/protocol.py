"""What a run asks of an agent; `hal.py` and `rainbow.py` are two."""

from typing import ClassVar, Protocol

import numpy as np
import torch

from hal.agent.base import EnvFacts, Info
from hal.agent.choices import Choice
from hal.agent.controller import Controller
from hal.agent.metrics import EpisodeStats, Tally
from hal.agent.schedules import Exploration
from hal.config.settings import Config
from hal.envs.observations import Obs


class Agent(Protocol):
    """act -> env.step -> observe -> update, and what a policy at play needs of it."""

    KEPT: ClassVar[tuple[str, ...]]  # what a run keeps to go on exactly
    config: Config
    facts: EnvFacts
    milestones: tuple[str, ...]
    controller: Controller
    is_resetting: np.ndarray  # (lanes,) bool, whose next step only resets
    num_steps: int
    tally: Tally
    episodes: EpisodeStats

    @property
    def num_updates(self) -> int:
        """How often it was trained."""

    @property
    def has_collected(self) -> bool:
        """Whether any milestone was ever collected."""

    def act(self, obs: Obs, info: Info) -> np.ndarray:
        """Choose an action on every lane."""

    def observe(
        self,
        obs: Obs,
        reward: np.ndarray,
        terminated: np.ndarray,
        truncated: np.ndarray,
        info: Info,
    ) -> None:
        """Take what the environment answered."""

    def update(self) -> None:
        """Learn, if it is time."""

    def choose(
        self,
        obs: Obs,
        info: Info,
        failed: np.ndarray,
        lanes: np.ndarray,
        explore: Exploration,
        rng: np.random.Generator,
    ) -> Choice:
        """Choose what to pursue on some lanes, where (lanes, K) have timed out lately."""

    def pursue(
        self,
        obs: Obs,
        subtask: np.ndarray,
        epsilon: float | np.ndarray,
        rng: np.random.Generator,
        is_judged: bool = False,
    ) -> np.ndarray:
        """Return actions that pursue these subtasks, epsilon-greedily."""

    def abandon(self) -> None:
        """Give up all episodes: the next step only begins new ones."""

    def weights(self) -> dict[str, torch.Tensor]:
        """Return everything that acting in an evaluation needs."""

    def load_weights(self, tensors: dict[str, torch.Tensor]) -> None:
        """Set what `weights` returned."""
