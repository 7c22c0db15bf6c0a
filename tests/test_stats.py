"""Aggregates over seeds, beside brute force, SciPy, and simulations whose truth is known."""

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from hal.experiments.stats import (
    Interval,
    bootstrap_iqm,
    contrast,
    iqm,
    mean_interval,
    probability_of_improvement,
)

ONE_SEED = (-math.inf, math.inf)


def ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def covers(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def middle_mean(values: list[float]) -> float:
    cut = len(values) // 4
    middle = sorted(values)[cut : len(values) - cut]
    return sum(middle) / len(middle)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 10, 41])
def test_iqm_is_the_mean_of_the_middle(size: int) -> None:
    values = np.random.default_rng(size).normal(size=size)
    assert iqm(values) == pytest.approx(middle_mean(list(values)))


def test_iqm_does_not_see_outliers() -> None:
    values = np.arange(8.0)
    wild = np.array([-1e9, *values[1:-1], 1e9])
    assert iqm(wild) == iqm(values) == 3.5
    assert iqm(values.reshape(2, 4)) == 3.5


def test_two_groups_are_welchs() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.normal(1.0, 0.1, rng.integers(2, 9)), rng.normal(0.0, 2.0, rng.integers(2, 9))
        expected = stats.ttest_ind(x, y, equal_var=False).confidence_interval(0.95)
        found = contrast([x, y], [1, -1])
        assert found.estimate == pytest.approx(x.mean() - y.mean())
        assert ends(found) == pytest.approx((expected.low, expected.high))
        assert ends(contrast([y, x], [-1, 1])) == pytest.approx(ends(found))
        assert ends(contrast([3 * x, y], [1 / 3, -1])) == pytest.approx(ends(found))


def test_one_group_is_students() -> None:
    values = np.array([0.1, 0.5, 0.2, 0.9])
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert ends(mean_interval(values)) == pytest.approx((expected.low, expected.high))
    assert mean_interval(values).estimate == pytest.approx(0.425)


def test_three_groups_cover_the_truth_as_often_as_they_say() -> None:
    rng, spreads = np.random.default_rng(1), (0.1, 1.0, 0.4)
    intervals = [
        contrast([rng.normal(3.0, spread, 5) for spread in spreads], [1, -2, 1.5])
        for _ in range(2_000)
    ]
    share = np.mean([covers(interval, 1.5) for interval in intervals])
    assert 0.935 < share < 0.97


def test_a_constant_group_adds_no_doubt() -> None:
    x, same = np.array([0.2, 0.3, 0.7]), np.full(5, 0.1)
    found, alone = contrast([x, same], [1, -1]), mean_interval(x)
    assert ends(found) == pytest.approx((alone.low - 0.1, alone.high - 0.1))


def test_constant_groups_leave_no_doubt() -> None:
    zeros, ones = np.zeros(3), np.ones(4)
    assert contrast([ones, zeros], [1, -1]) == Interval(1.0, 1.0, 1.0)
    assert mean_interval(zeros) == Interval(0.0, 0.0, 0.0)


def test_the_tiniest_spread_is_a_spread() -> None:
    found = contrast([np.array([0.0, 1e-150, 0.0]), np.zeros(3)], [1, -1])
    assert found.low < found.estimate < found.high


def test_one_seed_says_nothing() -> None:
    one, many = np.array([0.5]), np.array([0.1, 0.2, 0.3])
    for groups in ([one, many], [many, one], [one, one]):
        assert ends(contrast(groups, [1, -1])) == ONE_SEED
        assert ends(bootstrap_iqm(groups)) == ONE_SEED
        assert ends(probability_of_improvement([(groups[0], groups[1])])) == ONE_SEED
    assert mean_interval(one) == Interval(0.5, -math.inf, math.inf)


def brute_force(
    groups: list[np.ndarray], statistic: Callable[[list[list[float]]], float]
) -> tuple[float, float]:
    rng = random.Random(0)
    values = sorted(
        statistic([rng.choices(list(g), k=g.size) for g in groups]) for _ in range(4000)
    )
    return values[100], values[-101]


def test_bootstrap_of_iqm_is_a_loop_over_resamples() -> None:
    rng = np.random.default_rng(2)
    groups = [rng.normal(mean, 1.0, size) for mean, size in ((0, 12), (2, 7), (8, 9))]
    found = bootstrap_iqm(groups)
    expected = brute_force(groups, lambda sample: middle_mean([*sample[0], *sample[1], *sample[2]]))
    assert found.estimate == iqm(np.concatenate(groups))
    assert ends(found) == pytest.approx(expected, abs=0.06)
    assert found == bootstrap_iqm(groups), "the same every time"


def test_bootstrap_of_iqm_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    intervals = [bootstrap_iqm([rng.normal(0, 1, 20), rng.normal(0, 3, 20)]) for _ in range(200)]
    assert 0.89 < np.mean([covers(interval, 0.0) for interval in intervals]) < 0.99


def test_bootstraps_keep_to_the_task() -> None:
    easy, hard = np.full(5, 0.9), np.full(5, 0.1)
    assert ends(bootstrap_iqm([easy, hard])) == (0.5, 0.5)
    assert probability_of_improvement([(easy, hard), (hard, easy)]) == Interval(0.5, 0.5, 0.5)


def improvement(x: list[float], y: list[float]) -> float:
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a in x for b in y]
    return sum(wins) / len(wins)


def test_probability_of_improvement_is_a_double_loop() -> None:
    rng = np.random.default_rng(4)
    pairs = [
        (rng.integers(1, 7, 9) / 10, rng.integers(0, 6, 8) / 10),
        (rng.integers(0, 6, 7) / 10, rng.integers(0, 6, 9) / 10),
    ]
    found = probability_of_improvement(pairs)
    means = [improvement(list(x), list(y)) for x, y in pairs]
    assert found.estimate == pytest.approx(sum(means) / 2)
    expected = brute_force(
        [*pairs[0], *pairs[1]],
        lambda sample: (improvement(*sample[:2]) + improvement(*sample[2:])) / 2,
    )
    assert ends(found) == pytest.approx(expected, abs=0.02)
    swapped = probability_of_improvement([(y, x) for x, y in pairs])
    assert swapped.estimate == pytest.approx(1 - found.estimate)
    assert found == probability_of_improvement(pairs), "the same every time"


def test_an_interval_is_told_in_short() -> None:
    assert str(Interval(0.5, 0.25, 1.0)) == "0.500 (0.250 to 1.000)"
