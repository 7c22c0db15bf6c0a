"""The flat baseline: one policy for the whole task, with the hierarchical agent's three methods.

It learns from the environment's dense reward, with the same replay, network and returns.
"""

import numpy as np

from hal.agent.base import BaseAgent, EnvFacts, Info
from hal.agent.choices import Choice
from hal.agent.controller import Lesson
from hal.agent.networks.encoder import Encoder
from hal.agent.options import NONE, main_milestone
from hal.agent.replay.steps import CONTINUES, CUT, ENDS, Windows
from hal.agent.schedules import Exploration, exploration
from hal.config.settings import Config
from hal.envs.observations import Obs


class RainbowAgent(BaseAgent):
    """Q(s, a): a controller with a single goal, the task."""

    def __init__(self, config: Config, encoder: Encoder, env: EnvFacts) -> None:
        super().__init__(config, encoder, 1, config.controller.flat_discount, env)
        num_lanes = config.environment.num_envs
        self._task = np.zeros(num_lanes, dtype=np.int64)  # what every lane pursues
        self._nothing = np.full(num_lanes, NONE)  # of the milestones
        self._acted: tuple[Obs, np.ndarray] | None = None

    def act(self, obs: Obs, info: Info) -> np.ndarray:
        """Choose an action on every lane."""
        explore = exploration(self.config.exploration, self.progress, None)
        actions = self.controller.act(obs, self._task, explore.controller, self._act_rng)
        self._acted = (obs, actions)
        return actions

    def choose(
        self,
        obs: Obs,
        info: Info,
        failed: np.ndarray,
        lanes: np.ndarray,
        explore: Exploration,
        rng: np.random.Generator,
    ) -> Choice:
        """Pursue the task on these lanes; there is no mask and no value of subtasks."""
        return Choice(lanes, np.zeros(lanes.size, dtype=np.int64), None)

    def observe(
        self,
        obs: Obs,
        reward: np.ndarray,
        terminated: np.ndarray,
        truncated: np.ndarray,
        info: Info,
    ) -> None:
        """Write the step that led here."""
        assert self._acted is not None
        before, actions = self._acted
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
        self.episodes.add(reward, info["milestones"], is_valid, self.tally)
        self.episodes.end(np.flatnonzero(self.is_resetting))
        self.count_steps(is_valid)

    def update(self) -> None:
        """Train after a step of all lanes, if it is time."""
        if self.can_learn() and self.is_due(self.config.controller.every):
            self.train_controller(_teach)


def _teach(windows: Windows) -> list[Lesson]:
    task = np.zeros(windows.action.shape, dtype=np.int64)
    return [Lesson(windows.is_valid, task, windows.reward, windows.end)]
