"""The paper's networks: convolutions over one-hot planes, a head per goal."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (the field's habit)

from hal.agent.networks import Encoder, Features, Obs, dueling

CHANNELS = (32, 64)
KERNELS = (5, 3)


class PlaneEncoder(Encoder):
    """Turns cell codes into one-hot planes, and leaves counts as they are."""

    def __call__(self, obs: Obs, device: torch.device) -> Features:
        """Encode a batch of observations."""
        codes = torch.from_numpy(obs["image"]).to(device).long()
        planes = F.one_hot(codes, self.num_codes).permute(0, 3, 1, 2).float()
        return planes, torch.from_numpy(obs["inventory"]).to(device).float()

    def torso(self, width: int, count_scale: float = 1.0) -> nn.Module:
        """Return a `ConvTorso`."""
        return ConvTorso(self, width, count_scale)

    def goal_values(self, width: int, num_goals: int, num_actions: int) -> nn.Module:
        """Return a `HeadsQ`."""
        return HeadsQ(self, width, num_goals, num_actions)


class ConvTorso(nn.Module):
    """Two convolutions of the view and a layer of the counts, joined by a layer."""

    def __init__(self, encoder: PlaneEncoder, width: int, count_scale: float = 1.0) -> None:
        super().__init__()
        first, second = CHANNELS
        height, breadth = (side - sum(KERNELS) + len(KERNELS) for side in encoder.view)
        self.view = nn.Sequential(
            nn.Conv2d(encoder.num_codes, first, KERNELS[0]),
            nn.ReLU(),
            nn.Conv2d(first, second, KERNELS[1]),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(second * height * breadth, width),
            nn.ReLU(),
        )
        self.counts = nn.Sequential(nn.Linear(encoder.num_counts, width), nn.ReLU())
        self.count_scale = count_scale
        self.join = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU())

    def forward(self, features: Features) -> Tensor:
        """Return (batch, width)."""
        planes, counts = features
        joined: Tensor = self.join(
            torch.cat([self.view(planes), self.counts(counts) * self.count_scale], dim=1)
        )
        return joined


class HeadsQ(nn.Module):
    """Action values Q_g(s, a): a shared body, a dueling head per goal."""

    def __init__(self, encoder: PlaneEncoder, width: int, num_goals: int, num_actions: int) -> None:
        super().__init__()
        self.torso = encoder.torso(width)
        self.num_goals = num_goals
        self.out = nn.Linear(width, num_goals * (1 + num_actions))

    def forward(self, features: Features, goals: Tensor) -> Tensor:
        """Return values (batch, actions) of one goal per observation."""
        heads = self.out(self.torso(features)).unflatten(1, (self.num_goals, -1))
        return dueling(heads[torch.arange(len(goals), device=goals.device), goals])
