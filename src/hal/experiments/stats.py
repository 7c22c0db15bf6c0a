"""Aggregates over seeds, each with a 95% interval: tables of results -> claims, figures, report."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

NUM_RESAMPLES = 2_000
SHARES = (0.025, 0.975)  # of what lies below the ends of an interval


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its 95% interval, which are infinite if one seed is all."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.3f} ({self.low:.3f} to {self.high:.3f})"


def iqm(values: np.ndarray) -> float:
    """Return the interquartile mean: of what is left without the lowest and highest quarter."""
    return float(stats.trim_mean(values, 0.25, axis=None))


def mean_interval(values: np.ndarray) -> Interval:
    """Return the mean with Student's t interval."""
    return contrast([values], [1.0])


def contrast(groups: Sequence[np.ndarray], weights: Sequence[float]) -> Interval:
    """Return a weighted sum of the groups' means with Welch's t interval."""
    scales = np.array(weights, dtype=float)
    estimate = float(scales @ [group.mean() for group in groups])
    counts = np.array([group.size for group in groups])
    if counts.min() < 2:
        return Interval(estimate, -np.inf, np.inf)
    variances = scales**2 * [group.var(ddof=1) for group in groups] / counts
    total = variances.sum()
    if total == 0:
        return Interval(estimate, estimate, estimate)
    # Welch and Satterthwaite's, in shares of the variance: squares of small ones would underflow.
    freedom = 1 / np.sum((variances / total) ** 2 / (counts - 1))
    half = float(stats.t.ppf(SHARES[1], freedom) * np.sqrt(total))
    return Interval(estimate, estimate - half, estimate + half)


def bootstrap_iqm(groups: Sequence[np.ndarray]) -> Interval:
    """Return the IQM of all values, one group per task, with a stratified bootstrap interval."""
    rng = np.random.default_rng(0)
    samples = [group[_resample(rng, group)] for group in groups]
    iqms = stats.trim_mean(np.concatenate(samples, axis=1), 0.25, axis=1)
    return _percentiles(iqm(np.concatenate(groups)), iqms, groups)


def probability_of_improvement(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> Interval:
    """Return the mean over tasks of P(X > Y) + P(X = Y) / 2, with a stratified interval."""
    rng = np.random.default_rng(0)
    estimates, resampled = [], []
    for x, y in pairs:
        rows, columns = _resample(rng, x), _resample(rng, y)
        wins = np.heaviside(x[:, np.newaxis] - y, 0.5)  # (X's seeds, Y's seeds)
        estimates.append(wins.mean())
        samples = wins[rows[:, :, np.newaxis], columns[:, np.newaxis, :]]
        resampled.append(samples.mean(axis=(1, 2)))
    groups = [group for pair in pairs for group in pair]
    return _percentiles(float(np.mean(estimates)), np.mean(resampled, axis=0), groups)


def _resample(rng: np.random.Generator, group: np.ndarray) -> np.ndarray:
    return rng.integers(group.size, size=(NUM_RESAMPLES, group.size))


def _percentiles(estimate: float, resampled: np.ndarray, groups: Sequence[np.ndarray]) -> Interval:
    if min(group.size for group in groups) < 2:
        return Interval(estimate, -np.inf, np.inf)
    low, high = np.quantile(resampled, SHARES)
    return Interval(estimate, float(low), float(high))
