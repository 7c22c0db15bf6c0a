"""Networks that sum embeddings of what is in the view: small and fast on a CPU core."""

import numba
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (the field's habit)

from hal.agent.bags import Bag, bag_sum
from hal.agent.networks import Encoder, Obs, dueling

THERMOMETER = np.array([1, 2, 3, 4, 8])  # a count is read as "at least this many"


class BagEncoder(Encoder):
    """Turns cell codes and counts into a `Bag`.

    The background is no feature: leaving it out changes nothing
    that a bias cannot say, and makes bags much smaller.
    """

    def __init__(
        self, view: tuple[int, ...], num_codes: int, num_counts: int, background: int
    ) -> None:
        super().__init__(view, num_codes, num_counts, background)
        self.num_cells = int(np.prod(view))
        self.num_pairs = self.num_cells * num_codes
        self.num_thermometer = num_counts * THERMOMETER.size

    def torso(self, width: int, count_scale: float = 1.0) -> nn.Module:
        """Return a `BagTorso`."""
        return BagTorso(self, width, count_scale)

    def goal_values(self, width: int, num_goals: int, num_actions: int) -> nn.Module:
        """Return a `GoalQ`."""
        return GoalQ(self, width, num_goals, num_actions)

    def __call__(self, obs: Obs, device: torch.device) -> Bag:
        """Encode a batch of observations."""
        image, inventory = obs["image"], obs["inventory"]
        codes = image.reshape(len(image), -1)
        rows, owners, offsets = _features(codes, self.num_codes, self.background)
        counts = (inventory[:, :, np.newaxis] >= THERMOMETER).reshape(len(image), -1)
        arrays = (codes.astype(np.int64), rows, owners, offsets, counts.astype(np.float32))
        return Bag(*(torch.from_numpy(array).to(device) for array in arrays))


@numba.njit(cache=True)
def _features(
    codes: np.ndarray, num_codes: int, background: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = np.empty(codes.size, dtype=np.int64)
    owners = np.empty(codes.size, dtype=np.int64)
    offsets = np.empty(codes.shape[0], dtype=np.int64)
    size = 0
    for i in range(codes.shape[0]):
        offsets[i] = size
        for cell in range(codes.shape[1]):
            if codes[i, cell] != background:
                rows[size] = cell * num_codes + codes[i, cell]
                owners[size] = i
                size += 1
    return rows[:size], owners[:size], offsets


def _mix(width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU()
    )


class BagTorso(nn.Module):
    """Summed embeddings of cells and counts, then a layer."""

    def __init__(self, encoder: BagEncoder, width: int, count_scale: float = 1.0) -> None:
        super().__init__()
        self.cells = nn.Parameter(torch.randn(encoder.num_pairs, width) * 0.1)
        self.counts = nn.Linear(encoder.num_thermometer, width)
        self.count_scale = count_scale
        self.mix = _mix(width)

    def forward(self, bag: Bag) -> Tensor:
        """Return features (batch, width)."""
        cells = bag_sum(self.cells, bag)
        features: Tensor = self.mix(cells + self.count_scale * self.counts(bag.counts))
        return features


class GoalQ(nn.Module):
    """Action values Q(s, a; g) of one goal per observation.

    What a goal looks for differs from goal to goal, how to get there does not: a goal weighs the
    codes, the weighted cells say where it is, and the rest is shared by all goals.
    """

    def __init__(self, encoder: BagEncoder, width: int, num_goals: int, num_actions: int) -> None:
        super().__init__()
        self.cells = nn.Parameter(torch.randn(encoder.num_pairs, width) * 0.1)
        self.places = nn.Parameter(torch.randn(encoder.num_cells, width) * 0.5)
        self.interest = nn.Parameter(torch.randn(num_goals, encoder.num_codes) * 0.3)
        is_code = torch.arange(encoder.num_codes) != encoder.background
        self.is_code: Tensor
        self.register_buffer("is_code", is_code, persistent=False)
        self.goals = nn.Parameter(torch.randn(num_goals, width) * 0.5)
        self.counts = nn.Linear(encoder.num_thermometer, width)
        self.mix = _mix(width)
        self.goal_bias = nn.Parameter(torch.zeros(num_goals, width))
        self.out = nn.Linear(width, 1 + num_actions)

    def forward(self, bag: Bag, goals: Tensor) -> Tensor:
        """Return values (batch, actions)."""
        cells = bag_sum(self.cells, bag)
        # Products with one-hot rows: picking rows by index has a slow backward pass.
        goal = F.one_hot(goals, len(self.goals)).float()
        interest = goal @ (self.interest * self.is_code)
        places = interest.gather(1, bag.codes) @ self.places
        hidden = cells + places + self.counts(bag.counts) + goal @ self.goals
        return dueling(self.out(self.mix(hidden) + goal @ self.goal_bias))
