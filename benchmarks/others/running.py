"""One run: train, evaluate now and then, and go on where it was stopped.

A run has a folder like any other, which `hal compare`, `hal watch` and `hal eval` take, with a
checkpoint at each line. Its lines are apart from it: they are what is kept.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learn import MODES
from benchmarks.others.episodes import EpisodeLog
from benchmarks.others.testbeds import Testbed
from hal.agent.options import NONE
from hal.config.file import load_config
from hal.config.settings import Config, with_values
from hal.files import locked, write_text
from hal.runs.checkpoint import forget_checkpoints, load_newest, save_agent, save_checkpoint
from hal.runs.evaluation import evaluate
from hal.runs.folder import LOCK
from hal.runs.lifecycle import Keeping, prepare_run
from hal.runs.loggers import make_loggers
from hal.runs.training import Training

WORTH_A_LOOK = 0.3  # online success from which on agents are evaluated: bad ones take long

Lines = list[dict[str, Any]]


@dataclass(frozen=True)
class Run:
    """One method in one testbed."""

    testbed: Testbed
    method: str
    seed: int
    num_episodes: int  # of an evaluation
    folder: Path
    lines: Path

    def is_done(self) -> bool:
        """Tell whether it has all its lines."""
        lines = read(self.lines)
        return bool(lines) and lines[-1]["steps"] >= self.testbed.steps

    def steps_left(self) -> int:
        """Return how many of its steps are to be done, as far as its lines tell."""
        lines = read(self.lines)
        return max(self.testbed.steps - (lines[-1]["steps"] if lines else 0), 0)


def read(path: Path) -> Lines:
    """Return a run's lines so far."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def see_through(run: Run) -> None:
    """Do what is left of a run."""
    if run.is_done():
        return
    training = Training(run.testbed.config(run.method, run.seed), run.testbed.every)
    with closing(training.env):
        config = with_values(training.config, {"environment.milestones": training.env.milestones})
        _prepare(run, config)
        with locked(run.folder / LOCK, f"{run.folder} is being trained by another process"):
            load_newest(training, run.folder)
            _go_on(run, training)


def _prepare(run: Run, config: Config) -> None:
    """Make the run's folder, unless it was begun with the same settings."""
    if not run.folder.exists():
        prepare_run(config, run.folder, Keeping())
    elif load_config(run.folder) != config:
        raise ValueError(f"{run.folder} was begun with other settings; move it away to begin anew")


def _go_on(run: Run, training: Training) -> None:
    lines = [line for line in read(run.lines) if line["steps"] <= training.agent.num_steps]
    loggers = make_loggers(run.folder, training.config, training.agent.num_steps, False)
    try:
        for metrics, line in _windows(run, training):
            for logger in loggers:
                logger.write(metrics)
                logger.sync()
            lines.append(line)
            write_text(run.lines, "".join(json.dumps(each) + "\n" for each in lines))
            save_checkpoint(training, run.folder)
    finally:
        for logger in loggers:
            logger.close()
    save_agent(training.agent, run.folder)
    forget_checkpoints(run.folder)


def _windows(run: Run, training: Training) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Train, and yield metrics and a line whenever one is due."""
    log = EpisodeLog(training.env.num_envs, len(training.agent.milestones))
    while not training.is_done:
        training.step()
        log.add(training.info["milestones"], training.agent.is_resetting)
        metrics = training.report()
        if metrics is not None:
            yield metrics, _line(run, training, metrics, log)


def _line(run: Run, training: Training, metrics: dict[str, Any], log: EpisodeLog) -> dict[str, Any]:
    agent = training.agent
    num_episodes, counts = log.take()
    line = {
        "steps": metrics["steps"],
        "cpu_seconds": metrics["cpu_seconds"],
        "online": metrics["episode/success"],
        "episodes": num_episodes,
        "achieved": dict(zip(agent.milestones, counts, strict=True)),
    }
    has_task = agent.facts.final != NONE
    if has_task and (training.is_done or line["online"] >= WORTH_A_LOOK):
        for mode, explore in MODES.items():
            episodes = evaluate(agent, num_episodes=run.num_episodes, explore=explore)
            line[mode] = float(episodes.success.mean())
            if episodes.success.any():
                line[f"{mode}_length"] = float(np.mean(episodes.length[episodes.success]))
            if "mask/accuracy" in episodes.mask:
                line[f"{mode}_mask"] = episodes.mask["mask/accuracy"]
    return line
