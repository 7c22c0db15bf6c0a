"""The whole task as one more subtask: a flat policy beside the hierarchy, on the same replay.

Some stints are led by it, the others by the meta-controller: each as often as it is likely to be
the better one.
"""

import numpy as np
import torch
from scipy import special
from torch import Tensor

from hal.agent.controller import Controller, Lesson
from hal.agent.networks.encoder import Encoder
from hal.agent.networks.weights import load_named, named
from hal.agent.replay.steps import Windows
from hal.agent.schedules import Progress
from hal.config.settings import ControllerSettings, NetworkSettings, OptionSettings
from hal.envs.observations import Obs, pick

TASK = "task"  # what the subtask is called
META, FLAT = 0, 1  # who leads a stint
STINT = 500  # steps, or until the episode ends
PRIOR = 0.25  # chance that the flat policy is the better one, before anything is known
LATELY = 16  # stints of a leader
SETTLED = 160  # stints in which it did not change who is better
JUDGED_BY = ("returns", "spread", "num_stints")  # of each leader
TRAILING_EVERY = 4  # updates of who leads for each of who trails


class TaskOption:
    """Q_task(s, a), and which lanes' episodes it leads."""

    KEPT = (
        "controller",
        "leader",
        "returns",
        "spread",
        "num_stints",
        "held",
        "gain",
        "steps",
        "_rng",
    )

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
        self.spread = np.zeros(2)  # their variance
        self.num_stints = np.zeros(2, dtype=np.int64)
        self.held = np.zeros(2, dtype=np.int64)  # stints for which each has been the better one
        self.gain = np.zeros(num_lanes)  # in the present stints
        self.steps = np.zeros(num_lanes, dtype=np.int64)
        self._rng = np.random.default_rng(seed)
        self.leader = self._draw(num_lanes)

    @property
    def better(self) -> int:
        """Whose stints bring more."""
        return int(self.returns.argmax())

    @property
    def chance(self) -> float:
        """How likely the flat policy is the better one, by the means of their stints."""
        if self.num_stints.min() < LATELY:
            return PRIOR
        error = np.sqrt(self.spread.sum() / (2 * LATELY)) + 1e-9  # of means over as many stints
        likely = PRIOR * special.ndtr((self.returns[FLAT] - self.returns[META]) / error)
        unlikely = (1 - PRIOR) * special.ndtr((self.returns[META] - self.returns[FLAT]) / error)
        return float(likely / (likely + unlikely))

    def pace(self, leader: int) -> int:
        """Return how many updates of who leads there are for each of this leader's."""
        return TRAILING_EVERY if self.held[1 - leader] >= SETTLED else 1

    def _draw(self, num_lanes: int) -> np.ndarray:
        """Draw leaders: each as often as it is likely to be the better one, neither never."""
        least = self.settings.trailing_share
        share = np.clip(self.chance, least, 1 - least)
        return np.where(self._rng.random(num_lanes) < share, FLAT, META)

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
            surprise = gain - self.returns[leader]
            self.returns[leader] += rate * surprise
            self.spread[leader] += rate * ((1 - rate) * surprise**2 - self.spread[leader])
        self.held[self.better] += lanes.size
        self.held[1 - self.better] = 0
        self.gain[lanes], self.steps[lanes] = 0.0, 0
        self.leader[lanes] = self._draw(lanes.size)

    def led(self, subtasks: np.ndarray, leader: np.ndarray | None, task: int) -> np.ndarray:
        """Return the task where the flat policy leads, else what the meta-controller has chosen.

        Without leaders, in an evaluation, the better one leads.
        """
        return np.where((self.better if leader is None else leader) == FLAT, task, subtasks)

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
        kept = {name: torch.from_numpy(getattr(self, name)) for name in JUDGED_BY}
        return {**kept, **named("task", self.controller.judged)}

    def load_weights(self, tensors: dict[str, Tensor]) -> None:
        """Set what `weights` returned."""
        for name in JUDGED_BY:
            getattr(self, name)[:] = tensors[name].numpy()
        load_named("task", self.controller.judged, tensors)
