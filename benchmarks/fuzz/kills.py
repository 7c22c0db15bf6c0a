"""Runs that are killed in the middle, again and again, and must become as if they never were."""

import random
import signal
import tempfile
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

from benchmarks.fuzz.folders import SMALL
from benchmarks.fuzz.forks import start
from benchmarks.same import differences
from hal.config.names import path_of
from hal.config.presets import make_config
from hal.runs.checkpoint import checkpoints_of
from hal.runs.training import Training

PER_RUN = 10  # kills
STEPS = 8_000
PATIENCE = 600.0  # seconds until a run must have got further
SETTINGS = {**SMALL, "steps": STEPS, "num_envs": 16, "horizon": 60, "replay_steps": 1_000}


def attack(count: int, seed: int) -> list[str]:
    """Return what is not legal after so many kills."""
    Training(make_config("stick", **SETTINGS)).env.close()  # what every run imports and compiles
    with tempfile.TemporaryDirectory() as place:
        straight = Path(place) / "straight"
        fault = _see_through(straight, _new(straight))
        faults = [f"kills {seed}: {fault}"] if fault else []
        for number in range(0, 0 if faults else count, PER_RUN):
            run = Path(place) / f"run-{number}"
            rng = random.Random(f"{seed}-{number}")
            fault = _kill_often(run, min(PER_RUN, count - number), rng)
            fault = fault or ", ".join(differences(straight, run))
            faults += [f"kills {seed}-{number}: {fault}"] if fault else []
    return faults


def _new(run: Path) -> list[str]:
    settings = [f"--{path_of(name)}={value}" for name, value in SETTINGS.items()]
    more = ["--episodes=5", "--checkpoint-seconds=0.05", f"--out={run}"]
    return ["train", "stick", *settings, *more]


def _see_through(run: Path, words: list[str]) -> str:
    """Run a command to its end; return what is wrong with it, if anything."""
    errors = run.with_suffix(".errors")
    process = start(words, errors)
    process.join(PATIENCE)
    process.kill()
    process.join()
    told = errors.read_text()[-300:]
    return "" if process.exitcode == 0 else f"exit code {process.exitcode}: {told}"


def _kill_often(run: Path, count: int, rng: random.Random) -> str:
    """Kill a run as often; see it through at last. Return what is wrong, if anything."""
    errors = run.with_suffix(".errors")
    for _ in range(count):
        is_new = not (run / "config.toml").exists()
        process = start(_new(run) if is_new else ["train", "--resume", str(run)], errors)
        fault = _wait_for_progress(run, process, rng.uniform(0, 0.1))
        process.kill()
        process.join()
        if fault or process.exitcode == 0:
            return fault or "it is done too soon to be killed"
        told = errors.read_text()
        is_odd = any(not line.startswith("hal: ") for line in told.splitlines())
        if process.exitcode != -signal.SIGKILL or is_odd:
            return f"exit code {process.exitcode}: {told[-300:]}"
    fault = _see_through(run, ["train", "--resume", str(run)])
    left = list(run.rglob("*.part"))
    return fault or (f"{left[0]} is left" if left else "")


def _wait_for_progress(run: Path, process: BaseProcess, more: float) -> str:
    """Wait until the run has got further than it was, and a moment longer."""
    before = {path.name for path in checkpoints_of(run)}
    deadline = time.monotonic() + PATIENCE
    while {path.name for path in checkpoints_of(run)} <= before:  # a damaged one may go
        if not process.is_alive() or time.monotonic() > deadline:
            return "" if process.exitcode else "it does not get further"
        time.sleep(0.01)
    time.sleep(more)
    return ""
