"""A convolution that reads codes, beside one that reads their planes."""

import numpy as np
import pytest
import torch
from torch import nn

from hal.agent.networks.codes import CodeConv


def planes_of(codes: torch.Tensor, num_codes: int) -> torch.Tensor:
    planes = nn.functional.one_hot(codes, num_codes).sum(dim=3)
    return planes.permute(0, 3, 1, 2).float()


@pytest.mark.parametrize(
    ("num_codes", "background", "grid"),
    [((18,), (1,), (11, 11)), ((3, 2, 4), (0, 4, 6), (7, 9)), ((5,), (4,), (5, 5))],
)
@pytest.mark.parametrize("batch", [1, 6])
def test_codes_are_read_as_their_planes_would_be(
    num_codes: tuple[int, ...], background: tuple[int, ...], grid: tuple[int, int], batch: int
) -> None:
    starts = np.cumsum(num_codes) - num_codes
    rng = np.random.default_rng(0)
    drawn = rng.integers(num_codes, size=(batch, *grid, len(num_codes))) + starts
    is_usual = rng.random(drawn.shape) < 0.5
    codes = torch.from_numpy(np.where(is_usual, background, drawn))
    torch.manual_seed(0)
    plain = nn.Conv2d(sum(num_codes), 32, 5)
    torch.manual_seed(0)
    layer = CodeConv(np.array(num_codes), 32, 5, np.array(background))
    assert layer.state_dict().keys() == plain.state_dict().keys()
    assert all(map(torch.equal, layer.parameters(), plain.parameters()))
    found, expected = layer(codes), plain(planes_of(codes, sum(num_codes)))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(layer.of_planes(codes), expected)  # as other devices do it
    slope = torch.randn_like(expected)
    mine = torch.autograd.grad((found * slope).sum(), list(layer.parameters()))
    others = torch.autograd.grad((expected * slope).sum(), list(plain.parameters()))
    for one, other in zip(mine, others, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5 * float(other.abs().max()))
