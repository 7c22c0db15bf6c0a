"""The flat baseline: one policy for the whole task, with the hierarchical agent's three methods.

It learns from the environment's dense reward, with the same replay, network and returns.
"""

from typing import Any

import numpy as np

from hal.agent.base import BaseAgent, EnvFacts
from hal.agent.controller import Lesson
from hal.agent.networks import Encoder
from hal.agent.replay import CONTINUES, CUT, ENDS, NONE, Windows
from hal.agent.subtasks import SubtaskState, main_milestone
from hal.config import Config, Exploration
from hal.observations import Obs


class RainbowAgent(BaseAgent):
    """Q(s, a): a controller with a single goal, the task."""

    def __init__(self, config: Config, encoder: Encoder, env: EnvFacts) -> None:
        super().__init__(config, encoder, 1, config.flat_discount, env)
        self._task = np.zeros(config.num_lanes, dtype=np.int64)  # what every lane pursues
        self._nothing = np.full(config.num_lanes, NONE)  # of the milestones
        self._acted_on: tuple[Obs, np.ndarray] | None = None

    def act(self, obs: Obs, info: dict[str, Any]) -> np.ndarray:
        """Choose an action on every lane."""
        config = self.config
        epsilon = config.exploration(self.num_steps, 0).controller
        actions = self.controller.act(obs, self._task, epsilon, self._act_rng)
        self._acted_on = (obs, actions)
        return actions

    def observe(
        self,
        obs: Obs,
        reward: np.ndarray,
        terminated: np.ndarray,
        truncated: np.ndarray,
        info: dict[str, Any],
    ) -> None:
        """Write the step that led here."""
        assert self._acted_on is not None
        before, actions = self._acted_on
        is_valid = ~self.is_resetting
        milestone = np.where(is_valid, main_milestone(info["milestones"], self._nothing), NONE)
        self.replay.add(
            before,
            action=actions,
            reward=reward,
            milestone=milestone,
            end=np.where(terminated, ENDS, np.where(truncated, CUT, CONTINUES)),
            is_valid=is_valid,
        )
        self.is_resetting = (terminated | truncated) & is_valid
        self.episodes.add(reward, info["milestones"], is_valid)
        self.episodes.end(np.flatnonzero(self.is_resetting))
        self.num_steps += int(is_valid.sum())
        self.num_vector_steps += 1

    def update(self) -> None:
        """Train after a step of all lanes, if it is time."""
        config = self.config
        if not self.can_learn():
            return
        if config.is_due(config.update_every, self.num_vector_steps):
            self.tally.add_all(self.controller.update(self.replay, _teach, self.num_steps))

    def choose_subtasks(
        self,
        obs: Obs,
        info: dict[str, Any],
        options: SubtaskState,
        chosen: np.ndarray,
        explore: Exploration,
        rng: np.random.Generator,
    ) -> None:
        """Pursue the task on these lanes; there is no mask and no value of subtasks."""
        options.subtask[chosen] = 0


def _teach(windows: Windows) -> list[Lesson]:
    task = np.zeros(windows.action.shape, dtype=np.int64)
    return [Lesson(windows.is_valid, task, windows.reward)]
