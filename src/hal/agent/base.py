"""What both agents have: a controller, its replay, counts of steps, metrics, weights."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch

from hal.agent.controller import Controller, Teach
from hal.agent.metrics import EpisodeStats, Tally
from hal.agent.networks.encoder import Encoder
from hal.agent.networks.learning import device_of
from hal.agent.networks.weights import load_named, named
from hal.agent.replay.steps import Windows, make_replay
from hal.agent.schedules import Progress, importance, is_due
from hal.config.settings import Config
from hal.envs.observations import Obs

Info = dict[str, Any]


class EnvFacts(NamedTuple):
    """What an agent knows of its environment beside the observations."""

    num_actions: int
    milestones: tuple[str, ...]
    final: int  # which milestone is the task's; NONE if there is no task
    columns: tuple[int, ...]  # of the environment's own signals, a milestone each
    first_action: int = 0  # the environment's own number for the agent's action 0


class BaseAgent:
    """Everything that does not depend on how goals are chosen."""

    KEPT: ClassVar[tuple[str, ...]] = (
        "controller",
        "replay",
        "is_resetting",
        "num_steps",
        "num_vector_steps",
        "tally",
        "episodes",
        "_act_rng",
    )

    def __init__(
        self,
        config: Config,
        encoder: Encoder,
        num_goals: int,
        discount: float,
        facts: EnvFacts,
    ) -> None:
        self.config = config
        self.milestones = milestones = facts.milestones
        self.facts = facts
        self.device = device_of(config.device)
        torch.manual_seed(config.seed)
        self._streams = np.random.SeedSequence(config.seed)
        self._act_rng, replay_rng = map(np.random.default_rng, self._streams.spawn(2))
        self.controller = Controller(
            config.controller,
            config.networks,
            encoder,
            (num_goals, facts.num_actions),
            discount,
            self.device,
        )
        num_lanes = config.environment.num_envs
        self.replay = make_replay(
            config.replay, num_lanes, encoder.layout, len(milestones), replay_rng
        )
        self.is_resetting = np.zeros(num_lanes, dtype=np.bool_)  # the next step only resets
        self.num_steps, self.num_vector_steps = 0, 0
        self.tally = Tally()
        self.episodes = EpisodeStats(num_lanes, milestones, facts.final)

    @property
    def num_updates(self) -> int:
        """How often the controller was trained."""
        return self.controller.target.num_updates

    @property
    def has_collected(self) -> bool:
        """Whether any milestone was ever collected."""
        return bool(self.replay.events.counts.any())

    @property
    def progress(self) -> Progress:
        """How far the run has come."""
        return Progress(self.num_steps, self.config.steps)

    @property
    def beta(self) -> float:
        """The exponent of importance weights."""
        return importance(self.config.replay.importance, self.config.exploration, self.progress)

    def is_due(self, every: int) -> bool:
        """Tell whether so many environment steps have passed, to a step of all lanes."""
        return is_due(every, self.config.environment.num_envs, self.num_vector_steps)

    def can_learn(self) -> bool:
        """Tell whether there is enough experience to begin."""
        replay = self.config.replay
        return self.num_steps >= replay.warmup_steps and self.replay.has_window(replay.window)

    def pursue(
        self,
        obs: Obs,
        subtask: np.ndarray,
        epsilon: float | np.ndarray,
        rng: np.random.Generator,
        is_judged: bool = False,
    ) -> np.ndarray:
        """Return actions that pursue these subtasks, epsilon-greedily."""
        return self.controller.act(obs, subtask, epsilon, rng, is_judged)

    def count_steps(self, is_valid: np.ndarray) -> None:
        """Count a step of all lanes, but for those that only reset."""
        self.num_steps += int(is_valid.sum())
        self.num_vector_steps += 1

    def draw_windows(self) -> Windows:
        """Draw windows of steps to learn from."""
        return self.replay.draw(self.config.replay, self.beta)

    def train_controller(self, teach: Teach) -> None:
        """Train the controller once, on windows of steps."""
        windows = self.draw_windows()
        metrics, errors = self.controller.update(windows, teach(windows), self.progress)
        self.replay.note_errors(windows, errors)
        self.tally.add_all(metrics)

    def abandon(self) -> None:
        """Give up all episodes: the next step only begins new ones."""
        self.replay.cut()
        self.is_resetting[:] = True
        self.episodes.begin(np.arange(self.is_resetting.size))

    def weights(self) -> dict[str, torch.Tensor]:
        """Return everything that acting in an evaluation needs."""
        return {
            "background": torch.from_numpy(self.controller.encoder.background),
            **named("controller", self.controller.judged),
        }

    def load_weights(self, tensors: dict[str, torch.Tensor]) -> None:
        """Set what `weights` returned."""
        load_named("controller", self.controller.judged, tensors)
