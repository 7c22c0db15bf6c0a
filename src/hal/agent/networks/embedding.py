"""Networks that sum embeddings of what is in the view: small and fast on a CPU core."""

import numba
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (the field's habit)

from hal.agent.networks.bags import Bag, bag_sum
from hal.agent.networks.cells import THERMOMETER, counts_of, numbers_of
from hal.agent.networks.encoder import Layout
from hal.agent.networks.heads import dueling
from hal.agent.networks.pixels import PictureTorso
from hal.envs.observations import Obs, Part, batch_size


class BagEncoder:
    """Turns cell codes and counts into a `Bag`.

    The background is no feature: leaving it out changes nothing
    that a bias cannot say, and makes bags much smaller.
    """

    shares_torso = False  # a goal weighs cells, before all else

    def __init__(
        self, parts: tuple[Part, ...], background: np.ndarray, num_interests: int = 1
    ) -> None:
        self.layout = Layout(parts)
        self.background = background
        self.num_interests = num_interests
        self.num_thermometer = self.layout.num_counts * THERMOMETER.size + self.layout.num_numbers
        self._skipped = background[self.layout.cells.channel]  # (cells,)

    def torso(self, hidden_size: int, count_scale: float = 1.0) -> nn.Module:
        """Return a `BagTorso`."""
        return BagTorso(self, hidden_size, count_scale)

    def goal_values(self, hidden_size: int, num_goals: int, num_actions: int) -> nn.Module:
        """Return a `GoalQ`."""
        return GoalQ(self, hidden_size, num_goals, num_actions)

    def __call__(self, obs: Obs, device: torch.device) -> Bag:
        """Encode a batch of observations."""
        size = batch_size(obs)
        codes = (
            self.layout.cells.codes(obs)
            if len(self.layout.cells)
            else np.zeros((size, 0), np.int64)
        )
        rows, owners, offsets = _features(codes, self.layout.cells.row_offset, self._skipped)
        counts = counts_of(obs, self.layout.parts)[:, :, np.newaxis] >= THERMOMETER
        numbers = counts.reshape(size, -1).astype(np.float32)
        if self.layout.num_numbers:
            numbers = np.concatenate([numbers, numbers_of(obs, self.layout.parts)], axis=1)
        arrays = (codes.astype(np.int64), rows, owners, offsets, numbers, self.layout.pixels(obs))
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


def _mix(hidden_size: int) -> nn.Sequential:
    return nn.Sequential(
        nn.LayerNorm(hidden_size),
        nn.ReLU(),
        nn.Linear(hidden_size, hidden_size),
        nn.LayerNorm(hidden_size),
        nn.ReLU(),
    )


class BagTorso(nn.Module):
    """Summed embeddings of cells, counts and pixels, then a layer."""

    def __init__(self, encoder: BagEncoder, hidden_size: int, count_scale: float = 1.0) -> None:
        super().__init__()
        self.cells = nn.Parameter(torch.randn(encoder.layout.cells.num_pairs, hidden_size) * 0.1)
        self.counts = _counts_layer(encoder, hidden_size)
        self.count_scale = count_scale
        self.mix = _mix(hidden_size)
        self.picture = _picture_layer(encoder, hidden_size)

    def forward(self, bag: Bag) -> Tensor:
        """Return features (batch, hidden_size)."""
        features: Tensor = self.mix(
            _with_others(self, bag_sum(self.cells, bag), bag, self.count_scale)
        )
        return features


def _counts_layer(encoder: BagEncoder, hidden_size: int) -> nn.Linear | None:
    return nn.Linear(encoder.num_thermometer, hidden_size) if encoder.num_thermometer else None


def _picture_layer(encoder: BagEncoder, hidden_size: int) -> PictureTorso | None:
    return PictureTorso(encoder.layout.picture, hidden_size) if encoder.layout.picture else None


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
    codes, the weighted cells say where it is, and the rest is shared by all goals. It may weigh
    them in several ways: its interests, each alike in all places.
    """

    def __init__(
        self, encoder: BagEncoder, hidden_size: int, num_goals: int, num_actions: int
    ) -> None:
        super().__init__()
        cells, ways = encoder.layout.cells, encoder.num_interests
        self.cells = nn.Parameter(torch.randn(cells.num_pairs, hidden_size) * 0.1)
        spread = 0.5 / ways**0.5
        self.places = nn.Parameter(torch.randn(ways * len(cells), hidden_size) * spread)
        self.interest = nn.Parameter(torch.randn(num_goals, ways * cells.num_codes) * 0.3)
        is_code = torch.ones(cells.num_codes, dtype=torch.bool)
        is_code[torch.from_numpy(encoder.background)] = False
        self.is_code: Tensor
        self.register_buffer("is_code", is_code.repeat(ways), persistent=False)
        self.first_codes: Tensor  # (ways, 1) where each way's weights of codes begin
        first_codes = torch.arange(ways)[:, None] * cells.num_codes
        self.register_buffer("first_codes", first_codes, persistent=False)
        self.goals = nn.Parameter(torch.randn(num_goals, hidden_size) * 0.5)
        self.counts = _counts_layer(encoder, hidden_size)
        self.mix = _mix(hidden_size)
        self.goal_bias = nn.Parameter(torch.zeros(num_goals, hidden_size))
        self.out = nn.Linear(hidden_size, 1 + num_actions)
        self.picture = _picture_layer(encoder, hidden_size)

    def forward(self, bag: Bag, goals: Tensor) -> Tensor:
        """Return values (batch, actions)."""
        # Products with one-hot rows: picking rows by index has a slow backward pass.
        goal = F.one_hot(goals, len(self.goals)).float()
        interest = goal @ (self.interest * self.is_code)
        codes = (bag.codes[:, None] + self.first_codes).flatten(1)  # (batch, ways * cells)
        cells = bag_sum(self.cells, bag) + interest.gather(1, codes) @ self.places
        hidden = _with_others(self, cells, bag) + goal @ self.goals
        return dueling(self.out(self.mix(hidden) + goal @ self.goal_bias))
