"""Triplets of the contrastive loss, on made-up rows, and their distances in time."""

import numpy as np
import pytest
from scipy import stats

from hal.agent.replay.triplets import draw_triplets, truncated_normal
from tests.test_replay import filled_replay


def test_triplets_are_of_the_same_and_of_other_segments() -> None:
    replay = filled_replay(60)
    rng = np.random.default_rng(0)
    anchors, positives, negatives = draw_triplets(replay, 400, 3.0, 4, 0.5, rng)
    assert len(anchors) > 380, "rows of segments of one row alone have no positive"

    def segment(places: np.ndarray) -> np.ndarray:
        return replay.segment[places[..., 0], places[..., 1]]

    np.testing.assert_array_equal(segment(anchors), segment(positives))
    assert (anchors != positives).any(axis=1).all(), "a state is not its own positive"
    assert (segment(negatives) != segment(anchors)[:, None]).all()
    assert 0.5 < (negatives[..., 1] == anchors[:, None, 1]).mean() < 0.8


@pytest.mark.parametrize("length", [2, 3, 5])
def test_no_anchor_of_a_short_segment_is_dropped(length: int) -> None:
    replay = filled_replay(60)
    rows = np.arange(replay.capacity)[:, np.newaxis]
    oldest_first = (rows - replay.oldest) % replay.capacity
    whole = replay.capacity // length * length
    replay.segment[:] = oldest_first // length * 3 + np.arange(3)
    anchors, positives, _ = draw_triplets(replay, 500, 7.0, 1, 0.0, np.random.default_rng(1))
    places = oldest_first[anchors[:, 0], 0]
    drawn = np.bincount(places[places < whole] % length, minlength=length)
    assert drawn.min() > 0.7 * 500 / length * 0.9, "from every place of a segment"
    age = oldest_first[positives[:, 0], 0]
    assert (age // length == places // length).all()
    assert len(anchors) >= 470, "all but those with a negative of their own segment"


@pytest.mark.parametrize(
    ("before", "after", "sigma"),
    [(0, 1, 7.0), (1, 0, 7.0), (3, 5, 2.0), (40, 40, 7.0), (0, 90, 7.0), (2, 2, 0.3), (9, 1, 1.0)],
)
def test_distances_are_those_of_a_truncated_normal(before: int, after: int, sigma: float) -> None:
    size = 20_000
    ends = np.full(size, before), np.full(size, after)
    drawn = truncated_normal(*ends, sigma, np.random.default_rng(2))
    values = np.array([d for d in range(-before, after + 1) if d != 0])
    chances = stats.norm.cdf((values + 0.5) / sigma) - stats.norm.cdf((values - 0.5) / sigma)
    counts = np.array([(drawn == value).sum() for value in values])
    assert counts.sum() == size, "within the segment, and never the anchor"
    expected = chances / chances.sum() * size
    is_frequent = expected >= 5
    if is_frequent.sum() > 1:
        seen, wanted = counts[is_frequent], expected[is_frequent]
        assert stats.chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue > 1e-3
    assert counts[~is_frequent].sum() <= 3 * expected[~is_frequent].sum() + 10


def test_who_is_alone_has_no_distance() -> None:
    alone, some = np.array([0, 0, 2]), np.array([0, 3, 0])
    drawn = truncated_normal(alone, some, 1e-3, np.random.default_rng(3))
    assert drawn.tolist() == [0, 1, -1], "however narrow the normal is"
