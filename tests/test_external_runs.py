"""Runs in environments that are not of the package: stopped, resumed, loaded."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hal.agent.hal import HierarchicalAgent
from hal.runs.checkpoint import load
from hal.runs.lifecycle import Keeping, resume_training, run_training
from hal.runs.training import Training
from tests.corridor import SMALL, VECTOR, Corridor, small

HAL = Path(sys.executable).parent / "hal"


def test_a_run_goes_on_with_new_episodes() -> None:
    """Nothing is learned from the gap: its rows are no experience, what went before is cut."""
    training = Training(small(steps=1_000))
    for _ in range(60):
        training.step()
    agent = training.agent
    assert isinstance(agent, HierarchicalAgent)
    before, num_rows = agent.num_steps, agent.replay.num_rows
    num_stored = len(agent.meta.replay)
    training.begin_anew()
    assert agent.num_steps == before
    assert agent.replay.num_rows == num_rows + 1
    assert not agent.replay.is_valid[num_rows].any()
    assert (agent.replay.end[num_rows - 1] != 0).all(), "no return reaches over the gap"
    assert len(agent.meta.replay) == num_stored
    training.step()
    assert agent.replay.is_valid[num_rows + 1].all()
    assert (agent.episodes.present[:, 1] == 1).all(), "episodes are a step old"


def test_a_stopped_run_is_resumed_and_finished(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code = f"""
import signal, os
from hal.runs.lifecycle import (run_training, Keeping)
from hal.runs.training import (Training)
from tests.corridor import small
from pathlib import Path
step = Training.step
def stopping(self):
    step(self)
    if self.agent.num_steps >= 800:
        Training.step = step
        os.kill(os.getpid(), signal.SIGINT)
Training.step = stopping
run_training(small(steps=1600), Path({str(folder)!r}), Keeping(num_episodes=10))
"""
    stopped = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    assert stopped.returncode != 0
    assert "stopped after 80" in stopped.stderr
    result = resume_training(folder)
    assert result["steps"] == 1_600
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    steps = [line["steps"] for line in lines]
    assert steps == sorted(set(steps))
    assert steps[-1] >= 1_600


def test_a_signal_to_all_processes_leaves_a_checkpoint(tmp_path: Path) -> None:
    """Ctrl-C in a terminal reaches the lanes' processes too: they leave it to the run."""
    folder = tmp_path / "run"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    command = [str(HAL), "train", "--env", VECTOR, *options, "--steps=1000000", "--processes"]
    process = subprocess.Popen(
        [*command, "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    metrics = folder / "metrics.jsonl"
    while process.poll() is None and not (metrics.is_file() and metrics.stat().st_size):
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "go on with: hal train --resume" in errors
    assert list((folder / "checkpoints").glob("step-*/sums.json"))


def test_what_a_run_has_learned_keeps_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should the environment change the order of its milestones, the agent's stays."""
    run_training(small(steps=300), tmp_path / "run", Keeping(num_episodes=2))
    monkeypatch.setattr(Corridor, "milestones", ("key", "door"))
    assert load(tmp_path / "run").agent.facts.columns == (0, 1)
    monkeypatch.setattr(Corridor, "milestones", ("door", "key"))
    assert load(tmp_path / "run").agent.facts.columns == (1, 0)
    monkeypatch.setattr(Corridor, "milestones", ("door", "lock"))
    with pytest.raises(ValueError, match="unknown milestone 'key'; legal: door, lock"):
        load(tmp_path / "run")


def test_another_background_is_taken_from_the_checkpoint() -> None:
    training = Training(small())
    background = np.array([1, 2])
    assert training.background.tolist() == [0, 2], "row of zeros and ones, then the key's codes"
    training.take_background(background)
    assert training.agent.controller.encoder.background.tolist() == [1, 2]
