"""The flat baseline: one policy for the whole task, with the hierarchical agent's three methods.

It learns from the environment's dense reward, with the same replay, network and returns.
"""

from typing import Any

import numpy as np
import torch

from hal.agent.controller import Controller, Lesson
from hal.agent.networks import Encoder, device_of
from hal.agent.replay import CONTINUES, CUT, ENDS, NONE, Obs, Replay
from hal.agent.subtasks import Exploration, SubtaskState, first_milestone
from hal.config import Config, between
from hal.log import Tally


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
        lanes = config.num_lanes
        capacity = config.replay_steps // lanes
        self.replay = Replay(capacity, lanes, encoder, len(milestones), replay_rng)
        self.is_resetting = np.zeros(lanes, dtype=np.bool_)  # the next step only resets
        self.num_steps = 0
        self.tally = Tally()
        self._acted_on: tuple[Obs, np.ndarray] | None = None

    def act(self, obs: Obs, info: dict[str, Any]) -> np.ndarray:
        """Choose an action on every lane."""
        config = self.config
        epsilon = between(
            config.controller_epsilon, self.num_steps / config.controller_anneal_steps
        )
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
        self.tally.add("episode/success", terminated[self.is_resetting])
        self.num_steps += int(is_valid.sum())

    def update(self) -> None:
        """Train after a step of all lanes."""
        config = self.config
        if self.num_steps < config.warmup_steps or not self.replay.has_window(config.window):
            return
        share = between((1.0, config.final_rate_share), self.num_steps / config.steps)
        self.controller.optimizer.param_groups[0]["lr"] = config.learning_rate * share
        windows = self.replay.draw_windows(config.batch_windows, config.window, config.event_share)
        task = np.zeros(windows.action.shape, dtype=np.int64)
        lesson = Lesson(windows.is_valid, task, windows.reward)
        self.tally.add_all(self.controller.update(windows, [lesson]))

    def choose_subtasks(
        self,
        obs: Obs,
        info: dict[str, Any],
        lanes: SubtaskState,
        chosen: np.ndarray,
        explore: Exploration,
        rng: np.random.Generator,
    ) -> None:
        """Pursue the task on these lanes."""
        lanes.subtask[chosen] = 0
