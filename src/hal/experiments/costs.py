"""What runs cost: an estimate for this machine, and better ones as runs of a kind are done."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from hal.config.settings import Config
from hal.experiments.calibration import calibrate, scale_of
from hal.experiments.suite import RunSpec
from hal.runs.folder import is_done, read_metrics

# Environment steps per CPU second of whole runs, two at once, where `calibration` was measured.
SPEEDS = {
    "fast": {"oracle": 19_000, "hr": 26_000, "hr+her": 22_000, "rainbow": 40_000},
    "paper": {"oracle": 125, "hr": 125, "hr+her": 125, "rainbow": 125},
}
OTHER_SPEED = {"fast": 13_500, "paper": 105}
OTHER_SECONDS = 30.0  # to start a run and to evaluate it


class Costs:
    """CPU seconds of runs in a folder."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._quickness: dict[str, float] = {}  # of this machine, by scale
        self._speeds: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        self._known: set[str] = set()

    def learn(self, specs: Sequence[RunSpec]) -> None:
        """Take the speed of runs that are done."""
        for spec in specs:
            folder = self._runs / spec.folder
            if spec.folder not in self._known and is_done(folder):
                self._known.add(spec.folder)
                last = read_metrics(folder)[-1]
                self._speeds[_kind(spec.config)].append(last["steps"] / last["cpu_seconds"])

    def calibrate(self, specs: Sequence[RunSpec]) -> None:
        """Measure this machine, if there are runs of which no like is done."""
        unknown = [spec for spec in specs if _kind(spec.config) not in self._speeds]
        self._quickness = calibrate(spec.config.preset for spec in unknown)

    def seconds(self, spec: RunSpec) -> float:
        """Return what a whole run costs."""
        speeds = self._speeds.get(_kind(spec.config))
        speed = median(speeds) if speeds else self._guess(spec.config)
        return spec.config.steps / speed + OTHER_SECONDS

    def seconds_left(self, specs: Sequence[RunSpec]) -> list[float]:
        """Return what is left to pay for each run that is not done."""
        return [
            self.seconds(spec)
            * (1 - share_done(read_metrics(self._runs / spec.folder), spec.config))
            for spec in specs
            if not is_done(self._runs / spec.folder)
        ]

    def _guess(self, config: Config) -> float:
        scale = scale_of(config.preset)
        speed = SPEEDS[scale].get(config.method, OTHER_SPEED[scale])
        return speed * self._quickness.get(scale, 1.0)

    def table(self, plan: dict[str, list[RunSpec]], recorded: set[str]) -> Table:
        """Return a row for each variant of each experiment; some runs are known by tables alone."""
        table = Table(box=SIMPLE_HEAD, padding=0)
        for name in ("experiment", "task", "variant"):
            table.add_column(name, overflow="fold")
        for name in ("runs", "done", "steps each", "CPU time"):
            table.add_column(name, justify="right", no_wrap=True)
        for experiment, specs in plan.items():
            by_variant: dict[tuple[str, str], list[RunSpec]] = defaultdict(list)
            for spec in specs:
                by_variant[spec.config.task, spec.variant.name].append(spec)
            for (task, variant), alike in by_variant.items():
                num_done = sum(
                    spec.folder in recorded or is_done(self._runs / spec.folder) for spec in alike
                )
                steps = f"{alike[0].config.steps:,}"
                cost = in_words(sum(map(self.seconds, alike)))
                row = (experiment, task, variant, str(len(alike)), str(num_done), steps, cost)
                table.add_row(*row)
        return table


def time_left(seconds: Sequence[float], num_slots: int) -> float:
    """Return how long runs take, so many at once."""
    return max(sum(seconds) / num_slots, max(seconds, default=0.0))


def share_done(lines: list[dict[str, Any]], config: Config) -> float:
    """Return how far a run with these metrics has come, from 0 to 1."""
    return min(lines[-1]["steps"] / config.steps, 1.0) if lines else 0.0


def in_words(seconds: float) -> str:
    """Return a time as hours, minutes, seconds."""
    return str(timedelta(seconds=round(seconds)))


def _kind(config: Config) -> tuple[str, str, str]:
    return config.task, config.method, config.preset
