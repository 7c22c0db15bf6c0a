"""n-step returns through the controller, as in the paper: they stop where an option does."""

import numpy as np
import pytest
import torch

from hal.agent.controller import Controller, Lesson
from hal.agent.networks.convolution import PlaneEncoder
from hal.agent.options import NONE
from hal.agent.replay.steps import CONTINUES, CUT, ENDS, Windows
from hal.config.presets import make_config
from tests.parts import grid_parts

CPU = torch.device("cpu")
ENCODER = PlaneEncoder(grid_parts((11, 11), num_codes=5, num_counts=3), background=np.array([0]))


def one_window(end: list[int], reward: list[float]) -> Windows:
    length = len(end)
    return Windows(
        obs={
            "image": np.zeros((1, length + 1, 11, 11), np.uint8),
            "inventory": np.arange(length + 1).repeat(3).reshape(1, length + 1, 3),
        },
        action=np.zeros((1, length), np.int64),
        reward=np.array([reward]),
        subtask=np.zeros((1, length), np.int64),
        milestone=np.full((1, length), NONE),
        hindsight=np.full((1, length), NONE),
        end=np.array([end]),
        episode_end=np.array([end]),
        is_valid=np.ones((1, length), np.bool_),
        weight=np.ones(1, np.float32),
        slots=np.zeros(1, np.int64),
    )


class Counts(torch.nn.Module):
    """Values of two actions that can be read off: the first count, and that plus the offset."""

    def __init__(self, first: float, second: float) -> None:
        super().__init__()
        self.offsets = torch.tensor([first, second])

    def forward(
        self, features: tuple[torch.Tensor, ...], goals: torch.Tensor, owners: torch.Tensor
    ) -> torch.Tensor:
        return features[1][owners, :1] + self.offsets


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ([CONTINUES] * 3, 1 + 0.5 * 2 + 0.25 * 4 + 0.125 * 13),  # bootstrap from state 3
        ([CONTINUES, ENDS, CONTINUES], 1 + 0.5 * 2),  # a milestone: no bootstrap
        ([CONTINUES, CUT, CONTINUES], 1 + 0.5 * 2 + 0.25 * 12),  # a timeout: over the shorter n
        ([CUT, CONTINUES, CONTINUES], 1 + 0.5 * 11),
    ],
)
def test_n_step_returns_stop_at_the_options_end(end: list[int], expected: float) -> None:
    config = make_config("iron", "hal", "paper", window=3)
    controller = Controller(config.controller, config.networks, ENCODER, (1, 2), 0.5, CPU)
    # Double Q: the network prefers the first action, which its target judges at count + 10.
    controller.learner.network = Counts(1.0, 0.0)
    controller.target.network = Counts(10.0, 99.0)
    windows = one_window(end, [1.0, 2.0, 4.0])
    lesson = Lesson(windows.is_valid, windows.subtask, windows.reward, windows.end)
    first = (np.array([0]), np.array([0]))
    assert controller._returns(windows, [lesson], [first]).tolist() == [pytest.approx(expected)]
