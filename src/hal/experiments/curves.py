"""Learning curves of runs: folders -> groups -> the mean of a metric, with its interval.

Runs that differ in nothing but their seeds are a group; a group is a curve.
"""

import math
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from hal.checks import printable
from hal.config.file import load_config
from hal.config.names import plain_name
from hal.config.presets import METHODS
from hal.config.settings import Config, values_of
from hal.runs.folder import find_runs, read_metrics

Lines = list[dict[str, Any]]  # the metrics of a run

LENGTH, RETURN, MARGIN = "episode/length", "episode/return", "filter/margin"
NO_RATES = (LENGTH, RETURN, MARGIN)
STEPS, SECONDS = "steps", "cpu_seconds"  # what a curve may run along
# Paul Tol's "muted" colours and black, told apart with any kind of colour vision.
COLOURS = {
    "oracle": "#117733",
    "hal": "#332288",
    "halo": "#aa4499",
    "hal-fnf": "#88ccee",
    "hal-rai": "#44aa99",
    "hal-rt": "#999933",
    "hal-cl": "#ddcc77",
    "hr": "#cc6677",
    "hr+her": "#882255",
    "rainbow": "#000000",
}
DASHES: list[Any] = ["-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3))]


@dataclass(frozen=True)
class Group:
    """Runs of one config but for the seed."""

    config: Config  # the seed and the device are the defaults
    label: str  # what tells it from the task's other groups
    runs: list[Lines]
    style: dict[str, Any]  # of its line: the method's colour, dashes that tell those of one apart

    @property
    def num_seeds(self) -> str:
        """Return how many seeds it has, in words."""
        return f"{len(self.runs)} seed{'s' if len(self.runs) > 1 else ''}"


@dataclass(frozen=True)
class Curve:
    """Mean of a metric and its 95% interval; NaN where there is none."""

    steps: np.ndarray  # or CPU seconds
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def is_known(self) -> bool:
        """Whether there is a mean anywhere."""
        return bool(np.isfinite(self.mean).any())


def read_groups(paths: list[Path]) -> dict[str, list[Group]]:
    """Return the groups of each task among the runs at or below some folders."""
    if not paths:
        raise ValueError("no runs are named; legal: folders of runs, or folders that contain some")
    folders = {run.resolve(): run for path in paths for run in find_runs(path)}
    where = ", ".join(str(path) for path in paths)
    if not folders:
        raise ValueError(f"there are no runs in {where}")
    members: dict[Config, dict[int, tuple[Path, Lines]]] = defaultdict(dict)
    for folder in folders.values():
        try:
            config, lines = load_config(folder), read_metrics(folder)
        except Exception as error:  # whatever is in a stranger's folder, the others are drawn
            reason = printable(str(error) or repr(error))
            print(f"hal: left out: {reason}", file=sys.stderr)
            continue
        if not lines:
            continue
        seeds = members[replace(config, seed=0, device="cpu")]
        if config.seed in seeds:
            # Counted twice, it would make the interval narrower than it is.
            other = seeds[config.seed][0]
            same = printable(f"{other}, as {folder} is the same once more")
            print(f"hal: left out: {same}", file=sys.stderr)
        seeds[config.seed] = folder, lines
    if not members:
        raise ValueError(f"the runs in {where} have no metrics yet")
    order = [*METHODS, *(config.method for config in members)]
    groups: dict[str, list[Group]] = defaultdict(list)
    for config in sorted(members, key=lambda config: order.index(config.method)):
        label = label_of(config, [other for other in members if other.task == config.task])
        runs = [lines for _, lines in members[config].values()]
        num_alike = sum(other.config.method == config.method for other in groups[config.task])
        colour = COLOURS.get(config.method, "grey")
        style = {"color": colour, "linestyle": DASHES[num_alike % len(DASHES)]}
        groups[config.task].append(Group(config, label, runs, style))
    return dict(groups)


def label_of(config: Config, others: list[Config]) -> str:
    """Return the method, and what else tells a config from others."""
    words = [config.method]
    if len({other.preset for other in others}) > 1:
        words.append(config.preset)
    alike = [o for o in others if (o.method, o.preset) == (config.method, config.preset)]
    values = [values_of(other) for other in alike]
    for path, value in values_of(config).items():
        if any(other[path] != value for other in values):
            text = "+".join(map(str, value)) or "all" if isinstance(value, tuple) else value
            words.append(f"{plain_name(path)}={text}")
    return printable(" ".join(words))


def common_steps(runs: list[Lines], along: str = STEPS) -> np.ndarray:
    """Return the steps at which any run has metrics, up to the shortest run's end."""
    steps = np.unique([line[along] for lines in runs for line in lines])
    return steps[steps <= min(lines[-1][along] for lines in runs)]


def mean_curve(runs: list[Lines], name: str, along: str = STEPS) -> Curve:
    """Return a metric's mean at the common steps, or seconds, where all runs have it."""
    runs = [[line for line in lines if math.isfinite(line.get(along, np.nan))] for lines in runs]
    if not all(runs):  # strangers' runs need not tell their seconds
        return Curve(*np.empty((4, 0)))
    steps = common_steps(runs, along)
    values = np.empty((len(runs), len(steps)))
    for row, lines in zip(values, runs, strict=True):
        own = [line[along] for line in lines]
        known = np.array([line.get(name, np.nan) for line in lines], dtype=float)
        known[~np.isfinite(known)] = np.nan
        row[:] = np.interp(steps, own, known, left=np.nan, right=np.nan)
    # Over the runs that happen to have it, the mean would jump where another one joins.
    mean, half = values.mean(axis=0), np.full(len(steps), np.nan)
    if len(runs) > 1:
        half = student.ppf(0.975, len(runs) - 1) * values.std(axis=0, ddof=1) / np.sqrt(len(runs))
    least, most = (-np.inf, np.inf) if name in NO_RATES else (0.0, 1.0)
    return Curve(steps, mean, np.clip(mean - half, least, most), np.clip(mean + half, least, most))
