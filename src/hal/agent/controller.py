"""The controller: actions that pursue a subtask, learned by Q-learning on windows of steps."""

from typing import NamedTuple

import numpy as np
import torch

from hal.agent.bags import Bag
from hal.agent.losses import lambda_returns, q_loss
from hal.agent.networks import Encoder, GoalQ, descend, target_of, update_target
from hal.agent.replay import NONE, Obs, Windows
from hal.config import Config


class Lesson(NamedTuple):
    """What to learn from windows of steps, (batch, length) each."""

    where: np.ndarray  # which steps are trained
    goal: np.ndarray  # for which goal
    reward: np.ndarray  # what that goal gets for the step


def subtask_lessons(windows: Windows, use_hindsight: bool, penalty: float) -> list[Lesson]:
    """Return the lesson of what each step pursued, and in hindsight of what it led to."""

    def lesson(where: np.ndarray, goal: np.ndarray) -> Lesson:
        return Lesson(where, goal, (windows.milestone == goal) - penalty)

    lessons = [lesson(windows.is_valid, windows.subtask)]
    if use_hindsight:
        is_other = (windows.hindsight != NONE) & (windows.hindsight != windows.subtask)
        lessons.append(lesson(windows.is_valid & is_other, windows.hindsight))
    return lessons


class Controller:
    """Q(s, a; g) with its target network and optimiser."""

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
        self.network = GoalQ(encoder, config.width, num_goals, num_actions).to(device)
        self.target = target_of(self.network)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=config.learning_rate, fused=True
        )

    @torch.no_grad()
    def act(
        self, obs: Obs, goals: np.ndarray, epsilon: float, rng: np.random.Generator
    ) -> np.ndarray:
        """Return actions for these goals, epsilon-greedily."""
        bag = self.encoder(obs["image"], obs["inventory"], self.device)
        values = self.network(bag, torch.from_numpy(goals).to(self.device))
        greedy = values.argmax(dim=1).cpu().numpy()
        anything = rng.integers(self.num_actions, size=greedy.size)
        return np.where(rng.random(greedy.size) < epsilon, anything, greedy)

    def update(self, windows: Windows, lessons: list[Lesson]) -> dict[str, float]:
        """Train once on every step that some lesson teaches."""
        places = [np.nonzero(lesson.where) for lesson in lessons]
        row, step = (np.concatenate(part) for part in zip(*places, strict=True))
        pairs = list(zip(lessons, places, strict=True))
        goal = np.concatenate([lesson.goal[place] for lesson, place in pairs])
        goals = torch.from_numpy(goal).to(self.device)
        values = self.network(self._encode(windows, row, step), goals)
        with torch.no_grad():
            ahead = self.target(self._encode(windows, row, step + 1), goals)
            next_values = ahead.max(dim=1).values.cpu().numpy()
        returns = np.empty(row.size, dtype=np.float32)
        start = 0
        for lesson, place in pairs:
            mine = slice(start, start + place[0].size)
            next_value = np.zeros(lesson.goal.shape)
            next_value[place] = next_values[mine]
            returns[mine] = lambda_returns(
                lesson.reward, windows.end, next_value, self.discount, self.config.trace
            )[place]
            start = mine.stop
        action = torch.from_numpy(windows.action[row, step]).to(self.device)
        chosen = values.gather(1, action[:, None])[:, 0]
        loss = q_loss(chosen, torch.from_numpy(returns).to(self.device))
        norm = descend(loss, self.network, self.optimizer, self.config.clip)
        update_target(self.target, self.network, self.config.target_rate)
        return {"loss/controller": loss.item(), "gradient/controller": norm}

    def _encode(self, windows: Windows, row: np.ndarray, step: np.ndarray) -> Bag:
        return self.encoder(windows.image[row, step], windows.inventory[row, step], self.device)
