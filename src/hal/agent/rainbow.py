"""The flat baseline: one policy for the whole task, with the hierarchical agent's three methods.

It learns from the environment's dense reward, with the same replay, network and returns.
"""

from typing import Any

import numpy as np
import torch

from hal.agent.controller import Controller, Lesson
from hal.agent.networks import Encoder, device_of, load_named, named
from hal.agent.replay import CONTINUES, CUT, ENDS, NONE, Obs, Windows, make_replay
from hal.agent.subtasks import SubtaskState, first_milestone
from hal.config import Config, Exploration
from hal.log import EpisodeStats, Tally


class RainbowAgent:
    """Q(s, a): a controller with a single goal, the task."""

    def __init__(
        self, config: Config, encoder: Encoder, num_actions: int, milestones: tuple[str, ...]
    ) -> None:
        self.config = config
        self.milestones = milestones
        torch.manual_seed(config.seed)
        streams = np.random.SeedSequence(config.seed).spawn(2)
        self._act_rng, replay_rng = map(np.random.default_rng, streams)
        device = device_of(config.device)
        self.controller = Controller(config, encoder, 1, num_actions, config.flat_discount, device)
        self.replay = make_replay(config, encoder, len(milestones), replay_rng)
        self.is_resetting = np.zeros(config.num_lanes, dtype=np.bool_)  # the next step only resets
        self.num_steps, self.num_vector_steps = 0, 0
        self.tally = Tally()
        self.episodes = EpisodeStats(config.num_lanes, milestones)
        self._acted_on: tuple[Obs, np.ndarray] | None = None

    def act(self, obs: Obs, info: dict[str, Any]) -> np.ndarray:
        """Choose an action on every lane."""
        config = self.config
        epsilon = config.exploration(self.num_steps, 0).controller
        task = np.zeros(config.num_lanes, dtype=np.int64)
        actions = self.controller.act(obs, task, epsilon, self._act_rng)
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
        milestone = np.where(is_valid, first_milestone(info["milestones"]), NONE)
        self.replay.add(
            image=before["image"],
            inventory=before["inventory"],
            action=actions,
            reward=reward,
            milestone=milestone,
            end=np.where(terminated, ENDS, np.where(truncated, CUT, CONTINUES)),
            is_valid=is_valid,
        )
        self.is_resetting = (terminated | truncated) & is_valid
        self.episodes.add(reward, info["milestones"], is_valid)
        ended = np.flatnonzero(self.is_resetting)
        self.episodes.end(ended, terminated[ended], self.tally)
        self.num_steps += int(is_valid.sum())
        self.num_vector_steps += 1

    def update(self) -> None:
        """Train after a step of all lanes, if it is time."""
        config = self.config
        if self.num_steps < config.warmup_steps or not self.replay.has_window(config.window):
            return
        if config.is_due(config.update_every, self.num_vector_steps):
            self.tally.add_all(self.controller.update(self.replay, _teach, self.num_steps))

    @property
    def num_updates(self) -> int:
        """How often the controller was trained."""
        return self.controller.target.num_updates

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

    def weights(self) -> dict[str, torch.Tensor]:
        """Return everything that acting needs."""
        return {
            "background": torch.tensor(self.controller.encoder.background),
            **named("controller", self.controller.learner.network),
            **named("controller_target", self.controller.target.network),
        }

    def load_weights(self, tensors: dict[str, torch.Tensor]) -> None:
        """Set what `weights` returned."""
        load_named("controller", self.controller.learner.network, tensors)
        load_named("controller_target", self.controller.target.network, tensors)


def _teach(windows: Windows) -> list[Lesson]:
    task = np.zeros(windows.action.shape, dtype=np.int64)
    return [Lesson(windows.is_valid, task, windows.reward)]
