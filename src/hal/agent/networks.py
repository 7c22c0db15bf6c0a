"""What all networks share: what an encoder offers, values of subtasks, the context, descent.

Nothing here knows an environment: only parts of observations and numbers of choices.
"""

import copy
import math
from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor, nn

from hal.config import Config, between
from hal.errors import DivergedError
from hal.observations import Cells, Obs, Part, size_of

Features = tuple[Tensor, ...]  # an encoder's own


class Encoder(ABC):
    """Turns observations into features, and makes the networks that read these."""

    def __init__(self, parts: tuple[Part, ...], background: np.ndarray) -> None:
        self.parts = parts
        self.cells = Cells(parts)
        self.background = background  # the code that most cells have, by channel
        self.num_counts = size_of(parts, "counts")
        self.num_numbers = size_of(parts, "numbers")
        self.picture = next((part for part in parts if part.kind == "pixels"), None)

    def blank(self, *shape: int) -> Obs:
        """Return room for observations."""
        return {part.name: np.zeros((*shape, *part.shape), dtype=part.dtype) for part in self.parts}

    def pixels(self, obs: Obs) -> np.ndarray:
        """Return a batch's pictures, (batch, c, h, w); an empty array where there are none."""
        if self.picture is None:
            return np.zeros(0, dtype=np.uint8)
        pictures = self.picture.channels_last(obs[self.picture.name])
        return np.ascontiguousarray(np.moveaxis(pictures, -1, 1))

    @abstractmethod
    def __call__(self, obs: Obs, device: torch.device) -> Features:
        """Encode a batch of observations."""

    @abstractmethod
    def torso(self, width: int, count_scale: float = 1.0) -> nn.Module:
        """Return a network from features to (batch, width)."""

    @abstractmethod
    def goal_values(self, width: int, num_goals: int, num_actions: int) -> nn.Module:
        """Return a network from features and goals (batch,) to values (batch, actions)."""


def dueling(out: Tensor) -> Tensor:
    """Join a value and advantages (batch, 1 + n) to values (batch, n)."""
    value, advantage = out[:, :1], out[:, 1:]
    return value + advantage - advantage.mean(dim=1, keepdim=True)


class DuelingValues(nn.Module):
    """Values of n choices, (batch, n)."""

    def __init__(self, encoder: Encoder, width: int, num_choices: int) -> None:
        super().__init__()
        self.torso = encoder.torso(width)
        self.out = nn.Linear(width, 1 + num_choices)

    def forward(self, features: Features) -> Tensor:
        """Return values (batch, choices)."""
        return dueling(self.out(self.torso(features)))


class Context(nn.Module):
    """The context embedding z(s) and the affordance classifier f."""

    def __init__(self, config: Config, encoder: Encoder, num_milestones: int) -> None:
        super().__init__()
        width, scale = config.context_width, config.count_scale
        self.torso = encoder.torso(width, scale)
        self.embed = nn.Linear(width, config.context_size)
        self.reads_context = config.classify_context
        self.tunes_context = config.tune_context
        # Without the context as its input, the classifier has a body of its own.
        self.raw = None if self.reads_context else encoder.torso(width, scale)
        inputs = config.context_size if self.reads_context else width
        self.classify = nn.Linear(inputs, num_milestones)

    def forward(self, features: Features) -> Tensor:
        """Return contexts (batch, size)."""
        context: Tensor = self.embed(self.torso(features))
        return context

    def logits(self, features: Features, contexts: Tensor) -> Tensor:
        """Return the classifier's outputs (batch, K) for states and their contexts."""
        if self.raw is not None:
            inputs = self.raw(features)
        else:
            inputs = contexts if self.tunes_context else contexts.detach()
        logits: Tensor = self.classify(inputs)
        return logits


class Learner:
    """A network and how it is trained: Adam, a decaying rate, bounded gradients."""

    KEPT = ("network", "optimizer")

    def __init__(self, network: nn.Module, config: Config, rate: float) -> None:
        self.network = network
        self.config = config
        self.rate = rate
        self.optimizer = torch.optim.Adam(
            network.parameters(),
            lr=rate,
            eps=config.adam_eps,
            weight_decay=config.weight_decay,
            fused=True,
        )

    def descend(self, loss: Tensor, num_steps: int) -> float:
        """Take one step down a loss; return the gradient's norm before it was bounded."""
        config = self.config
        share = between((1.0, config.final_rate_share), num_steps / config.steps)
        self.optimizer.param_groups[0]["lr"] = self.rate * share
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), config.clip).item()
        if not math.isfinite(norm):
            what = f"learning diverged after {num_steps:,} steps: a gradient is {norm}"
            raise DivergedError(f"{what}; smaller learning rates or rewards may help")
        self.optimizer.step()
        return norm


class Target:
    """A network that follows another one: a bit at every update, or all the way now and then."""

    KEPT = ("network", "num_updates")

    def __init__(self, network: nn.Module, rate: float, every: int) -> None:
        self.network = copy.deepcopy(network).requires_grad_(False)
        self.rate = rate
        self.every = every
        self.num_updates = 0

    @torch.no_grad()
    def follow(self, network: nn.Module) -> None:
        """Count an update of the network, and move towards it when it is time."""
        self.num_updates += 1
        if self.num_updates % self.every == 0:
            for slow, fast in zip(self.network.parameters(), network.parameters(), strict=True):
                slow.lerp_(fast, self.rate)


def named(prefix: str, network: nn.Module) -> dict[str, Tensor]:
    """Return a network's weights, their names under a prefix."""
    return {f"{prefix}.{name}": tensor for name, tensor in network.state_dict().items()}


def load_named(prefix: str, network: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Set a network's weights from those under a prefix."""
    network.load_state_dict(below(prefix, tensors))


def below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors under a prefix, by the rest of their names."""
    start = f"{prefix}."
    return {name[len(start) :]: t for name, t in tensors.items() if name.startswith(start)}


def device_of(name: str) -> torch.device:
    """Return the device of this name; "auto" is a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device 'cuda': there is none here; legal: cpu, auto")
    return torch.device(name)
