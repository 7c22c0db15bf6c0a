"""The controller: actions that pursue a subtask, by Q-learning on windows of steps (Eq. 1)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hal.agent.losses import lambda_returns, q_loss
from hal.agent.networks.encoder import Encoder
from hal.agent.networks.learning import Learner, Target
from hal.agent.options import NONE
from hal.agent.replay.steps import CONTINUES, CUT, ENDS, Windows
from hal.agent.schedules import Progress
from hal.config.settings import ControllerSettings, NetworkSettings
from hal.envs.observations import Obs, pick


class Lesson(NamedTuple):
    """What to learn from windows of steps, (batch, length) each."""

    where: np.ndarray  # which steps are trained
    goal: np.ndarray  # for which goal
    reward: np.ndarray  # what that goal gets for the step
    end: np.ndarray  # how the step ended what it is a part of


Teach = Callable[[Windows], list[Lesson]]


def subtask_lessons(
    windows: Windows, settings: ControllerSettings, num_milestones: int
) -> list[Lesson]:
    """Return the lesson of what each step pursued, and in hindsight of what it led to.

    The reward is b_g of Eq. 1, less penalties; hindsight is the paper's Sect. 7.2.
    """

    def lesson(where: np.ndarray, goal: np.ndarray) -> Lesson:
        is_stray = (windows.milestone != goal) & (windows.milestone != NONE)
        penalty = settings.step_penalty + settings.stray_penalty * is_stray
        return Lesson(where, goal, (windows.milestone == goal) - penalty, windows.end)

    lessons = [lesson(windows.is_valid & (windows.subtask < num_milestones), windows.subtask)]
    if settings.use_hindsight:
        is_other = (windows.hindsight != NONE) & (windows.hindsight != windows.subtask)
        lessons.append(lesson(windows.is_valid & is_other, windows.hindsight))
    return lessons


class Controller:
    """Q_c(s, a; g), which acts and learns (Sect. 5)."""

    KEPT = ("learner", "target")

    def __init__(
        self,
        settings: ControllerSettings,
        networks: NetworkSettings,
        encoder: Encoder,
        sizes: tuple[int, int],
        discount: float,
        device: torch.device,
    ) -> None:
        self.settings = settings
        self.encoder = encoder
        self.device = device
        num_goals, self.num_actions = sizes
        self.discount = discount
        network = encoder.goal_values(settings.hidden_size, num_goals, self.num_actions)
        self.learner = Learner(network.to(device), networks, settings.learning_rate)
        self.target = Target(self.learner.network, networks, settings.every)

    @property
    def judged(self) -> torch.nn.Module:
        """The network that acts in evaluations: the target, an average of the past, or the present.

        Training acts by the present one.
        """
        return self.target.network if self.settings.average_actions else self.learner.network

    @torch.no_grad()
    def act(
        self,
        obs: Obs,
        goals: np.ndarray,
        epsilon: float | np.ndarray,
        rng: np.random.Generator,
        is_judged: bool = False,
    ) -> np.ndarray:
        """Return actions for these goals, epsilon-greedily (Alg. 1, lines 23 to 25).

        By the judged network, if it is to be judged.
        """
        network = self.judged if is_judged else self.learner.network
        features = self.encoder(obs, self.device)
        values = network(features, torch.from_numpy(goals).to(self.device))
        greedy = values.argmax(dim=1).cpu().numpy()
        anything = rng.integers(self.num_actions, size=greedy.size)
        return np.where(rng.random(greedy.size) < epsilon, anything, greedy)

    def update(
        self, windows: Windows, lessons: list[Lesson], progress: Progress
    ) -> tuple[dict[str, float], np.ndarray]:
        """Train once (Eq. 1); return metrics and the largest error in each window, (batch,)."""
        # With n-step returns, only a window's first step has n steps ahead.
        is_trained = np.arange(windows.action.shape[1]) < self.settings.trained_steps
        places = [np.nonzero(lesson.where & is_trained) for lesson in lessons]
        row, step = (np.concatenate(part) for part in zip(*places, strict=True))
        errors = np.zeros(len(windows.slots))
        if not row.size:  # episodes of a step each, and all windows begin between two
            return {}, errors
        goal = np.concatenate([one.goal[at] for one, at in zip(lessons, places, strict=True)])
        returns = torch.from_numpy(self._returns(windows, lessons, places)).to(self.device)
        values = self._values(self.learner.network, windows, row, step, goal)
        action = torch.from_numpy(windows.action[row, step]).to(self.device)
        chosen = values.gather(1, action[:, None])[:, 0]
        weight = torch.from_numpy(windows.weight[row]).to(self.device)
        loss = q_loss(chosen, returns, weight)
        norm = self.learner.descend(loss, progress)
        self.target.follow(self.learner.network)
        np.maximum.at(errors, row, (chosen.detach() - returns).abs().cpu().numpy())
        return {"loss/controller": loss.item(), "gradient/controller": norm}, errors

    @torch.no_grad()
    def _returns(
        self,
        windows: Windows,
        lessons: list[Lesson],
        places: list[tuple[np.ndarray, ...]],
    ) -> np.ndarray:
        """Return what each lesson's trained steps were worth, (all of them,): the targets of Eq. 1.

        Its maximum over the next actions is the target network's, or with double Q what that says
        of the action that the present network takes for the best.
        """
        needed = [np.nonzero(_bootstraps(lesson, self.settings)) for lesson in lessons]
        row, step = (np.concatenate(part) for part in zip(*needed, strict=True))
        goal = np.concatenate([one.goal[at] for one, at in zip(lessons, needed, strict=True)])
        ahead = self._values(self.target.network, windows, row, step + 1, goal)
        judge = ahead
        if self.settings.double_q:
            judge = self._values(self.learner.network, windows, row, step + 1, goal)
        values = ahead.gather(1, judge.argmax(dim=1, keepdim=True))[:, 0].cpu().numpy()
        returns = []
        for lesson, at, trained in zip(lessons, needed, places, strict=True):
            next_value = np.zeros(lesson.goal.shape)
            next_value[at], values = np.split(values, [at[0].size])
            found = lambda_returns(
                lesson.reward,
                lesson.end == CONTINUES,
                lesson.end != ENDS,
                next_value,
                self.discount,
                self.settings.td_lambda,
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
        """Return values (places, actions); an observation of several goals is looked at once."""
        if not row.size:  # all windows' first options end for good
            return torch.zeros(0, self.num_actions, device=self.device)
        goals = [goal]
        if self.encoder.shares_torso:
            length = windows.action.shape[1] + 1
            places, owners = np.unique(row * length + step, return_inverse=True)
            row, step = np.divmod(places, length)
            goals.append(owners)
        features = self.encoder(pick(windows.obs, row, step), self.device)
        values: Tensor = network(features, *(torch.from_numpy(g).to(self.device) for g in goals))
        return values


def _bootstraps(lesson: Lesson, settings: ControllerSettings) -> np.ndarray:
    """Tell where the return of a trained step needs the value of the next state."""
    is_last = np.arange(lesson.goal.shape[1]) == lesson.goal.shape[1] - 1
    continues = lesson.end == CONTINUES
    needs = (lesson.end == CUT) | (continues & (is_last | (settings.td_lambda < 1)))
    # What is after the last trained step counts for it until its option ends.
    last = settings.trained_steps - 1
    needs[:, last + 1 :] &= np.logical_and.accumulate(continues[:, last:-1], axis=1)
    is_there: np.ndarray = lesson.where & needs
    return is_there
