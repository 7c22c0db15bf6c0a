"""What both agents have: a controller, its replay, counts of steps, metrics, weights."""

from typing import ClassVar, NamedTuple

import numpy as np
import torch

from hal.agent.controller import Controller
from hal.agent.networks import Encoder, device_of, load_named, named
from hal.agent.replay import make_replay
from hal.config import Config
from hal.log import EpisodeStats, Tally


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
        self.final = facts.final
        self.device = device_of(config.device)
        torch.manual_seed(config.seed)
        self._streams = np.random.SeedSequence(config.seed)
        self._act_rng, replay_rng = map(np.random.default_rng, self._streams.spawn(2))
        self.controller = Controller(
            config, encoder, num_goals, facts.num_actions, discount, self.device
        )
        self.replay = make_replay(config, encoder, len(milestones), replay_rng)
        self.is_resetting = np.zeros(config.num_lanes, dtype=np.bool_)  # the next step only resets
        self.num_steps, self.num_vector_steps = 0, 0
        self.tally = Tally()
        self.episodes = EpisodeStats(config.num_lanes, milestones, facts.final)

    @property
    def num_updates(self) -> int:
        """How often the controller was trained."""
        return self.controller.target.num_updates

    def can_learn(self) -> bool:
        """Tell whether there is enough experience to begin."""
        config = self.config
        return self.num_steps >= config.warmup_steps and self.replay.has_window(config.window)

    def abandon(self) -> None:
        """Give up all episodes: the next step only begins new ones."""
        self.replay.cut()
        self.is_resetting[:] = True
        self.episodes.present[:] = 0.0

    def weights(self) -> dict[str, torch.Tensor]:
        """Return everything that acting in an evaluation needs."""
        return {
            "background": torch.from_numpy(self.controller.encoder.background),
            **named("controller", self.controller.acting(self.config.average_actions)),
        }

    def load_weights(self, tensors: dict[str, torch.Tensor]) -> None:
        """Set what `weights` returned."""
        load_named("controller", self.controller.acting(self.config.average_actions), tensors)
