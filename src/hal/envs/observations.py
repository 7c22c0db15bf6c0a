"""What observations are made of: named parts of four kinds, found from their space.

cells    codes: grids (h, w), several codes per cell (h, w, c), planes of zeros and ones, choices
counts   whole numbers from 0 on that say how many
numbers  all other numbers
pixels   pictures (h, w, c) or (h, w) of bytes
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

Obs = dict[str, np.ndarray]  # a batch of observations, by part
Step = tuple[Obs, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]  # what a step returns

WHOLE = "obs"  # the name of an observation that has no parts
SMALLEST_PICTURE = 32  # pixels a side; smaller ones are grids
MOST_CODES = 1_024  # of a channel
MOST_PAIRS = 500_000  # of a cell and a code
MOST_VALUES = 256  # of a vector's whole numbers, each a code; more are counts, mostly small ones
MOST_NUMBERS = 20_000


@dataclass(frozen=True)
class Part:
    """One array of an observation."""

    path: tuple[str, ...]  # of keys in dictionaries
    kind: str  # cells, counts, numbers or pixels
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    low: np.ndarray  # of cells, by channel; of numbers, by entry
    high: np.ndarray
    channel_axis: int | None = None  # of cells and pixels

    @property
    def name(self) -> str:
        """Its keys in one."""
        return "/".join(self.path) or WHOLE

    @property
    def size(self) -> int:
        """How many entries it has."""
        return int(np.prod(self.shape))

    @property
    def num_codes(self) -> np.ndarray:
        """How many codes each channel has."""
        return (self.high - self.low + 1).astype(np.int64)

    @property
    def num_pairs(self) -> int:
        """How many pairs there are of a place and a code that it can have."""
        codes = self.num_codes if self.kind == "cells" else np.zeros(1, dtype=np.int64)
        return int(self.size // codes.size * codes.sum())

    def is_legal(self, values: np.ndarray) -> bool:
        """Tell whether a batch has only codes that there are, and numbers that are finite."""
        if self.kind == "cells":
            codes = self.channels_last(values).reshape(-1, self.low.size)
            return bool(((codes >= self.low) & (codes <= self.high)).all())
        return self.kind != "numbers" or bool(np.isfinite(values).all())

    def channels_last(self, values: np.ndarray) -> np.ndarray:
        """Return a batch with its channels, if it has any, as the last axis."""
        if self.kind == "pixels" and self.channel_axis is None:
            return values[..., np.newaxis]
        if self.channel_axis is None or self.channel_axis == len(self.shape) - 1:
            return values
        return np.moveaxis(values, 1 + self.channel_axis, -1)


def pick(obs: Obs, *at: np.ndarray | int) -> Obs:
    """Return some of a batch's observations."""
    return {name: values[at] for name, values in obs.items()}


def as_batch(one: Mapping[str, Any]) -> Obs:
    """Return a batch of one: its arrays with a leading axis."""
    return {name: np.asarray(values)[np.newaxis] for name, values in one.items()}


def batch_size(obs: Obs) -> int:
    """Return how many observations a batch has."""
    return len(next(iter(obs.values())))


def parts_of(space: spaces.Space[Any]) -> tuple[Part, ...]:
    """Return the parts of a space that an agent can read, or say what it cannot; text is left."""
    parts = tuple(_part(path, leaf) for path, leaf in _leaves(space, ()) if not is_text(leaf))
    if not parts:
        raise ValueError(f"observations of {space} say nothing that an agent can read")
    if sum(part.kind == "pixels" for part in parts) > 1:
        names = ", ".join(repr(part.name) for part in parts if part.kind == "pixels")
        raise ValueError(f"observations have several pictures, {names}; legal: one")
    if len({part.name for part in parts}) < len(parts):
        raise ValueError("observations have two parts of the same name; legal: different ones")
    num_pairs = sum(part.num_pairs for part in parts)
    if num_pairs > MOST_PAIRS:
        what = f"observations have {num_pairs:,} pairs of a cell and a code"
        raise ValueError(f"{what}; legal: up to {MOST_PAIRS:,}, by fewer codes or as pixels")
    return parts


def flat(obs: Any, parts: tuple[Part, ...]) -> Obs:
    """Return an environment's observations, one or a batch, as their parts by name.

    Those that already are parts stay as they are.
    """
    if not isinstance(obs, Mapping):
        return {WHOLE: np.asarray(obs)}
    return {part.name: np.asarray(_found(obs, part)) for part in parts}


def _found(obs: Any, part: Part) -> Any:
    if len(part.path) != 1 and part.name in obs:
        return obs[part.name]
    for key in part.path:
        obs = obs[key]
    return obs


def _leaves(
    space: spaces.Space[Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], spaces.Space[Any]]]:
    if isinstance(space, spaces.Dict):
        for name, inner in space.items():
            yield from _leaves(inner, (*path, name))
    else:
        yield path, space


def is_text(space: spaces.Space[Any]) -> bool:
    """Tell whether a space is of strings; libraries have classes of their own for these."""
    if type(space).__module__.startswith("gymnasium."):
        return isinstance(space, spaces.Text)
    return isinstance(space.sample(), str)


def has_text(space: spaces.Space[Any]) -> bool:
    """Tell whether some part of a space is text."""
    return any(is_text(leaf) for _, leaf in _leaves(space, ()))


def _part(path: tuple[str, ...], space: spaces.Space[Any]) -> Part:
    name = "/".join(path) or WHOLE
    if not all(path):
        raise ValueError("an observation has no name; legal: keys of one letter or more")
    if isinstance(space, spaces.Discrete):
        low, high = np.array([space.start]), np.array([space.start + space.n - 1])
        return _cells(path, (), np.int64, low, high, None)
    if isinstance(space, spaces.MultiDiscrete):
        low, high = space.start, space.start + space.nvec - 1
        return _whole_numbers(path, space.shape, space.dtype, low, high)
    if isinstance(space, spaces.MultiBinary):
        ones = np.ones(space.shape, dtype=np.int64)
        return _whole_numbers(path, space.shape, space.dtype, 0 * ones, ones)
    if not isinstance(space, spaces.Box):
        kinds = "Box, Discrete, MultiDiscrete, MultiBinary, Text, and Dict of these"
        raise ValueError(f"observation {name!r} is a {type(space).__name__}; legal: {kinds}")
    if not np.prod(space.shape):
        raise ValueError(f"observation {name!r} has shape {space.shape}; legal: no side of 0")
    if np.issubdtype(space.dtype, np.integer) or space.dtype == np.bool_:
        return _whole_numbers(path, space.shape, space.dtype, space.low, space.high)
    return _numbers(path, space.shape, space.dtype, space.low, space.high)


def _whole_numbers(
    path: tuple[str, ...], shape: tuple[int, ...], dtype: Any, low: np.ndarray, high: np.ndarray
) -> Part:
    """Return what whole numbers are: by their dimensions, and in a vector by their bounds."""
    if len(shape) < 2:
        least, most = int(low.min()), int(high.max())
        if least >= 0 and (most <= 1 or most >= MOST_VALUES):
            return Part(path, "counts", shape, np.dtype(dtype), low.ravel(), high.ravel())
        if most - least >= MOST_VALUES:
            return _numbers(path, shape, dtype, low, high)
        return _cells(path, shape, dtype, low.ravel(), high.ravel(), 0 if shape else None)
    axis = _channel_axis(shape) if len(shape) == 3 else None
    sides = [side for i, side in enumerate(shape) if i != axis]
    is_bytes = dtype == np.uint8 and high.min() == np.iinfo(np.uint8).max
    if is_bytes and len(sides) == 2 and min(sides) >= SMALLEST_PICTURE:
        return Part(path, "pixels", shape, np.dtype(dtype), low.ravel(), high.ravel(), axis)
    others = tuple(i for i in range(len(shape)) if i != axis)
    lows, highs = np.atleast_1d(low.min(axis=others)), np.atleast_1d(high.max(axis=others))
    return _cells(path, shape, dtype, lows, highs, axis)


def _cells(
    path: tuple[str, ...],
    shape: tuple[int, ...],
    dtype: Any,
    low: np.ndarray,
    high: np.ndarray,
    axis: int | None,
) -> Part:
    most = max(int(last) - int(first) + 1 for first, last in zip(low, high, strict=True))
    if most > MOST_CODES:
        name = "/".join(path) or WHOLE
        raise ValueError(f"observation {name!r} has {most:,} codes; legal: up to {MOST_CODES:,}")
    low, high = low.astype(np.int64), high.astype(np.int64)
    return Part(path, "cells", shape, np.dtype(dtype), low, high, axis)


def _numbers(
    path: tuple[str, ...], shape: tuple[int, ...], dtype: Any, low: np.ndarray, high: np.ndarray
) -> Part:
    part = Part(path, "numbers", shape, np.dtype(dtype), low.ravel(), high.ravel())
    if part.size > MOST_NUMBERS:
        what = f"observation {part.name!r} has {part.size:,} decimal numbers"
        raise ValueError(f"{what}; legal: up to {MOST_NUMBERS:,}, or pixels as bytes")
    return part


def _channel_axis(shape: tuple[int, ...]) -> int:
    """Return whether the channels are first or last: the axis unlike the others, or shorter."""
    if shape[0] == shape[1]:
        return 2
    return 0 if shape[1] == shape[2] or shape[0] < shape[2] else 2
