"""A run whose folder, checkpoints or memory go away, or that is stopped where it matters."""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hal.agent.memory import check_memory
from hal.config.presets import METHODS, make_config
from hal.config.settings import PRESETS
from hal.envs.grid import ENV_IDS
from hal.envs.grid.vector import GridVectorEnv
from hal.envs.observations import parts_of
from hal.errors import FailedError, StoppedError
from hal.runs.checkpoint import checkpoints_of
from hal.runs.evaluation import evaluate
from hal.runs.folder import read_metrics
from hal.runs.lifecycle import Keeping, resume_training, run_training
from hal.runs.policy import Policy
from hal.runs.signals import is_stop
from hal.runs.training import Training
from tests.corridor import small
from tests.parts import TINY

KEEPING = Keeping(num_episodes=2)


def at_step(number: int, act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let something happen in the middle of training."""
    step = Training.step

    def meddled(self: Training) -> None:
        step(self)
        if self.agent.num_steps >= number:
            monkeypatch.setattr(Training, "step", step)
            act()

    monkeypatch.setattr(Training, "step", meddled)


def test_a_run_that_is_moved_goes_on_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, moved = tmp_path / "run", tmp_path / "moved"
    at_step(500, lambda: run.rename(moved), monkeypatch)
    told = f"run was moved to {moved} while it was trained; go on with: .*--resume {moved}"
    with pytest.raises(FailedError, match=told):
        run_training(small(steps=1_000), run, KEEPING)
    assert not run.exists()
    assert resume_training(moved)["steps"] == 1_000
    steps = [line["steps"] for line in read_metrics(moved)]
    assert steps == sorted(set(steps))
    assert len(steps) > 90, "nothing is lost"


@pytest.mark.parametrize("what", ["all", "config.toml", "metrics.jsonl"])
def test_a_run_that_is_removed_is_kept_as_far_as_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    run = tmp_path / "run"
    remove = (run / what).unlink if what != "all" else lambda: shutil.rmtree(run)
    at_step(500, remove, monkeypatch)
    told = "run was removed while it was trained; all but its metrics is there again, go on with"
    with pytest.raises(FailedError, match=told):
        run_training(small(steps=1_000), run, KEEPING)
    assert checkpoints_of(run)
    assert resume_training(run)["steps"] == 1_000


def test_what_has_come_in_its_place_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"

    def replace() -> None:
        shutil.rmtree(run)
        run.mkdir()
        (run / "precious").touch()

    at_step(500, replace, monkeypatch)
    with pytest.raises(FailedError, match="something else is there; nothing is kept"):
        run_training(small(steps=1_000), run, KEEPING)
    assert [path.name for path in run.iterdir()] == ["precious"]


def stop_at(number: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train until somebody stops it."""
    at_step(number, lambda: signal.raise_signal(signal.SIGTERM), monkeypatch)
    with pytest.raises(StoppedError) as stop:
        run_training(small(steps=1_000), folder, KEEPING)
    assert stop.value.code == 143


@pytest.mark.parametrize("is_folder_left", [True, False])
def test_lost_checkpoints_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_folder_left: bool
) -> None:
    run = tmp_path / "run"
    stop_at(500, run, monkeypatch)
    before = (run / "metrics.jsonl").read_text()
    checkpoints = run / "checkpoints"
    checkpoints.rename(tmp_path / "elsewhere")
    if is_folder_left:
        checkpoints.mkdir()
    with pytest.raises(
        ValueError, match="run has lost its checkpoints, the last was step-0000"
    ) as e:
        resume_training(run)
    assert "\n" not in str(e.value)
    assert (run / "metrics.jsonl").read_text() == before
    shutil.rmtree(checkpoints, ignore_errors=True)
    (tmp_path / "elsewhere").rename(checkpoints)
    assert resume_training(run)["steps"] == 1_000


def test_a_run_without_a_checkpoint_so_far_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise OSError("no power")

    at_step(500, fail, monkeypatch)
    with pytest.raises(FailedError, match="no power"):
        run_training(small(steps=1_000), tmp_path / "run", KEEPING)
    assert resume_training(tmp_path / "run")["steps"] == 1_000
    assert "run was stopped before its first checkpoint: it begins again" in capsys.readouterr().out


TOO_MUCH = {
    "width": "controller.hidden_size",
    "meta_width": "meta.hidden_size",
    "context_width": "affordances.hidden_size",
    "context_size": "affordances.context_size",
    "knn_n": "affordances.knn_n",
    "examples": "affordances.examples",
    "triplets": "affordances.triplets",
    "num_negatives": "affordances.num_negatives",
    "classifier_batch": "affordances.classifier_batch",
    "replay_steps": "replay.capacity",
    "batch_windows": "replay.batch_windows",
    "meta_replay": "meta.capacity",
    "meta_batch": "meta.batch_size",
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_too_much_memory_is_refused_before_it_is_taken(name: str) -> None:
    for value in (10**8, 10**11):
        settings: dict[str, Any] = {name: value}
        told = rf"{TOO_MUCH[name]} {value:,}.*: .* GB of memory, .*; legal: up to 8 GB"
        with pytest.raises(ValueError, match=told):
            Training(make_config("treasure", **settings))


def test_whatever_is_there_to_be_trained_has_room() -> None:
    for task in ENV_IDS.values():
        env = GridVectorEnv(task)
        parts = parts_of(env.single_observation_space)
        for method in METHODS:
            for preset in PRESETS:
                config = make_config(task, method, preset)
                check_memory(config, parts, len(env.milestones))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_evaluation_is_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    decide, is_late = Policy.decide, [False]

    def signalled(self: Policy, *values: Any) -> Any:
        if not is_late[0]:
            is_late[0] = True
            signal.raise_signal(number)
            is_late.append(True)  # the step goes on: numba knows no half ones
        return decide(self, *values)

    monkeypatch.setattr(Policy, "decide", signalled)
    with pytest.raises(StoppedError) as stop:
        run_training(small(steps=300), tmp_path / "run", KEEPING)
    assert stop.value.code == 128 + number
    assert is_late == [True, True]
    assert resume_training(tmp_path / "run")["episodes"] == 2


def test_what_numba_makes_of_an_interrupt_is_one() -> None:
    error = SystemError("a kernel returned a result with an exception set")
    assert not is_stop(error)
    error.__cause__ = KeyboardInterrupt()
    assert is_stop(error)


def test_whoever_evaluates_is_interrupted_between_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    config = make_config("log", **TINY)
    training, calls = Training(config), []
    decide = Policy.decide

    def signalled(self: Policy, *values: Any) -> Any:
        calls.append("begun")
        signal.raise_signal(signal.SIGINT)
        decision = decide(self, *values)
        calls.append("done")
        return decision

    monkeypatch.setattr(Policy, "decide", signalled)
    # A shell has what it runs in the background ignore Ctrl-C, these tests among that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            evaluate(training.agent, num_episodes=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == ["begun", "done"]
