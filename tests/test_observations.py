"""Parts of observations from all kinds of spaces, and what encoders make of them."""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from hal.agent.networks.cells import Cells, scaled
from hal.agent.networks.convolution import PlaneEncoder
from hal.agent.networks.embedding import BagEncoder
from hal.envs.observations import Obs, batch_size, flat, parts_of

CPU = torch.device("cpu")
SPACES: dict[str, tuple[spaces.Space[Any], dict[str, tuple[str, tuple[int, ...]]]]] = {
    "grid": (spaces.Box(0, 7, (5, 4), np.uint8), {"obs": ("cells", (5, 4))}),
    "channels": (
        spaces.Box(0, np.tile([10, 5, 3], (7, 7, 1)), (7, 7, 3), np.uint8),
        {"obs": ("cells", (7, 7, 3))},
    ),
    "planes": (spaces.MultiBinary((6, 4, 4)), {"obs": ("cells", (6, 4, 4))}),
    "planes of decimals": (spaces.Box(0, 1, (6, 4, 4)), {"obs": ("numbers", (6, 4, 4))}),
    "small bytes": (spaces.Box(0, 255, (7, 7, 3), np.uint8), {"obs": ("cells", (7, 7, 3))}),
    "pixels": (spaces.Box(0, 255, (64, 64, 3), np.uint8), {"obs": ("pixels", (64, 64, 3))}),
    "pixels, channels first": (
        spaces.Box(0, 255, (3, 40, 40), np.uint8),
        {"obs": ("pixels", (3, 40, 40))},
    ),
    "grey pixels": (spaces.Box(0, 255, (40, 40), np.uint8), {"obs": ("pixels", (40, 40))}),
    "counts": (spaces.Box(0, 400, (16,), np.int32), {"obs": ("counts", (16,))}),
    "flags": (spaces.MultiBinary(5), {"obs": ("counts", (5,))}),
    "small values": (spaces.Box(-9, 9, (16,), np.int32), {"obs": ("cells", (16,))}),
    "memory": (spaces.Box(0, 255, (128,), np.uint8), {"obs": ("cells", (128,))}),
    "large values": (spaces.Box(-(2**40), 2**40, (3,), np.int64), {"obs": ("numbers", (3,))}),
    "a number": (spaces.Box(-1, 1, ()), {"obs": ("numbers", ())}),
    "vector": (spaces.Box(-np.inf, np.inf, (3,)), {"obs": ("numbers", (3,))}),
    "choice": (spaces.Discrete(4, start=2), {"obs": ("cells", ())}),
    "choices": (spaces.MultiDiscrete([20, 30]), {"obs": ("cells", (2,))}),
    "nested": (
        spaces.Dict(
            {
                "eye": spaces.Dict({"left": spaces.Box(0, 3, (2, 2), np.int64)}),
                "body": spaces.Box(0, 1, (2,)),
                "said": spaces.Text(9),
                "turn": spaces.Discrete(2),
            }
        ),
        {
            "eye/left": ("cells", (2, 2)),
            "body": ("numbers", (2,)),
            "turn": ("cells", ()),
        },
    ),
}


def batch(space: spaces.Space[Any], size: int) -> Obs:
    """Return random observations as an agent has them."""
    space.seed(0)
    parts = parts_of(space)
    rows = [flat(space.sample(), parts) for _ in range(size)]
    return {part.name: np.stack([row[part.name] for row in rows]) for part in parts}


@pytest.mark.parametrize("name", SPACES)
def test_kinds_of_parts(name: str) -> None:
    space, kinds = SPACES[name]
    parts = parts_of(space)
    assert {part.name: (part.kind, part.shape) for part in parts} == kinds
    obs = batch(space, 3)
    assert batch_size(obs) == 3
    for part in parts:
        assert obs[part.name].shape == (3, *part.shape)
    nested = space.sample()
    assert flat(flat(nested, parts), parts).keys() == flat(nested, parts).keys()


@pytest.mark.parametrize("name", SPACES)
def test_every_kind_is_read(name: str) -> None:
    """Any two observations that differ have values that differ."""
    space, _ = SPACES[name]
    obs = batch(space, 16)
    parts = parts_of(space)
    encoder = BagEncoder(parts, Cells(parts).background(obs))
    torch.manual_seed(0)
    network = encoder.goal_values(8, num_goals=2, num_actions=3)
    values = network(encoder(obs, CPU), torch.zeros(16, dtype=torch.int64)).detach()
    assert values.shape == (16, 3)
    flatter = np.concatenate([obs[part.name].reshape(16, -1) for part in parts], axis=1)
    pairs = [(i, j) for i in range(16) for j in range(i) if (flatter[i] != flatter[j]).any()]
    assert pairs
    if name != "counts":  # they say how many, up to a point
        assert min(float((values[i] - values[j]).abs().sum()) for i, j in pairs) > 0
    assert encoder.torso(8)(encoder(obs, CPU)).shape == (16, 8)
    blank = encoder.layout.blank(2, 3)
    assert all(blank[part.name].shape == (2, 3, *part.shape) for part in parts)


def test_cells_of_channels_have_their_own_codes_and_rows() -> None:
    high = np.tile([2, 1], (2, 3, 1))
    space = spaces.Dict(
        {"grid": spaces.Box(0, high, dtype=np.uint8), "turn": spaces.Discrete(4, start=1)}
    )
    cells = Cells(parts_of(space))
    obs = batch(space, 50)
    codes = cells.codes(obs)
    assert (cells.num_codes, len(cells), cells.num_pairs) == (3 + 2 + 4, 13, 6 * 5 + 4)
    for i in range(50):
        expected = []
        for row in range(2):
            for col in range(3):
                objects, colors = obs["grid"][i, row, col]
                expected += [objects, 3 + colors]
        assert codes[i].tolist() == [*expected, 5 + obs["turn"][i] - 1]
    rows = cells.row_offset + codes
    assert rows.min() >= 0
    assert rows.max() < cells.num_pairs
    pairs = {
        (cell, code): row
        for r, c in zip(rows, codes, strict=True)
        for cell, (row, code) in enumerate(zip(r, c, strict=True))
    }
    assert len(set(pairs.values())) == len(pairs) == cells.num_pairs, "a row for each pair"


def test_background_is_by_channel() -> None:
    space = spaces.Box(0, np.tile([2, 1], (2, 2, 1)), dtype=np.uint8)
    obs = {"obs": np.zeros((4, 2, 2, 2), dtype=np.uint8)}
    obs["obs"][:, :, :, 1] = 1
    obs["obs"][0, 0, 0] = (2, 0)
    assert Cells(parts_of(space)).background(obs).tolist() == [0, 3 + 1]


def test_planes_with_channels_first_are_read_as_with_channels_last() -> None:
    first, last = spaces.MultiBinary((6, 4, 4)), spaces.MultiBinary((4, 4, 6))
    obs = batch(first, 5)
    moved = {"obs": np.moveaxis(obs["obs"], 1, -1)}
    codes = Cells(parts_of(first)).codes(obs)
    np.testing.assert_array_equal(codes, Cells(parts_of(last)).codes(moved))


def test_codes_of_a_grid_with_channels() -> None:
    space = spaces.Box(0, np.tile([2, 1], (7, 7, 1)), dtype=np.uint8)
    encoder = PlaneEncoder(parts_of(space), np.array([0, 3]))
    obs = batch(space, 3)
    codes, _ = encoder(obs, CPU)
    np.testing.assert_array_equal(codes, obs["obs"] + np.array([0, 3]))
    assert encoder.torso(8)(encoder(obs, CPU)).shape == (3, 8)


def test_numbers_are_scaled_by_their_bounds_or_by_their_logarithm() -> None:
    low = np.array([0, -2, -np.inf, 0], dtype=np.float32)
    high = np.array([10, 2, np.inf, 1e9], dtype=np.float32)
    (part,) = parts_of(spaces.Box(low, high))
    found = scaled(np.array([[0, 0, -99, 1e9], [10, 2, 0, 0]], dtype=np.float32), part)
    expected = [[-1, 0, -np.log(100), np.log1p(1e9)], [1, 1, 0, 0]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    (part,) = parts_of(spaces.Box(1e9, 1e9 + 100, (1,), np.float64))
    np.testing.assert_allclose(scaled(np.array([[1e9 + 25]]), part), [[-0.5]])


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (spaces.Sequence(spaces.Discrete(2)), "Sequence; legal: Box, Discrete"),
        (spaces.Text(5), "say nothing"),
        (spaces.Box(0, 9999, (3, 3), np.int32), "10,000 codes; legal: up to 1,024"),
        (spaces.Discrete(10**12), "1,000,000,000,000 codes; legal: up to 1,024"),
        (spaces.Box(-(2**63), 2**63 - 1, (3, 3), np.int64), "codes; legal: up to 1,024"),
        (spaces.Box(0, 255, (30, 300, 3), np.uint8), "pairs of a cell and a code; legal"),
        (spaces.Box(0, 5, (0, 3), np.int64), r"has shape \(0, 3\); legal: no side of 0"),
        (spaces.Dict({"": spaces.Discrete(2)}), "has no name; legal"),
        (
            spaces.Dict({"a/b": spaces.Discrete(2), "a": spaces.Dict({"b": spaces.Discrete(2)})}),
            "two parts of the same name",
        ),
        (spaces.Box(0, 1, (300, 300)), "90,000 decimal numbers; legal: up to 20,000"),
        (
            spaces.Dict({n: spaces.Box(0, 255, (64, 64, 3), np.uint8) for n in "ab"}),
            "several pictures, 'a', 'b'; legal: one",
        ),
    ],
)
def test_spaces_that_cannot_be_read(space: spaces.Space[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parts_of(space)


@pytest.mark.parametrize("name", ["pixels", "vector", "grid", "nested"])
def test_convolutions_need_one_large_grid(name: str) -> None:
    space, _ = SPACES[name]
    parts = parts_of(space)
    background = np.zeros(Cells(parts).num_channels, np.int64)
    with pytest.raises(
        ValueError, match=r"'convolution' .* legal: one grid of cells, sides from 7"
    ):
        PlaneEncoder(parts, background)
