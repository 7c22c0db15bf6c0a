"""What runs cost: an estimate first, and better ones as runs of the same kind are done."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from hal.config.settings import Config
from hal.experiments.suite import RunSpec
from hal.runs.folder import is_done, read_metrics

# Environment steps per CPU second, measured on iron with two runs at once.
SPEEDS = {"oracle": 19_000, "hr": 26_000, "hr+her": 22_000, "rainbow": 40_000}
OTHER_SPEED = 13_000
PAPER_SPEED = 100
OTHER_SECONDS = 30.0  # to start a run and to evaluate it


class Costs:
    """CPU seconds of runs in a folder."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
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

    def seconds(self, spec: RunSpec) -> float:
        """Return what a whole run costs."""
        speeds = self._speeds.get(_kind(spec.config))
        speed = median(speeds) if speeds else _guess(spec.config)
        return spec.config.steps / speed + OTHER_SECONDS

    def seconds_left(self, specs: Sequence[RunSpec]) -> list[float]:
        """Return what is left to pay for each run that is not done."""
        return [
            self.seconds(spec)
            * (1 - share_done(read_metrics(self._runs / spec.folder), spec.config))
            for spec in specs
            if not is_done(self._runs / spec.folder)
        ]

    def table(self, plan: dict[str, list[RunSpec]]) -> Table:
        """Return a row for each variant of each experiment."""
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
                num_done = sum(is_done(self._runs / spec.folder) for spec in alike)
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


def _guess(config: Config) -> float:
    return PAPER_SPEED if config.preset == "paper" else SPEEDS.get(config.method, OTHER_SPEED)
