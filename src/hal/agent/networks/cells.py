"""How the parts of observations are read: all cells in a row as codes, counts, scaled numbers."""

import numpy as np

from hal.envs.observations import Obs, Part, batch_size

THERMOMETER = np.array([1, 2, 3, 4, 8])  # a count is read as "at least this many"
WIDEST_SCALE = 1e4  # wider bounds say little about the values


def scaled(values: np.ndarray, part: Part) -> np.ndarray:
    """Return numbers between -1 and 1 if their bounds say how, or else their signed logarithm."""
    values = values.reshape(len(values), -1).astype(np.float64)
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
        channel, shift, row_offset = [], [], []
        num_channels = 0
        for part in self.parts:
            codes = part.num_codes
            num_places = part.size // codes.size
            starts = self.num_codes + np.cumsum(codes) - codes
            place_rows = self.num_pairs + np.arange(num_places) * codes.sum()
            channel.append(np.tile(num_channels + np.arange(codes.size), num_places))
            shift.append(np.tile(starts - part.low, num_places))
            row_offset.append(np.repeat(place_rows - self.num_codes, codes.size))
            num_channels += codes.size
            self.num_codes += int(codes.sum())
            self.num_pairs += part.num_pairs
        self.channel = _joined(channel)  # (cells,) which one a cell is of
        self._shift = _joined(shift)  # (cells,) from its values to codes
        self.row_offset = _joined(row_offset)  # (cells,) a pair's row is this and the code
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
        return np.concatenate([row.astype(np.int64) for row in rows], axis=1) + self._shift

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
