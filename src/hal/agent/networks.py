"""Networks: values of actions per goal, values of subtasks, the context embedding.

`Encoder` turns observations into sparse features (`bags.py`); a network sums their embeddings.
Nothing here knows an environment: only numbers of cells, codes, counts, goals and actions.
"""

import copy
from typing import TypeVar

import numba
import numpy as np
import torch
from torch import Tensor, nn

from hal.agent.bags import Bag, bag_sum, goal_bag_sum

THERMOMETER = np.array([1, 2, 3, 4, 8])  # a count is read as "at least this many"
Network = TypeVar("Network", bound=nn.Module)


class Encoder:
    """Turns cell codes and counts into a `Bag`.

    The background, the code that most cells have, is no feature: leaving it out changes nothing
    that a bias cannot say, and makes bags much smaller.
    """

    def __init__(
        self, view: tuple[int, ...], num_codes: int, num_counts: int, background: int
    ) -> None:
        self.view = view
        self.num_cells = int(np.prod(view))
        self.num_codes = num_codes
        self.num_pairs = self.num_cells * num_codes
        self.num_counts = num_counts
        self.num_thermometer = num_counts * THERMOMETER.size
        self.background = background

    def __call__(self, image: np.ndarray, inventory: np.ndarray, device: torch.device) -> Bag:
        """Encode images (batch, height, width) and counts (batch, items)."""
        size = len(image)
        cells, codes, owners, offsets = _features(image.reshape(size, -1), self.background)
        counts = (inventory[:, :, np.newaxis] >= THERMOMETER).reshape(size, -1)
        pairs = cells * self.num_codes + codes
        arrays = (cells, codes, pairs, owners, offsets, counts.astype(np.float32))
        return Bag(*(torch.from_numpy(array).to(device) for array in arrays))


@numba.njit(cache=True)
def _features(
    image: np.ndarray, background: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    cells = np.empty(image.size, dtype=np.int64)
    codes = np.empty(image.size, dtype=np.int64)
    owners = np.empty(image.size, dtype=np.int64)
    offsets = np.empty(image.shape[0], dtype=np.int64)
    size = 0
    for i in range(image.shape[0]):
        offsets[i] = size
        for cell in range(image.shape[1]):
            if image[i, cell] != background:
                cells[size] = cell
                codes[size] = image[i, cell]
                owners[size] = i
                size += 1
    return cells[:size], codes[:size], owners[:size], offsets


def _mix(width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU()
    )


def _dueling(out: Tensor) -> Tensor:
    """Join a value and advantages (batch, 1 + n) to values (batch, n)."""
    value, advantage = out[:, :1], out[:, 1:]
    return value + advantage - advantage.mean(dim=1, keepdim=True)


class Torso(nn.Module):
    """Summed embeddings of cells and counts, then a layer."""

    def __init__(self, encoder: Encoder, width: int, count_scale: float = 1.0) -> None:
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

    def __init__(self, encoder: Encoder, width: int, num_goals: int, num_actions: int) -> None:
        super().__init__()
        self.cells = nn.Parameter(torch.randn(encoder.num_pairs, width) * 0.1)
        self.places = nn.Parameter(torch.randn(encoder.num_cells, width) * 0.5)
        self.interest = nn.Parameter(torch.randn(num_goals, encoder.num_codes) * 0.3)
        self.goals = nn.Parameter(torch.randn(num_goals, width) * 0.5)
        self.counts = nn.Linear(encoder.num_thermometer, width)
        self.mix = _mix(width)
        self.goal_bias = nn.Parameter(torch.zeros(num_goals, width))
        self.out = nn.Linear(width, 1 + num_actions)

    def forward(self, bag: Bag, goals: Tensor) -> Tensor:
        """Return values (batch, actions)."""
        cells = bag_sum(self.cells, bag)
        places = goal_bag_sum(self.places, self.interest, bag, goals)
        hidden = cells + places + self.counts(bag.counts) + self.goals[goals]
        return _dueling(self.out(self.mix(hidden) + self.goal_bias[goals]))


class DuelingValues(nn.Module):
    """Values of n choices, (batch, n)."""

    def __init__(self, encoder: Encoder, width: int, num_choices: int) -> None:
        super().__init__()
        self.torso = Torso(encoder, width)
        self.out = nn.Linear(width, 1 + num_choices)

    def forward(self, bag: Bag) -> Tensor:
        """Return values (batch, choices)."""
        return _dueling(self.out(self.torso(bag)))


class Context(nn.Module):
    """The context embedding z(s) and the affordance classifier f on top of it."""

    def __init__(self, encoder: Encoder, width: int, size: int, num_milestones: int) -> None:
        super().__init__()
        # Counts are few among many cells, and what is possible hangs on them.
        self.torso = Torso(encoder, width, count_scale=3.0)
        self.embed = nn.Linear(width, size)
        self.classify = nn.Linear(size, num_milestones)

    def forward(self, bag: Bag) -> Tensor:
        """Return contexts (batch, size)."""
        context: Tensor = self.embed(self.torso(bag))
        return context


def descend(
    loss: Tensor, network: nn.Module, optimizer: torch.optim.Optimizer, clip: float
) -> float:
    """Take one step down a loss, the gradient's norm bounded; return the norm before that."""
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    norm = nn.utils.clip_grad_norm_(network.parameters(), clip)
    optimizer.step()
    return norm.item()


def target_of(network: Network) -> Network:
    """Return a copy that is not trained."""
    return copy.deepcopy(network).requires_grad_(False)


@torch.no_grad()
def update_target(target: nn.Module, network: nn.Module, rate: float) -> None:
    """Move the target's weights towards the network's; all the way at rate 1."""
    for slow, fast in zip(target.parameters(), network.parameters(), strict=True):
        slow.lerp_(fast, rate)


def device_of(name: str) -> torch.device:
    """Return the device of this name; "auto" is a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
