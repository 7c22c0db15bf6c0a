"""Steps and CPU seconds until methods solve tasks: `make bench-learn`.

Each run's evaluations are appended to results/learn/TASK-METHOD-SEED.jsonl as they come; a run that
has its last line there is not run again. `e05` keeps 5% exploration at both levels, `e0` is greedy.
Evaluating bad agents takes long, as their episodes do: `e05` is looked at once 30% of the training
episodes succeed and at every million steps, where methods are compared; `e0` once `e05` is at 80%;
both at the end.
"""

import json
import math
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from hal.agent.protocol import Agent
from hal.agent.schedules import GREEDY, Exploration
from hal.config.presets import make_config
from hal.experiments.stats import contrast
from hal.files import file_name
from hal.runs.evaluation import evaluate
from hal.runs.training import train

MODES = {"e05": Exploration(controller=0.05, meta=0.05, mask=0.0), "e0": GREEDY}
LEVELS = (0.8, 0.95)
BUDGETS = {"treasure": 2_500_000, "iron": 3_000_000}
COMPARED_EVERY = 1_000_000
PAIRS = (("oracle", "hal"), ("hal", "hr+her"), ("hr+her", "hr"), ("hal", "rainbow"))


@dataclass(frozen=True)
class Bench:
    """Which runs."""

    tasks: tuple[str, ...] = ("treasure", "iron")
    """Tasks."""
    methods: tuple[str, ...] = ("oracle", "hal", "hal-fnf", "hr+her", "hr", "rainbow")
    """Methods."""
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    """Seeds."""
    steps: int | None = None
    """Environment steps of each run; the task's budget without it."""
    every: int = 250_000
    """Environment steps between two evaluations."""
    episodes: int = 200
    """Episodes per evaluation."""
    jobs: int = 2
    """Runs at once, one thread each."""
    out: Path = Path("results/learn")
    """Where the evaluations are kept."""


def run(bench: Bench, task: str, method: str, seed: int) -> None:
    """Do one run, unless it is done."""
    path = path_of(bench, task, method, seed)
    steps = steps_of(bench, task)
    if path.exists() and read(path)[-1]["steps"] >= steps:
        return
    path.unlink(missing_ok=True)

    def success_rate(mode: str, agent: Agent) -> float:
        episodes = evaluate(agent, num_episodes=bench.episodes, explore=MODES[mode])
        return float(episodes.success.mean())

    def report(metrics: dict[str, Any], agent: Agent) -> None:
        is_last = metrics["steps"] >= steps
        is_compared = metrics["steps"] % COMPARED_EVERY < bench.every
        if is_last or is_compared or metrics["episode/success"] >= 0.3:
            metrics["e05"] = success_rate("e05", agent)
        if is_last or metrics.get("e05", 0.0) >= 0.8:
            metrics["e0"] = success_rate("e0", agent)
        kept = metrics if is_last else {k: v for k, v in metrics.items() if k.count("/") < 2}
        with path.open("a") as file:
            file.write(json.dumps({name: round(value, 4) for name, value in kept.items()}) + "\n")

    train(make_config(task, method, seed=seed, steps=steps), report, bench.every)


def steps_of(bench: Bench, task: str) -> int:
    """Return how long the runs of a task are."""
    return bench.steps or BUDGETS.get(task) or make_config(task).steps


def path_of(bench: Bench, task: str, method: str, seed: int) -> Path:
    """Return where a run's evaluations are kept."""
    return bench.out / f"{file_name(task)}-{method}-{seed}.jsonl"


def read(path: Path) -> list[dict[str, Any]]:
    """Return a run's evaluations."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def runs_of(bench: Bench, task: str, method: str) -> list[list[dict[str, Any]]]:
    """Return the evaluations of every seed that has been run."""
    paths = [path_of(bench, task, method, seed) for seed in bench.seeds]
    return [read(path) for path in paths if path.exists()]


def reached(lines: list[dict[str, Any]], mode: str, level: float) -> dict[str, Any] | None:
    """Return the first of two consecutive evaluations at this level."""
    for first, second in pairwise(lines):
        if min(first.get(mode, 0.0), second.get(mode, 0.0)) >= level:
            return first
    return None


def table(bench: Bench) -> str:
    """Return medians over seeds, and how many seeds got there."""
    titles = [f"{mode} >= {level:.0%}" for mode in MODES for level in LEVELS]
    names = [(task, method) for task in bench.tasks for method in bench.methods]
    width = 1 + max(len(f"{task} {method}") for task, method in names)
    rows = ["".ljust(width) + "".join(title.center(24) for title in titles)]
    for task, method in names:
        runs = runs_of(bench, task, method)
        cells = [cell(runs, mode, level) for mode in MODES for level in LEVELS]
        rows.append(f"{task} {method}".ljust(width) + "".join(text.center(24) for text in cells))
    return "\n".join(rows)


def cell(runs: list[list[dict[str, Any]]], mode: str, level: float) -> str:
    """Return the median time and steps of the runs that reached the level."""
    hits = [hit for lines in runs if (hit := reached(lines, mode, level))]
    if not hits:
        return f"0/{len(runs)}"
    seconds = float(np.median([hit["cpu_seconds"] for hit in hits]))
    steps = float(np.median([hit["steps"] for hit in hits]))
    return f"{seconds:.0f} s, {steps / 1e6:.3f}M, {len(hits)}/{len(runs)}"


def compare(bench: Bench) -> str:
    """Return how `e05` differs, with 95% intervals.

    That is once HAL's last run to get there is at 95%, or at the end.
    """
    lines = []
    for task in bench.tasks:
        runs = {method: runs_of(bench, task, method) for method in {m for p in PAIRS for m in p}}
        hits = [line["steps"] for lines in runs["hal"] if (line := reached(lines, "e05", 0.95))]
        end = steps_of(bench, task)
        hit = max(hits, default=end) // bench.every * bench.every  # evaluations are a bit late
        steps = min(math.ceil(hit / COMPARED_EVERY) * COMPARED_EVERY, end)
        for better, worse in PAIRS:
            ours, theirs = (rates_at(runs[method], steps) for method in (better, worse))
            if min(len(ours), len(theirs)) < 2:
                continue
            difference = contrast([np.array(ours), np.array(theirs)], [1, -1])
            lines.append(
                f"{task} at {steps / 1e6:.2f}M: {better} - {worse} = {difference},"
                f" {len(ours)} and {len(theirs)} seeds"
            )
    return "\n".join(lines)


def rates_at(runs: list[list[dict[str, Any]]], steps: float) -> list[float]:
    """Return `e05` of each run that has come so far, in its first evaluation from there on."""
    rates = [
        [line["e05"] for line in lines if line["steps"] >= steps and "e05" in line]
        for lines in runs
    ]
    return [later[0] for later in rates if later]


def end_with_parent() -> None:
    """Have this process end when its parent does, however that ends."""
    parent = parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


def main(bench: Bench) -> None:
    """Run what is missing, then print the table."""
    bench.out.mkdir(parents=True, exist_ok=True)
    jobs = [(t, m, s) for s in bench.seeds for t in bench.tasks for m in bench.methods]
    spawned = get_context("spawn")
    with ProcessPoolExecutor(bench.jobs, spawned, initializer=end_with_parent) as pool:
        futures = [pool.submit(run, bench, *job) for job in jobs]
        for job, future in zip(jobs, futures, strict=True):
            future.result()
            print("done:", *job, flush=True)
    report = f"{table(bench)}\n\n{compare(bench)}\n"
    (bench.out / "table.txt").write_text(report)
    print(report)


if __name__ == "__main__":
    main(tyro.cli(Bench))
