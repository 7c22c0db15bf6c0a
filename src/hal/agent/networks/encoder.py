"""What networks ask of an encoder, and what it knows of observations.

Nothing here knows an environment: only parts of observations and numbers of choices.
"""

from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from hal.agent.networks.cells import Cells
from hal.envs.observations import Obs, Part

Features = tuple[Tensor, ...]  # an encoder's own


class Encoder(Protocol):
    """Turns observations into features, and makes the networks that read these."""

    layout: "Layout"
    background: np.ndarray  # the code that most cells have, by channel
    shares_torso: bool  # whether several goals' values can be read off one observation's features

    def __call__(self, obs: Obs, device: torch.device) -> Features:
        """Encode a batch of observations."""

    def torso(self, hidden_size: int, count_scale: float = 1.0) -> nn.Module:
        """Return a network from features to (batch, hidden_size)."""

    def goal_values(self, hidden_size: int, num_goals: int, num_actions: int) -> nn.Module:
        """Return a network from features and goals (batch,) to values (batch, actions).

        One that shares its torso also takes owners: which observation each goal is asked of.
        """


class Layout:
    """What observations are made of."""

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.cells = Cells(parts)
        self.num_counts = self._size_of("counts")
        self.num_numbers = self._size_of("numbers")
        self.picture = next((part for part in parts if part.kind == "pixels"), None)

    def _size_of(self, kind: str) -> int:
        return sum(part.size for part in self.parts if part.kind == kind)

    def blank(self, *shape: int) -> Obs:
        """Return room for observations."""
        return {part.name: np.zeros((*shape, *part.shape), dtype=part.dtype) for part in self.parts}

    def pixels(self, obs: Obs) -> np.ndarray:
        """Return a batch's pictures, (batch, c, h, w); an empty array where there are none."""
        if self.picture is None:
            return np.zeros(0, dtype=np.uint8)
        pictures = self.picture.channels_last(obs[self.picture.name])
        return np.ascontiguousarray(np.moveaxis(pictures, -1, 1))
