"""What an experiment measured, small enough to keep: runs -> tables -> figures, claims, report.

`runs.csv` has each run's greedy evaluation, `curves.csv` its metrics during training (online, with
exploration), `costs.csv` the CPU time. The first two are the same whenever and wherever the runs
are repeated on one kind of machine.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from hal.config.settings import PRESETS
from hal.experiments.suite import RunSpec, Variant, digest
from hal.files import write_text
from hal.runs.folder import read_evaluation, read_metrics

RUNS, CURVES, COSTS = "runs.csv", "curves.csv", "costs.csv"
KEEP = 2  # of so many lines of metrics the last: fifty of a run are a curve
KEYS = ("task", "variant", "seed")
CURVE_METRICS = (
    "episode/success",
    "episode/length",
    "subpolicy/success",
    "mask/accuracy",
    "mask/impact",
    "mask/pruned",
    "mask/empty",
    "mask/overpruned",
    "mask/underpruned",
    "filter/margin",
    "filter/flagged",
    "filter/false_negatives",
    "filter/false_negative_accuracy",
    "filter/true_negative_accuracy",
)  # of the metrics during training
TOLD = ("task", "method", "preset", "seed")  # of an evaluation: what it was, not how it went


@dataclass(frozen=True)
class RunResult:
    """What is kept of one run."""

    task: str
    variant: str
    seed: int
    final: dict[str, float]  # its greedy evaluation: success, length, coverage/MILESTONE, mask/...
    lines: list[dict[str, Any]]  # "steps" and some of CURVE_METRICS, as `read_metrics` has them
    cost: dict[str, float]  # cpu_seconds of training, steps_per_second
    config: str = ""  # digest of its settings; unknown of tables from before it was kept


Results = list[RunResult]  # of one experiment


def collect(spec: RunSpec, folder: Path) -> RunResult:
    """Return what is kept of a run that is done."""
    evaluation = {k: v for k, v in read_evaluation(folder).items() if k not in TOLD}
    lines = read_metrics(folder)
    kept = [{k: line[k] for k in ("steps", *CURVE_METRICS) if k in line} for line in lines[::-KEEP]]
    cost = {name: lines[-1][name] for name in ("cpu_seconds", "steps_per_second")}
    key = (spec.config.task, spec.variant.name, spec.config.seed)
    return RunResult(*key, evaluation, kept[::-1], cost, digest(spec.config))


def recorded(specs: Iterable[RunSpec], results: Results) -> dict[str, RunResult]:
    """Return which runs have results of their own config already, by their folders."""
    known = {(run.task, run.variant, run.seed, run.config): run for run in results}
    keys = {
        spec.folder: (spec.config.task, spec.variant.name, spec.config.seed, digest(spec.config))
        for spec in specs
    }
    return {folder: known[key] for folder, key in keys.items() if key in known}


def is_current(run: RunResult, variant: Variant) -> bool:
    """Tell whether a run's config is what the variant has today, at one of the scales."""
    steps = int(run.final["steps"]) // variant.times
    configs = (variant.config(run.seed, preset, steps) for preset in PRESETS)
    return run.config in map(digest, configs)


def finals(results: Results, task: str, variant: str, metric: str = "success") -> np.ndarray:
    """Return a metric of each seed's greedy evaluation."""
    return np.array([run.final[metric] for run in select(results, task, variant)])


def averages(results: Results, task: str, variant: str, metric: str) -> np.ndarray:
    """Return each seed's mean over training of an online metric, where known; NaN if nowhere."""
    runs = select(results, task, variant)
    values = [[line[metric] for line in run.lines if metric in line] for run in runs]
    return np.array([np.mean(known) if known else np.nan for known in values])


def lasts(results: Results, task: str, variant: str, metric: str) -> np.ndarray:
    """Return each seed's mean of an online metric over the last tenth of training."""
    tails = [run.lines[-max(len(run.lines) // 10, 1) :] for run in select(results, task, variant)]
    values = [[line[metric] for line in lines if metric in line] for lines in tails]
    return np.array([np.mean(known) if known else np.nan for known in values])


def first_steps(results: Results, task: str, variant: str, metric: str, level: float) -> np.ndarray:
    """Return when each seed first had an online metric this high, in steps; infinity if never."""
    reached = [
        [line["steps"] for line in run.lines if line.get(metric, -np.inf) >= level]
        for run in select(results, task, variant)
    ]
    return np.array([steps[0] if steps else np.inf for steps in reached])


def select(results: Results, task: str, variant: str) -> Results:
    """Return the runs of a variant, by seed."""
    runs = [run for run in results if (run.task, run.variant) == (task, variant)]
    return sorted(runs, key=lambda run: run.seed)


def write_results(results: Results, folder: Path) -> None:
    """Write the tables of an experiment."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = [{name: getattr(run, name) for name in KEYS} for run in results]
    pairs = list(zip(keys, results, strict=True))
    _write(folder / CURVES, (key | line for key, run in pairs for line in run.lines))
    _write(folder / COSTS, (key | run.cost for key, run in pairs))
    _write(folder / RUNS, (key | {"config": run.config} | run.final for key, run in pairs))


def read_results(folder: Path) -> Results:
    """Return what `write_results` wrote; nothing if there is nothing."""
    if not (folder / RUNS).is_file():
        return []
    curves: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in _read(folder / CURVES):
        curves.setdefault(tuple(row.pop(name) for name in KEYS), []).append(row)
    costs = {tuple(row.pop(name) for name in KEYS): row for row in _read(folder / COSTS)}
    results = []
    for row in _read(folder / RUNS):
        key = task, variant, seed = tuple(row.pop(name) for name in KEYS)
        lines, cost, config = curves.get(key, []), costs.get(key, {}), row.pop("config", "")
        results.append(RunResult(task, variant, seed, row, lines, cost, config))
    return results


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write a table with a column for every name, in order of appearance."""
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _short(value) for name, value in row.items()} for row in rows)
    write_text(path, text.getvalue())


def _short(value: Any) -> Any:
    return f"{value:.4g}" if isinstance(value, float) else value


def _read(path: Path) -> list[dict[str, Any]]:
    """Return a table's rows, without their empty cells; all but the names are numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {name: _value(name, text) for name, text in row.items() if text}
            for row in csv.DictReader(file)
        ]


def _value(name: str, text: str) -> Any:
    if name in ("task", "variant", "config"):
        return text
    return int(text) if name in ("seed", "steps", "episodes") else float(text)
