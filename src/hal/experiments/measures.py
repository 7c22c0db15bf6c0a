"""By what groups of runs are compared: curves -> what they reach, when, and what is wasted."""

from dataclasses import dataclass

import numpy as np

from hal.experiments.curves import RETURN, Group, mean_curve

SUCCESS = "episode/success"
WASTED, CIRCLES = "subpolicy/wasted", "milestones/circles"
MASK = ("mask/accuracy", "mask/overpruned", "mask/underpruned")
SOLVED, SELDOM = 0.8, 0.05  # rates of success


@dataclass(frozen=True)
class Measure:
    """What counts in a task, and a level of it that all groups are held against."""

    name: str
    title: str
    level: float
    level_title: str


def measure_of(groups: list[Group]) -> Measure:
    """Return success; or the return, where it is earned though nobody succeeds but seldom."""
    successes = np.concatenate([mean_curve(group.runs, SUCCESS).mean for group in groups])
    best = max(_last(group, RETURN) for group in groups)
    if best > 0 and not np.any(successes > SELDOM):
        return Measure(RETURN, "online return", best / 2, f"half ({best / 2:.3g})")
    return Measure(SUCCESS, "online success", SOLVED, f"{SOLVED:.0%}")


def _last(group: Group, name: str) -> float:
    means = mean_curve(group.runs, name).mean
    return float(means[np.isfinite(means)][-1:].sum())  # 0 where it is not told


def first_at(group: Group, measure: Measure, along: str) -> float:
    """Return after how many steps or seconds a mean is at the level: inf: never; nan: not told."""
    curve = mean_curve(group.runs, measure.name, along)
    if not curve.is_known:
        return np.nan
    return float(min(curve.steps[curve.mean >= measure.level], default=np.inf))


def overall(group: Group, name: str) -> float | None:
    """Return a metric's mean over all of training, if it is told."""
    means = mean_curve(group.runs, name).mean
    known = means[np.isfinite(means)]
    return float(known.mean()) if known.size else None


def untold(group: Group) -> list[str]:
    """Return what the runs of a group do not tell, though newer ones would."""
    words = {CIRCLES: "circles"}
    if not group.config.options.is_flat:
        words = {WASTED: "wasted steps", **words}
    return [word for name, word in words.items() if not mean_curve(group.runs, name).is_known]
