"""Anchors, positives and negatives for the contrastive loss, drawn from the replay of steps."""

from math import ceil
from typing import NamedTuple

import numba
import numpy as np
from scipy import special

from hal.agent.replay.steps import Replay

FAR = 8  # deviations beyond which a normal variable never falls: the end of what is looked at


class Triplets(NamedTuple):
    """Places (row, lane) in the replay's arrays."""

    anchors: np.ndarray  # (n, 2)
    positives: np.ndarray  # (n, 2)
    negatives: np.ndarray  # (n, m, 2)


def draw_triplets(
    replay: Replay,
    size: int,
    sigma: float,
    num_negatives: int,
    same_lane_share: float,
    rng: np.random.Generator,
) -> Triplets:
    """Draw up to so many triplets; an anchor that is alone in its segment has no positive.

    A positive is of the anchor's segment, at a normally distributed distance in time, N_T(0,
    sigma^2) (Sect. 6, "Context learning"); the negatives are of other segments, a share of them
    of the same lane.
    """
    first, last = replay.oldest, replay.num_rows - 1
    rows = rng.integers(first, last + 1, size=size)
    lanes = rng.integers(replay.num_lanes, size=size)
    before, after = _extents(replay.segment, rows, lanes, first, last, ceil(FAR * sigma))
    positives = rows + truncated_normal(before, after, sigma, rng)
    far = rng.integers(first, last + 1, size=(size, num_negatives))
    far_lanes = rng.integers(replay.num_lanes, size=(size, num_negatives))
    is_same = rng.random((size, num_negatives)) < same_lane_share
    far_lanes = np.where(is_same, lanes[:, np.newaxis], far_lanes)
    capacity = replay.capacity
    segments = replay.segment[rows % capacity, lanes]
    is_other = replay.segment[far % capacity, far_lanes] != segments[:, np.newaxis]
    # A candidate of the anchor's own segment gives way to one that is not.
    stand_in = np.where(is_other, np.arange(num_negatives), is_other.argmax(axis=1)[:, None])
    far = np.take_along_axis(far, stand_in, axis=1)
    far_lanes = np.take_along_axis(far_lanes, stand_in, axis=1)
    keep = (before + after > 0) & is_other.any(axis=1) & replay.is_valid[rows % capacity, lanes]
    return Triplets(
        np.stack([rows % capacity, lanes], axis=1)[keep],
        np.stack([positives % capacity, lanes], axis=1)[keep],
        np.stack([far % capacity, far_lanes], axis=2)[keep],
    )


def truncated_normal(
    before: np.ndarray, after: np.ndarray, sigma: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw whole numbers from -before to after, without 0, as a rounded normal variable.

    By the inverse of its distribution function between these ends: exact, and in one draw. Where
    both ends are 0 there is nothing to draw; the answer is 0.
    """
    low, high = (special.ndtr(end / sigma) for end in (-before - 0.5, after + 0.5))
    left = special.ndtr(-0.5 / sigma) - low  # mass of the numbers below 0, and above
    right = high - special.ndtr(0.5 / sigma)
    ticket = rng.random(before.size) * (left + right)
    is_left = (ticket < left) | (after == 0)
    quantile = np.where(is_left, low + ticket, special.ndtr(0.5 / sigma) + ticket - left)
    drawn = special.ndtri(quantile) * sigma
    drawn = np.where(np.isfinite(drawn), np.rint(drawn), 0)  # no mass that numbers could tell
    least, most = np.where(is_left, -before, 1), np.where(is_left, -1, after)
    nearest = np.clip(drawn, least, most)  # rounding errors do not leave the segment
    return np.where(before + after > 0, nearest, 0).astype(np.int64)


@numba.njit(cache=True)
def _extents(
    segment: np.ndarray, rows: np.ndarray, lanes: np.ndarray, first: int, last: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return how many rows of an anchor's segment there are before and after it, at most so far."""
    before = np.zeros(rows.size, dtype=np.int64)
    after = np.zeros(rows.size, dtype=np.int64)
    capacity = segment.shape[0]
    for i in range(rows.size):
        own = segment[rows[i] % capacity, lanes[i]]
        row = rows[i] - 1
        while row >= first and before[i] < most and segment[row % capacity, lanes[i]] == own:
            before[i] += 1
            row -= 1
        row = rows[i] + 1
        while row <= last and after[i] < most and segment[row % capacity, lanes[i]] == own:
            after[i] += 1
            row += 1
    return before, after
