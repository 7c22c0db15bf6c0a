"""The paper's networks: convolutions over a view's codes, a head per goal."""

import numpy as np
import torch
from torch import Tensor, nn

from hal.agent.networks.cells import counts_of, numbers_of
from hal.agent.networks.codes import CodeConv
from hal.agent.networks.encoder import Features, Layout
from hal.agent.networks.heads import dueling
from hal.envs.observations import Obs, Part

CHANNELS = (32, 64)
KERNELS = (5, 3)


class PlaneEncoder:
    """Leaves a grid's cell codes, each a plane of zeros and ones, and counts as they are."""

    shares_torso = True

    def __init__(self, parts: tuple[Part, ...], background: np.ndarray) -> None:
        self.layout = Layout(parts)
        self.background = background
        shapes = [
            part.channels_last(np.empty((1, *part.shape))).shape for part in self.layout.cells.parts
        ]
        fewest = sum(KERNELS) - len(KERNELS) + 1
        self.grid = shapes[0][1:3] if len(shapes) == 1 else ()
        if len(self.grid) < 2 or min(self.grid) < fewest or self.layout.picture is not None:
            has = ", ".join(f"{part.name!r} {part.shape}" for part in parts)
            legal = f"one grid of cells, sides from {fewest} on, and no pixels"
            raise ValueError(f"torso 'convolution' with observations {has}; legal: {legal}")

    def __call__(self, obs: Obs, device: torch.device) -> Features:
        """Encode a batch of observations."""
        codes = self.layout.cells.codes(obs).astype(np.int64)  # (batch, cells of all channels)
        grid = torch.from_numpy(codes.reshape(len(codes), *self.grid, -1)).to(device)
        counts = [counts_of(obs, self.layout.parts), numbers_of(obs, self.layout.parts)]
        numbers = torch.from_numpy(np.concatenate(counts, axis=1)).to(device)
        return grid, numbers.float()

    def torso(self, hidden_size: int, count_scale: float = 1.0) -> nn.Module:
        """Return a `ConvTorso`."""
        return ConvTorso(self, hidden_size, count_scale)

    def goal_values(self, hidden_size: int, num_goals: int, num_actions: int) -> nn.Module:
        """Return a `HeadsQ`."""
        return HeadsQ(self, hidden_size, num_goals, num_actions)


class ConvTorso(nn.Module):
    """Two convolutions of the view and a layer of the counts, joined by a layer."""

    def __init__(self, encoder: PlaneEncoder, hidden_size: int, count_scale: float = 1.0) -> None:
        super().__init__()
        first, second = CHANNELS
        num_codes = encoder.layout.cells.parts[0].num_codes
        height, breadth = (side - sum(KERNELS) + len(KERNELS) for side in encoder.grid)
        self.view = nn.Sequential(
            CodeConv(num_codes, first, KERNELS[0], encoder.background),
            nn.ReLU(),
            nn.Conv2d(first, second, KERNELS[1]),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(second * height * breadth, hidden_size),
            nn.ReLU(),
        )
        num_counts = encoder.layout.num_counts + encoder.layout.num_numbers
        has_counts = num_counts > 0
        self.counts = (
            nn.Sequential(nn.Linear(num_counts, hidden_size), nn.ReLU()) if has_counts else None
        )
        self.count_scale = count_scale
        self.join = nn.Sequential(nn.Linear((1 + has_counts) * hidden_size, hidden_size), nn.ReLU())

    def forward(self, features: Features) -> Tensor:
        """Return (batch, hidden_size)."""
        codes, counts = features
        seen = [self.view(codes)]
        if self.counts is not None:
            seen.append(self.counts(counts) * self.count_scale)
        joined: Tensor = self.join(torch.cat(seen, dim=1))
        return joined


class HeadsQ(nn.Module):
    """Action values Q_g(s, a): a shared body, a dueling head per goal."""

    def __init__(
        self, encoder: PlaneEncoder, hidden_size: int, num_goals: int, num_actions: int
    ) -> None:
        super().__init__()
        self.torso = encoder.torso(hidden_size)
        self.num_goals = num_goals
        self.out = nn.Linear(hidden_size, num_goals * (1 + num_actions))

    def forward(self, features: Features, goals: Tensor, owners: Tensor | None = None) -> Tensor:
        """Return values (goals, actions): each goal's of its owner, one of the observations.

        Without owners, there is one goal per observation.
        """
        if owners is None:
            owners = torch.arange(len(goals), device=goals.device)
        heads = self.out(self.torso(features)).view(len(features[0]) * self.num_goals, -1)
        return dueling(heads.index_select(0, owners * self.num_goals + goals))
