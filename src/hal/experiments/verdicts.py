"""Tests of what an experiment measured, each with a verdict: results -> `claims.py`.

A comparison puts a quantity's 95% interval beside the region it should lie in; inside is confirmed,
outside refuted. A convergence counts seeds; one between `MISSED` and `REACHED` is undecided, as an
agent of 90% may be found on either side by 200 episodes. Few seeds or episodes decide nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np

from hal.experiments.results import Results, finals, select
from hal.experiments.stats import Interval, contrast, mean_interval

CONFIRMED, NOT_CONFIRMED = "confirmed", "not confirmed"
REFUTED, NOT_MEASURED = "refuted", "not measured"

Region = tuple[float, float]
MORE: Region = (0.0, inf)
REACHED, MISSED = 0.95, 0.85  # of the episodes end in success: at least, less than
FEWEST_SEEDS, FEWEST_EPISODES = 5, 200

Quantifier = Literal["every", "not every", "some", "no"]
Tell = Callable[[np.ndarray, np.ndarray], tuple[np.bool_, np.bool_]]
# Of the seeds that have reached the level and of those that have missed it: is it so, is it not?
QUANTIFIERS: dict[Quantifier, Tell] = {
    "every": lambda reached, missed: (reached.all(), missed.any()),
    "not every": lambda reached, missed: (missed.any(), reached.all()),
    "some": lambda reached, missed: (reached.any(), missed.all()),
    "no": lambda reached, missed: (missed.all(), reached.any()),
}


@dataclass(frozen=True)
class Measure:
    """One number per seed: the mean of some metrics."""

    title: str
    read: Callable[[Results, str, str, str], np.ndarray]
    metrics: tuple[str, ...]

    def values(self, results: Results, task: str, variant: str) -> np.ndarray:
        """Return the number of each of a variant's seeds."""
        return np.mean([self.read(results, task, variant, name) for name in self.metrics], axis=0)


FINAL = Measure("final greedy success", finals, ("success",))


@dataclass(frozen=True)
class Comparison:
    """A weighted sum of variants' means should lie in a region."""

    what: str
    task: str
    measure: Measure
    weights: Mapping[str, float]  # by variant
    region: Region = MORE

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants it is about."""
        return tuple(self.weights)

    @property
    def formula(self) -> str:
        """The weighted sum, as in `oracle - 2 hal + hr+her`."""
        text = ""
        for variant, weight in self.weights.items():
            sign = " - " if weight < 0 else " + " if text else ""
            factor = "" if abs(weight) == 1 else f"{abs(weight):g} "
            text += sign + factor + (f"({variant})" if " " in variant else variant)
        return text

    def weigh(self, groups: Sequence[np.ndarray]) -> tuple[str, str]:
        """Return the numbers and the verdict."""
        interval = contrast(groups, list(self.weights.values()))
        numbers = [
            f"{variant}: {group.mean():.3f} ({_seeds(group)})"
            for variant, group in zip(self.variants, groups, strict=True)
        ]
        return "; ".join((*numbers, f"{self.formula} = {interval}")), place(interval, self.region)


@dataclass(frozen=True)
class Convergence:
    """So many of some variants' seeds should end with a high success rate."""

    quantifier: Quantifier
    task: str
    variants: tuple[str, ...]
    unit: str = "seed"  # what each seed stands for
    measure: Measure = FINAL

    @property
    def what(self) -> str:
        """The test in words."""
        return (
            f"{self.quantifier} {self.unit} reaches {REACHED:.0%} with {'; '.join(self.variants)}"
        )

    def weigh(self, groups: Sequence[np.ndarray]) -> tuple[str, str]:
        """Return the numbers and the verdict."""
        numbers = [
            f"{variant}: {mean_interval(group)}, worst {group.min():.3f}, best {group.max():.3f},"
            f" {np.sum(group >= REACHED)} of {_seeds(group)} reach {REACHED:.0%},"
            f" {np.sum(group < MISSED)} stay below {MISSED:.0%}"
            for variant, group in zip(self.variants, groups, strict=True)
        ]
        values = np.concatenate(groups)
        is_so, is_not = QUANTIFIERS[self.quantifier](values >= REACHED, values < MISSED)
        verdict = CONFIRMED if is_so else REFUTED if is_not else NOT_CONFIRMED
        if min(group.size for group in groups) < FEWEST_SEEDS:
            verdict = NOT_CONFIRMED
        return "; ".join(numbers), verdict


@dataclass(frozen=True)
class Part:
    """What became of one test."""

    what: str
    measured: str
    verdict: str


def judge_part(test: Comparison | Convergence, results: Results) -> Part:
    """Return what became of a test; each variant needs runs, and all of them the metrics."""
    groups = [test.measure.values(results, test.task, variant) for variant in test.variants]
    missing = [
        variant
        for variant, group in zip(test.variants, groups, strict=True)
        if not group.size or np.isnan(group).any()
    ]
    if missing:
        return Part(test.what, f"missing on {test.task}: {'; '.join(missing)}", NOT_MEASURED)
    numbers, verdict = test.weigh(groups)
    if test.measure.read is finals:
        runs = [run for name in test.variants for run in select(results, test.task, name)]
        episodes = min(run.final["episodes"] for run in runs)
        numbers += f"; {episodes:.0f} episodes each"
        verdict = verdict if episodes >= FEWEST_EPISODES else NOT_CONFIRMED
    return Part(test.what, f"{test.measure.title}, {numbers}", verdict)


def place(interval: Interval, region: Region) -> str:
    """Return the verdict on an interval inside, outside, or across the edge of a region."""
    least, most = region
    if least < interval.low and interval.high < most:
        return CONFIRMED
    return REFUTED if interval.high < least or most < interval.low else NOT_CONFIRMED


def _seeds(group: np.ndarray) -> str:
    return f"{group.size} seed{'s' if group.size > 1 else ''}"
