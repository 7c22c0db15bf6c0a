"""Tests of what an experiment measured, each with a verdict: results -> `claims.py`.

A comparison puts a quantity's 95% interval beside the region it should lie in; inside is confirmed,
outside refuted. A convergence counts seeds. One seed alone decides nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal

import numpy as np

from hal.experiments.results import Results, finals
from hal.experiments.stats import Interval, contrast, mean_interval

CONFIRMED, NOT_CONFIRMED = "confirmed", "not confirmed"
REFUTED, NOT_MEASURED = "refuted", "not measured"

Region = tuple[float, float]
MORE: Region = (0.0, inf)
CONVERGED = 0.95  # of the episodes end in success

Quantifier = Literal["every", "not every", "some", "no"]
QUANTIFIERS: dict[Quantifier, Callable[[np.ndarray], bool]] = {
    "every": lambda is_reached: bool(is_reached.all()),
    "not every": lambda is_reached: not is_reached.all(),
    "some": lambda is_reached: bool(is_reached.any()),
    "no": lambda is_reached: not is_reached.any(),
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
    level: float = CONVERGED
    measure: ClassVar[Measure] = FINAL

    @property
    def what(self) -> str:
        """The test in words."""
        return f"{self.quantifier} seed reaches {self.level:.0%} with {'; '.join(self.variants)}"

    def weigh(self, groups: Sequence[np.ndarray]) -> tuple[str, str]:
        """Return the numbers and the verdict."""
        numbers = [
            f"{variant}: {mean_interval(group)}, worst {group.min():.3f}, best {group.max():.3f},"
            f" {np.sum(group >= self.level)} of {_seeds(group)} reach {self.level:.0%}"
            for variant, group in zip(self.variants, groups, strict=True)
        ]
        is_met = QUANTIFIERS[self.quantifier](np.concatenate(groups) >= self.level)
        verdict = CONFIRMED if is_met else REFUTED
        if min(group.size for group in groups) < 2:
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
    return Part(test.what, f"{test.measure.title}, {numbers}", verdict)


def place(interval: Interval, region: Region) -> str:
    """Return the verdict on an interval inside, outside, or across the edge of a region."""
    least, most = region
    if least < interval.low and interval.high < most:
        return CONFIRMED
    return REFUTED if interval.high < least or most < interval.low else NOT_CONFIRMED


def _seeds(group: np.ndarray) -> str:
    return f"{group.size} seed{'s' if group.size > 1 else ''}"
