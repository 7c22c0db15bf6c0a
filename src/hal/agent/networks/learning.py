"""How networks are trained: descent, targets, and where."""

import copy
import math

import torch
from torch import Tensor, nn

from hal.agent.schedules import Progress, between
from hal.config.settings import NetworkSettings
from hal.errors import DivergedError


class Learner:
    """A network and how it is trained: Adam, a decaying rate, bounded gradients."""

    KEPT = ("network", "optimizer")

    def __init__(self, network: nn.Module, settings: NetworkSettings, rate: float) -> None:
        self.network = network
        self.settings = settings
        self.rate = rate
        self.optimizer = torch.optim.Adam(
            network.parameters(),
            lr=rate,
            eps=settings.adam_eps,
            weight_decay=settings.weight_decay,
            fused=True,
        )

    def descend(self, loss: Tensor, progress: Progress) -> float:
        """Take one step down a loss; return the gradient's norm before it was bounded."""
        share = between((1.0, self.settings.final_rate_share), progress.share)
        self.optimizer.param_groups[0]["lr"] = self.rate * share
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        most = self.settings.max_grad_norm
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), most).item()
        if not math.isfinite(norm):
            what = f"learning diverged after {progress.num_steps:,} steps: a gradient is {norm}"
            raise DivergedError(f"{what}; smaller learning rates or rewards may help")
        self.optimizer.step()
        return norm


class Target:
    """A network that follows another one: a bit at every update, or all the way now and then."""

    KEPT = ("network", "num_updates")

    def __init__(self, network: nn.Module, settings: NetworkSettings, update_every: int) -> None:
        self.network = copy.deepcopy(network).requires_grad_(False)
        self.rate = settings.target_rate
        self.every = max(settings.target_every // update_every, 1)  # updates
        self.num_updates = 0

    @torch.no_grad()
    def follow(self, network: nn.Module) -> None:
        """Count an update of the network, and move towards it when it is time."""
        self.num_updates += 1
        if self.num_updates % self.every == 0:
            for slow, fast in zip(self.network.parameters(), network.parameters(), strict=True):
                slow.lerp_(fast, self.rate)


def device_of(name: str) -> torch.device:
    """Return the device of this name; "auto" is a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device 'cuda': there is none here; legal: cpu, auto")
    return torch.device(name)
