"""The whole task as one more subtask: a flat policy beside the subpolicies, always possible.

Some stints are led by it, some by the meta-controller; whose stints bring more leads most.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from hal.agent.choices import Beliefs
from hal.agent.controller import Controller, Lesson
from hal.agent.networks.encoder import Encoder
from hal.agent.networks.weights import load_named, named
from hal.agent.replay.steps import Windows
from hal.agent.schedules import Exploration, Progress
from hal.config.settings import ControllerSettings, NetworkSettings, OptionSettings
from hal.envs.observations import Obs, pick

TASK = "task"  # what the subtask is called
META, FLAT = 0, 1  # who leads an episode
STINT = 500  # steps, or until the episode ends
LATELY = 16  # stints of a leader
EARLY_SHARE = 0.25  # of the stints that the flat policy leads until it is known who is better
TRAILING_EVERY = 4  # updates of who leads for each of who trails


class TaskOption:
    """Q_task(s, a), and which lanes' episodes it leads."""

    KEPT = ("controller", "leader", "returns", "num_stints", "gain", "steps", "_rng")

    def __init__(
        self,
        options: OptionSettings,
        controller: ControllerSettings,
        networks: NetworkSettings,
        encoder: Encoder,
        sizes: tuple[int, int],
        seed: np.random.SeedSequence,
        device: torch.device,
    ) -> None:
        self.settings = options
        num_lanes, num_actions = sizes
        discount = controller.flat_discount
        self.controller = Controller(
            controller, networks, encoder, (1, num_actions), discount, device
        )
        self.returns = np.zeros(2)  # of the stints that each has led, lately
        self.num_stints = np.zeros(2, dtype=np.int64)
        self.gain = np.zeros(num_lanes)  # in the present stints
        self.steps = np.zeros(num_lanes, dtype=np.int64)
        self._rng = np.random.default_rng(seed)
        self.leader = self._draw(num_lanes)

    @property
    def better(self) -> int:
        """Whose episodes bring more."""
        return int(self.returns.argmax())

    @property
    def is_early(self) -> bool:
        """Whether there are not yet enough stints of both to tell who is better."""
        return bool(self.num_stints.min() < LATELY)

    def pace(self, leader: int) -> int:
        """Return how many updates of who leads there are for each of this leader's."""
        return 1 if self.is_early or leader == self.better else TRAILING_EVERY

    def _draw(self, num_lanes: int) -> np.ndarray:
        """Draw leaders: mostly the better one, once there are enough stints of both."""
        draw = self._rng.random(num_lanes)
        if self.is_early:
            return np.where(draw < EARLY_SHARE, FLAT, META)
        return np.where(draw < self.settings.trailing_share, 1 - self.better, self.better)

    def dense(self, reward: np.ndarray, is_first: np.ndarray) -> np.ndarray:
        """Return what the flat policy learns by: the reward, and 1/K for each milestone's first.

        Args:
            reward: (lanes,) the environment's.
            is_first: (lanes, K) what was collected for the first time in its episode.
        """
        return reward + is_first.mean(axis=1)

    def observe(self, reward: np.ndarray, is_valid: np.ndarray, is_done: np.ndarray) -> None:
        """Count a step; where a stint ends, take what it has brought and draw the next leader."""
        self.gain += np.where(is_valid, np.maximum(reward, 0.0), 0.0)
        self.steps += is_valid
        lanes = np.flatnonzero(is_done | (self.steps >= STINT))
        for leader, gain in zip(self.leader[lanes], self.gain[lanes], strict=True):
            self.num_stints[leader] += 1
            rate = 1 / min(self.num_stints[leader], LATELY)
            self.returns[leader] += rate * (gain - self.returns[leader])
        self.gain[lanes], self.steps[lanes] = 0.0, 0
        self.leader[lanes] = self._draw(lanes.size)

    def exploration(self, explore: Exploration, leader: np.ndarray) -> Exploration:
        """Return the shares of random subtasks: few where the flat policy leads."""
        is_led = leader == FLAT
        share = self.settings.task_epsilon / 2
        return replace(
            explore,
            meta=np.where(is_led, share, explore.meta),
            mask=np.where(is_led, share, explore.mask),
        )

    def led(
        self, beliefs: Beliefs, failed: np.ndarray, leader: np.ndarray | None
    ) -> tuple[Beliefs, np.ndarray]:
        """Where the flat policy leads, nothing is better, also if it has just timed out.

        Without leaders, the better one leads.
        """
        leader = np.full(len(failed), self.better) if leader is None else leader
        values = beliefs.values.copy()
        values[leader == FLAT, -1] = np.inf
        return beliefs._replace(values=values), failed & (leader == META)[:, np.newaxis]

    def act_with(
        self,
        controller: Controller,
        at_task: np.ndarray,
        obs: Obs,
        subtask: np.ndarray,
        epsilon: float | np.ndarray,
        rng: np.random.Generator,
        is_judged: bool,
    ) -> np.ndarray:
        """Return actions: by the flat policy where the task is pursued, else by the controller."""
        actions = np.zeros(subtask.size, dtype=np.int64)
        epsilon = np.broadcast_to(epsilon, subtask.shape)
        for actor, where, goals in (
            (controller, ~at_task, subtask),
            (self.controller, at_task, np.zeros_like(subtask)),
        ):
            lanes = np.flatnonzero(where)
            if lanes.size:
                of_lanes = (pick(obs, lanes), goals[lanes], epsilon[lanes])
                actions[lanes] = actor.act(*of_lanes, rng, is_judged)
        return actions

    def update(self, windows: Windows, progress: Progress) -> dict[str, float]:
        """Train once: by the environment's reward, to the episode's end."""
        metrics, _ = self.controller.update(windows, self.lessons(windows), progress)
        return {f"{name}/task": value for name, value in metrics.items()}

    def lessons(self, windows: Windows) -> list[Lesson]:
        """Return the lesson of all steps: the task's returns go on beyond the ends of options."""
        task = np.zeros(windows.action.shape, dtype=np.int64)
        return [Lesson(windows.is_valid, task, windows.reward, windows.episode_end)]

    def weights(self) -> dict[str, Tensor]:
        """Return everything that acting in an evaluation needs."""
        returns = torch.from_numpy(self.returns)
        return {"returns": returns, **named("task", self.controller.judged)}

    def load_weights(self, tensors: dict[str, Tensor]) -> None:
        """Set what `weights` returned."""
        self.returns[:] = tensors["returns"].numpy()
        load_named("task", self.controller.judged, tensors)
