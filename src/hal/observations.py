"""What observations are made of: named parts of four kinds, found from their space.

cells    codes: grids (h, w), several codes per cell (h, w, c), planes of zeros and ones, choices
counts   whole numbers from 0 on that say how many
numbers  all other numbers
pixels   pictures (h, w, c) of bytes
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

Obs = dict[str, np.ndarray]  # a batch of observations, by part

WHOLE = "obs"  # the name of an observation that has no parts
SMALLEST_PICTURE = 32  # pixels a side; smaller ones are grids
MOST_CODES = 1_024  # of a channel
MOST_NUMBERS = 20_000
WIDEST_SCALE = 1e4  # wider bounds say little about the values


@dataclass(frozen=True)
class Part:
    """One array of an observation."""

    name: str
    kind: str  # cells, counts, numbers or pixels
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    low: np.ndarray  # of cells, by channel; of numbers, by entry
    high: np.ndarray
    channel_axis: int | None = None  # of cells and pixels

    @property
    def size(self) -> int:
        """How many entries it has."""
        return int(np.prod(self.shape))

    @property
    def num_codes(self) -> np.ndarray:
        """How many codes each channel has."""
        return (self.high - self.low + 1).astype(np.int64)

    def is_legal(self, values: np.ndarray) -> bool:
        """Tell whether a batch has only codes that there are, and numbers that are finite."""
        if self.kind == "cells":
            codes = self.channels_last(values).reshape(-1, self.low.size)
            return bool(((codes >= self.low) & (codes <= self.high)).all())
        return self.kind != "numbers" or bool(np.isfinite(values).all())

    def channels_last(self, values: np.ndarray) -> np.ndarray:
        """Return a batch with its channels, if it has any, as the last axis."""
        if self.channel_axis is None or self.channel_axis == len(self.shape) - 1:
            return values
        return np.moveaxis(values, 1 + self.channel_axis, -1)


def pick(obs: Obs, *at: np.ndarray | int) -> Obs:
    """Return some of a batch's observations."""
    return {name: values[at] for name, values in obs.items()}


def batch_size(obs: Obs) -> int:
    """Return how many observations a batch has."""
    return len(next(iter(obs.values())))


def parts_of(space: spaces.Space[Any]) -> tuple[Part, ...]:
    """Return the parts of a space that an agent can read, or say what it cannot; text is left."""
    parts = tuple(_part(name, leaf) for name, leaf in _leaves(space, "") if not _is_text(leaf))
    if not parts:
        raise ValueError(f"observations of {space} say nothing that an agent can read")
    if sum(part.kind == "pixels" for part in parts) > 1:
        names = ", ".join(repr(part.name) for part in parts if part.kind == "pixels")
        raise ValueError(f"observations have several pictures, {names}; legal: one")
    return parts


def flat(obs: Any, parts: tuple[Part, ...]) -> Obs:
    """Return an environment's observations, one or a batch, as their parts by name."""
    if not isinstance(obs, Mapping):
        return {WHOLE: np.asarray(obs)}
    return {part.name: np.asarray(_found(obs, part.name)) for part in parts}


def _found(obs: Mapping[str, Any], name: str) -> Any:
    if name in obs:
        return obs[name]
    first, _, rest = name.partition(".")
    return _found(obs[first], rest)


def _leaves(space: spaces.Space[Any], path: str) -> Iterator[tuple[str, spaces.Space[Any]]]:
    if isinstance(space, spaces.Dict):
        for name, inner in space.items():
            yield from _leaves(inner, f"{path}.{name}" if path else name)
    else:
        yield path or WHOLE, space


def _is_text(space: spaces.Space[Any]) -> bool:
    """Tell whether a space is of strings; libraries have classes of their own for these."""
    return isinstance(space, spaces.Text) or isinstance(space.sample(), str)


def _part(name: str, space: spaces.Space[Any]) -> Part:
    if isinstance(space, spaces.Discrete):
        low, high = np.array([space.start]), np.array([space.start + space.n - 1])
        return Part(name, "cells", (), np.dtype(np.int64), low, high)
    if isinstance(space, spaces.MultiDiscrete):
        low, high = space.start, space.start + space.nvec - 1
        return _whole_numbers(name, space.shape, space.dtype, low, high)
    if isinstance(space, spaces.MultiBinary):
        ones = np.ones(space.shape, dtype=np.int64)
        return _whole_numbers(name, space.shape, space.dtype, 0 * ones, ones)
    if not isinstance(space, spaces.Box):
        kinds = "Box, Discrete, MultiDiscrete, MultiBinary, Text, and Dict of these"
        raise ValueError(f"observation {name!r} is a {type(space).__name__}; legal: {kinds}")
    if np.issubdtype(space.dtype, np.integer) or space.dtype == np.bool_:
        return _whole_numbers(name, space.shape, space.dtype, space.low, space.high)
    return _numbers(name, space.shape, space.dtype, space.low, space.high)


def _whole_numbers(
    name: str, shape: tuple[int, ...], dtype: Any, low: np.ndarray, high: np.ndarray
) -> Part:
    low, high = low.astype(np.int64), high.astype(np.int64)
    if len(shape) < 2:
        kind = "counts" if (low >= 0).all() else "numbers"
        return Part(name, kind, shape, np.dtype(dtype), low.ravel(), high.ravel())
    axis = _channel_axis(shape) if len(shape) == 3 else None
    sides = [side for i, side in enumerate(shape) if i != axis]
    is_bytes = dtype == np.uint8 and high.min() == np.iinfo(np.uint8).max
    if axis is not None and is_bytes and min(sides) >= SMALLEST_PICTURE:
        return Part(name, "pixels", shape, np.dtype(dtype), low.ravel(), high.ravel(), axis)
    others = tuple(i for i in range(len(shape)) if i != axis)
    part = Part(
        name,
        "cells",
        shape,
        np.dtype(dtype),
        np.atleast_1d(low.min(axis=others)),
        np.atleast_1d(high.max(axis=others)),
        axis,
    )
    if part.num_codes.max() > MOST_CODES:
        most = part.num_codes.max()
        raise ValueError(f"observation {name!r} has {most:,} codes; legal: up to {MOST_CODES:,}")
    return part


def _numbers(
    name: str, shape: tuple[int, ...], dtype: Any, low: np.ndarray, high: np.ndarray
) -> Part:
    part = Part(name, "numbers", shape, np.dtype(dtype), low.ravel(), high.ravel())
    if part.size > MOST_NUMBERS:
        what = f"observation {name!r} has {part.size:,} decimal numbers"
        raise ValueError(f"{what}; legal: up to {MOST_NUMBERS:,}, or pixels as bytes")
    return part


def _channel_axis(shape: tuple[int, ...]) -> int:
    """Return whether the channels are first or last: the axis unlike the others, or shorter."""
    if shape[0] == shape[1]:
        return 2
    return 0 if shape[1] == shape[2] or shape[0] < shape[2] else 2


def scaled(values: np.ndarray, part: Part) -> np.ndarray:
    """Return numbers between -1 and 1 if their bounds say how, or else their signed logarithm."""
    values = values.reshape(len(values), -1).astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        span = part.high.astype(np.float64) - part.low
        has_scale = np.isfinite(span) & (span > 0) & (span <= WIDEST_SCALE)
        share = 2 * (values - part.low) / np.where(has_scale, span, 1.0) - 1
    logarithm = np.sign(values) * np.log1p(np.abs(values))
    return np.where(has_scale, share, logarithm).astype(np.float32)


class Cells:
    """All cells of observations in a row, each with the codes that its channel has."""

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = [part for part in parts if part.kind == "cells"]
        self.num_codes = 0  # of all channels
        self.num_pairs = 0  # of a place and a code that it can have
        channel, first_code, first_row = [], [], []
        num_channels = 0
        for part in self.parts:
            codes = part.num_codes
            num_places = part.size // codes.size
            starts = self.num_codes + np.cumsum(codes) - codes
            place_rows = self.num_pairs + np.arange(num_places) * codes.sum()
            channel.append(np.tile(num_channels + np.arange(codes.size), num_places))
            first_code.append(np.tile(starts, num_places))
            first_row.append(np.repeat(place_rows - self.num_codes, codes.size))
            num_channels += codes.size
            self.num_codes += int(codes.sum())
            self.num_pairs += int(num_places * codes.sum())
        self.channel = _joined(channel)  # (cells,) which one a cell is of
        self.first_code = _joined(first_code)  # (cells,) the code of its least value
        self.row_offset = _joined(first_row)  # (cells,) a pair's row is this and the code
        self.num_channels = num_channels
        self.is_plain = len(self.parts) == 1 and num_channels == 1 and not self.parts[0].low.any()

    def __len__(self) -> int:
        """Return how many cells there are."""
        return self.channel.size

    def codes(self, obs: Obs) -> np.ndarray:
        """Return the codes of a batch, (batch, cells), no two channels having one in common."""
        rows = [
            part.channels_last(obs[part.name]).reshape(len(obs[part.name]), -1)
            for part in self.parts
        ]
        if self.is_plain:
            return rows[0]
        lows = [np.tile(part.low, part.size // part.low.size) for part in self.parts]
        return np.concatenate(rows, axis=1) - np.concatenate(lows) + self.first_code

    def background(self, obs: Obs) -> np.ndarray:
        """Return the code that most cells of each channel have in a batch, (channels,)."""
        codes = self.codes(obs) if self.parts else np.zeros((1, 0), dtype=np.int64)
        return np.array(
            [
                np.bincount(codes[:, self.channel == c].ravel()).argmax()
                for c in range(self.num_channels)
            ],
            dtype=np.int64,
        )


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)


def counts_of(obs: Obs, parts: tuple[Part, ...]) -> np.ndarray:
    """Return all counts of a batch, (batch, counts)."""
    found = [obs[part.name] for part in parts if part.kind == "counts"]
    rows = [values.reshape(len(values), -1) for values in found]
    return np.concatenate(rows, axis=1) if rows else np.zeros((batch_size(obs), 0), np.int64)


def numbers_of(obs: Obs, parts: tuple[Part, ...]) -> np.ndarray:
    """Return all scaled numbers of a batch, (batch, numbers)."""
    rows = [scaled(obs[part.name], part) for part in parts if part.kind == "numbers"]
    return np.concatenate(rows, axis=1) if rows else np.zeros((batch_size(obs), 0), np.float32)


def size_of(parts: tuple[Part, ...], kind: str) -> int:
    """Return how many entries the parts of a kind have."""
    return sum(part.size for part in parts if part.kind == kind)
