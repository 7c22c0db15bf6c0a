"""A sample of environments that break a promise; `benchmarks/fuzz` has as many as one likes."""

import multiprocessing
import os
from pathlib import Path

import pytest
from benchmarks.fuzz.environments import NAME, Plan, attack, resume_in, train_in

from hal.runs.training import Training
from tests.corridor import small


def test_every_answer_is_legal() -> None:
    assert attack(2, seed=14) == []


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("exit", r"step raised SystemExit: 0 (environments.py, line "),
        ("kill", "the process of lane 0 was ended by SIGKILL; "),
        ("os_exit", "the process of lane 0 ended with exit code 5; "),
    ],
)
def test_one_that_ends_is_told(tmp_path: Path, fault: str, told: str) -> None:
    is_deadly = fault != "exit"
    answer = train_in(Plan(fault, at=30), tmp_path, *["--processes"] * is_deadly)
    assert answer.code == 1, answer
    assert answer.err.count("\n") == 1
    assert answer.err.startswith(f"hal: {NAME}: {told}")
    assert answer.err.endswith("; go on with: hal train --resume run\n")
    assert list((tmp_path / "run" / "checkpoints").glob("step-*/sums.json"))
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("fault", "processes", "num_steps"),
    [("hang", [], 116), ("hang", ["--processes"], 116), ("close hangs", [], 240)],
)
def test_one_that_hangs_is_stopped_by_the_second_signal(
    tmp_path: Path, fault: str, processes: list[str], num_steps: int
) -> None:
    answer = train_in(Plan(fault, at=30), tmp_path, *processes)
    assert answer.code == 130, answer
    assert answer.err.startswith(f"hal: stopped after {num_steps} steps; go on with: ")
    assert not multiprocessing.active_children()


def test_one_that_cannot_be_closed_is_told_once_and_done(tmp_path: Path) -> None:
    answer = train_in(Plan("close raises", at=30), tmp_path)
    assert answer.code == 0, answer
    assert answer.err.count("close raised RuntimeError: it is stuck (environments.py, line ") == 1
    assert (tmp_path / "run" / "evaluation.json").is_file()


def test_one_that_goes_elsewhere_does_not_take_the_run_along(tmp_path: Path) -> None:
    before = os.getcwd()
    answer = train_in(Plan("chdir", at=30), tmp_path)
    assert answer.code == 0, answer
    assert os.getcwd() == before
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"evaluation.json", "weights.safetensors", "metrics.jsonl"} <= names
    assert "checkpoints" not in names


def test_a_sound_one_is_resumed_where_another_failed(tmp_path: Path) -> None:
    assert train_in(Plan("raise", at=30), tmp_path).code == 1
    assert (tmp_path / "run" / "failure.txt").read_text().startswith(NAME)
    assert resume_in(Plan(), tmp_path).code == 0
    assert not (tmp_path / "run" / "failure.txt").exists()


def test_episodes_of_one_step() -> None:
    """Windows may begin on nothing but steps that only reset: there is nothing to learn then."""
    training = Training(
        small(horizon=1, window=1, trained_steps=1, batch_windows=1, warmup_steps=20)
    )
    while training.agent.num_steps < 400:
        training.step()
    assert 0 < training.agent.num_updates < 50
