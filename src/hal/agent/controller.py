"""The controller: actions that pursue a subtask, learned by Q-learning on windows of steps."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hal.agent.losses import lambda_returns, q_loss
from hal.agent.networks import Encoder, Learner, Target
from hal.agent.replay import CONTINUES, CUT, NONE, Replay, Windows
from hal.config import Config
from hal.observations import Obs, pick


class Lesson(NamedTuple):
    """What to learn from windows of steps, (batch, length) each."""

    where: np.ndarray  # which steps are trained
    goal: np.ndarray  # for which goal
    reward: np.ndarray  # what that goal gets for the step


Teach = Callable[[Windows], list[Lesson]]


def subtask_lessons(windows: Windows, config: Config) -> list[Lesson]:
    """Return the lesson of what each step pursued, and in hindsight of what it led to."""

    def lesson(where: np.ndarray, goal: np.ndarray) -> Lesson:
        is_stray = (windows.milestone != goal) & (windows.milestone != NONE)
        penalty = config.step_penalty + config.stray_penalty * is_stray
        return Lesson(where, goal, (windows.milestone == goal) - penalty)

    lessons = [lesson(windows.is_valid, windows.subtask)]
    if config.use_hindsight:
        is_other = (windows.hindsight != NONE) & (windows.hindsight != windows.subtask)
        lessons.append(lesson(windows.is_valid & is_other, windows.hindsight))
    return lessons


class Controller:
    """Q(s, a; g), which acts and learns."""

    KEPT = ("learner", "target")

    def __init__(
        self,
        config: Config,
        encoder: Encoder,
        num_goals: int,
        num_actions: int,
        discount: float,
        device: torch.device,
    ) -> None:
        self.config = config
        self.encoder = encoder
        self.device = device
        self.num_actions = num_actions
        self.discount = discount
        network = encoder.goal_values(config.width, num_goals, num_actions)
        self.learner = Learner(network.to(device), config, config.learning_rate)
        every = max(config.target_every // config.update_every, 1)
        self.target = Target(self.learner.network, config.target_rate, every)

    def acting(self, is_averaged: bool) -> torch.nn.Module:
        """Return the network that acts: the target, an average of the past, or the present one."""
        return self.target.network if is_averaged else self.learner.network

    @torch.no_grad()
    def act(
        self,
        obs: Obs,
        goals: np.ndarray,
        epsilon: float | np.ndarray,
        rng: np.random.Generator,
        is_averaged: bool = False,
    ) -> np.ndarray:
        """Return actions for these goals, epsilon-greedily; by the target network if averaged."""
        network = self.acting(is_averaged)
        features = self.encoder(obs, self.device)
        values = network(features, torch.from_numpy(goals).to(self.device))
        greedy = values.argmax(dim=1).cpu().numpy()
        anything = rng.integers(self.num_actions, size=greedy.size)
        return np.where(rng.random(greedy.size) < epsilon, anything, greedy)

    def update(self, replay: Replay, teach: Teach, num_steps: int) -> dict[str, float]:
        """Train once, on windows that are drawn by priority or around milestones."""
        config = self.config
        if config.prioritised:
            beta = config.beta(num_steps)
            windows = replay.draw_prioritised(config.batch_windows, beta)
        else:
            windows = replay.draw_windows(config.batch_windows, config.window, config.event_share)
        lessons = teach(windows)
        # With n-step returns, only a window's first step has n steps ahead.
        is_trained = np.arange(config.window) < config.trained_steps
        places = [np.nonzero(lesson.where & is_trained) for lesson in lessons]
        row, step = (np.concatenate(part) for part in zip(*places, strict=True))
        goal = np.concatenate([one.goal[at] for one, at in zip(lessons, places, strict=True)])
        returns = torch.from_numpy(self._returns(windows, lessons, places)).to(self.device)
        values = self._values(self.learner.network, windows, row, step, goal)
        action = torch.from_numpy(windows.action[row, step]).to(self.device)
        chosen = values.gather(1, action[:, None])[:, 0]
        weight = torch.from_numpy(windows.weight[row]).to(self.device)
        loss = q_loss(chosen, returns, weight)
        norm = self.learner.descend(loss, num_steps)
        self.target.follow(self.learner.network)
        if replay.priorities is not None:
            errors = np.zeros(len(windows.slots))
            np.maximum.at(errors, row, (chosen.detach() - returns).abs().cpu().numpy())
            replay.priorities.update(windows.slots, errors)
        return {"loss/controller": loss.item(), "gradient/controller": norm}

    @torch.no_grad()
    def _returns(
        self,
        windows: Windows,
        lessons: list[Lesson],
        places: list[tuple[np.ndarray, ...]],
    ) -> np.ndarray:
        """Return what each lesson's trained steps were worth, (all of them,)."""
        needed = [np.nonzero(_bootstraps(windows, lesson, self.config.trace)) for lesson in lessons]
        row, step = (np.concatenate(part) for part in zip(*needed, strict=True))
        goal = np.concatenate([one.goal[at] for one, at in zip(lessons, needed, strict=True)])
        ahead = self._values(self.target.network, windows, row, step + 1, goal)
        judge = ahead
        if self.config.double_q:
            judge = self._values(self.learner.network, windows, row, step + 1, goal)
        values = ahead.gather(1, judge.argmax(dim=1, keepdim=True))[:, 0].cpu().numpy()
        returns = []
        for lesson, at, trained in zip(lessons, needed, places, strict=True):
            next_value = np.zeros(lesson.goal.shape)
            next_value[at], values = np.split(values, [at[0].size])
            found = lambda_returns(
                lesson.reward, windows.end, next_value, self.discount, self.config.trace
            )
            returns.append(found[trained].astype(np.float32))
        return np.concatenate(returns)

    def _values(
        self,
        network: torch.nn.Module,
        windows: Windows,
        row: np.ndarray,
        step: np.ndarray,
        goal: np.ndarray,
    ) -> Tensor:
        features = self.encoder(pick(windows.obs, row, step), self.device)
        values: Tensor = network(features, torch.from_numpy(goal).to(self.device))
        return values


def _bootstraps(windows: Windows, lesson: Lesson, trace: float) -> np.ndarray:
    """Tell where a return needs the value of the next state."""
    is_last = np.arange(lesson.goal.shape[1]) == lesson.goal.shape[1] - 1
    needs = (windows.end == CUT) | ((windows.end == CONTINUES) & (is_last | (trace < 1)))
    is_there: np.ndarray = lesson.where & needs
    return is_there
