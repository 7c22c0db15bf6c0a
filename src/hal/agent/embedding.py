"""Networks that sum embeddings of what is in the view: small and fast on a CPU core."""

import numba
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (the field's habit)

from hal.agent.bags import Bag, bag_sum
from hal.agent.networks import Encoder, dueling
from hal.agent.pixels import PictureTorso
from hal.observations import Obs, Part, batch_size, counts_of, numbers_of

THERMOMETER = np.array([1, 2, 3, 4, 8])  # a count is read as "at least this many"


class BagEncoder(Encoder):
    """Turns cell codes and counts into a `Bag`.

    The background is no feature: leaving it out changes nothing
    that a bias cannot say, and makes bags much smaller.
    """

    def __init__(self, parts: tuple[Part, ...], background: np.ndarray) -> None:
        super().__init__(parts, background)
        self.num_thermometer = self.num_counts * THERMOMETER.size + self.num_numbers
        self._skipped = background[self.cells.channel]  # (cells,)

    def torso(self, width: int, count_scale: float = 1.0) -> nn.Module:
        """Return a `BagTorso`."""
        return BagTorso(self, width, count_scale)

    def goal_values(self, width: int, num_goals: int, num_actions: int) -> nn.Module:
        """Return a `GoalQ`."""
        return GoalQ(self, width, num_goals, num_actions)

    def __call__(self, obs: Obs, device: torch.device) -> Bag:
        """Encode a batch of observations."""
        size = batch_size(obs)
        codes = self.cells.codes(obs) if len(self.cells) else np.zeros((size, 0), np.int64)
        rows, owners, offsets = _features(codes, self.cells.row_offset, self._skipped)
        counts = counts_of(obs, self.parts)[:, :, np.newaxis] >= THERMOMETER
        numbers = counts.reshape(size, -1).astype(np.float32)
        if self.num_numbers:
            numbers = np.concatenate([numbers, numbers_of(obs, self.parts)], axis=1)
        arrays = (codes.astype(np.int64), rows, owners, offsets, numbers, self.pixels(obs))
        return Bag(*(torch.from_numpy(array).to(device) for array in arrays))


@numba.njit(cache=True)
def _features(
    codes: np.ndarray, row_offset: np.ndarray, background: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = np.empty(codes.size, dtype=np.int64)
    owners = np.empty(codes.size, dtype=np.int64)
    offsets = np.empty(codes.shape[0], dtype=np.int64)
    size = 0
    for i in range(codes.shape[0]):
        offsets[i] = size
        for cell in range(codes.shape[1]):
            if codes[i, cell] != background[cell]:
                rows[size] = row_offset[cell] + codes[i, cell]
                owners[size] = i
                size += 1
    return rows[:size], owners[:size], offsets


def _mix(width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU()
    )


class BagTorso(nn.Module):
    """Summed embeddings of cells, counts and pixels, then a layer."""

    def __init__(self, encoder: BagEncoder, width: int, count_scale: float = 1.0) -> None:
        super().__init__()
        self.cells = nn.Parameter(torch.randn(encoder.cells.num_pairs, width) * 0.1)
        self.counts = _counts_layer(encoder, width)
        self.count_scale = count_scale
        self.mix = _mix(width)
        self.picture = _picture_layer(encoder, width)

    def forward(self, bag: Bag) -> Tensor:
        """Return features (batch, width)."""
        features: Tensor = self.mix(
            _with_others(self, bag_sum(self.cells, bag), bag, self.count_scale)
        )
        return features


def _counts_layer(encoder: BagEncoder, width: int) -> nn.Linear | None:
    return nn.Linear(encoder.num_thermometer, width) if encoder.num_thermometer else None


def _picture_layer(encoder: BagEncoder, width: int) -> PictureTorso | None:
    return PictureTorso(encoder.picture, width) if encoder.picture else None


def _with_others(
    network: "BagTorso | GoalQ", cells: Tensor, bag: Bag, count_scale: float = 1.0
) -> Tensor:
    """Add to what a network makes of cells what it makes of an observation's other parts."""
    total = cells
    if network.counts is not None:
        total = total + count_scale * network.counts(bag.counts)
    if network.picture is not None:
        total = total + network.picture(bag.pixels)
    return total


class GoalQ(nn.Module):
    """Action values Q(s, a; g) of one goal per observation.

    What a goal looks for differs from goal to goal, how to get there does not: a goal weighs the
    codes, the weighted cells say where it is, and the rest is shared by all goals.
    """

    def __init__(self, encoder: BagEncoder, width: int, num_goals: int, num_actions: int) -> None:
        super().__init__()
        num_codes = encoder.cells.num_codes
        self.cells = nn.Parameter(torch.randn(encoder.cells.num_pairs, width) * 0.1)
        self.places = nn.Parameter(torch.randn(len(encoder.cells), width) * 0.5)
        self.interest = nn.Parameter(torch.randn(num_goals, num_codes) * 0.3)
        is_code = torch.ones(num_codes, dtype=torch.bool)
        is_code[torch.from_numpy(encoder.background)] = False
        self.is_code: Tensor
        self.register_buffer("is_code", is_code, persistent=False)
        self.goals = nn.Parameter(torch.randn(num_goals, width) * 0.5)
        self.counts = _counts_layer(encoder, width)
        self.mix = _mix(width)
        self.goal_bias = nn.Parameter(torch.zeros(num_goals, width))
        self.out = nn.Linear(width, 1 + num_actions)
        self.picture = _picture_layer(encoder, width)

    def forward(self, bag: Bag, goals: Tensor) -> Tensor:
        """Return values (batch, actions)."""
        # Products with one-hot rows: picking rows by index has a slow backward pass.
        goal = F.one_hot(goals, len(self.goals)).float()
        interest = goal @ (self.interest * self.is_code)
        cells = bag_sum(self.cells, bag) + interest.gather(1, bag.codes) @ self.places
        hidden = _with_others(self, cells, bag) + goal @ self.goals
        return dueling(self.out(self.mix(hidden) + goal @ self.goal_bias))
