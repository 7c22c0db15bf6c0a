"""Runs that are killed in the middle, again and again, and must become as if they never were."""

import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.fuzz.folders import SMALL
from benchmarks.same import differences
from hal.config.names import path_of
from hal.runs.checkpoint import checkpoints_of

PER_RUN = 10  # kills
STEPS = 8_000
PATIENCE = 120.0  # seconds until a run must have got further
SETTINGS = {**SMALL, "steps": STEPS, "num_envs": 16, "horizon": 60, "replay_steps": 1_000}
HAL = [sys.executable, "-c", "from hal.cli import main; main()"]


def attack(count: int, seed: int) -> list[str]:
    """Return what is not legal after so many kills."""
    faults = []
    with tempfile.TemporaryDirectory() as place:
        straight = Path(place) / "straight"
        words = _new(straight)
        _see_through(words)
        for number in range(0, count, PER_RUN):
            run = Path(place) / f"run-{number}"
            rng = random.Random(f"{seed}-{number}")
            fault = _kill_often(run, min(PER_RUN, count - number), rng)
            fault = fault or ", ".join(differences(straight, run))
            faults += [f"kills {seed}-{number}: {fault}"] if fault else []
    return faults


def _new(run: Path) -> list[str]:
    settings = [f"--{path_of(name)}={value}" for name, value in SETTINGS.items()]
    more = ["--episodes=5", "--checkpoint-seconds=0.05", f"--out={run}"]
    return [*HAL, "train", "stick", *settings, *more]


def _see_through(words: list[str]) -> str:
    """Run a command to its end; return what is wrong with it, if anything."""
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE)
    return "" if ended.returncode == 0 else f"exit code {ended.returncode}: {ended.stderr[-300:]}"


def _kill_often(run: Path, count: int, rng: random.Random) -> str:
    """Kill a run as often; see it through at last. Return what is wrong, if anything."""
    for _ in range(count):
        is_new = not (run / "config.toml").exists()
        words = _new(run) if is_new else [*HAL, "train", "--resume", str(run)]
        with subprocess.Popen(words, stdout=-3, stderr=subprocess.PIPE, text=True) as process:
            fault = _wait_for_progress(run, process, rng.uniform(0, 0.1))
            process.kill()
            _, errors = process.communicate()
        if fault or process.returncode == 0:
            return fault or "it is done too soon to be killed"
        is_odd = any(not line.startswith("hal: ") for line in errors.splitlines())
        if process.returncode != -signal.SIGKILL or is_odd:
            return f"exit code {process.returncode}: {errors[-300:]}"
    fault = _see_through([*HAL, "train", "--resume", str(run)])
    left = list(run.rglob("*.part"))
    return fault or (f"{left[0]} is left" if left else "")


def _wait_for_progress(run: Path, process: "subprocess.Popen[str]", more: float) -> str:
    """Wait until the run has got further than it was, and a moment longer."""
    before = [path.name for path in checkpoints_of(run)]
    deadline = time.monotonic() + PATIENCE
    while [path.name for path in checkpoints_of(run)] == before:
        if process.poll() is not None or time.monotonic() > deadline:
            return "" if process.returncode else "it does not get further"
        time.sleep(0.01)
    time.sleep(more)
    return ""
