"""A run that is stopped, however, and resumed equals the run that never was."""

import json
import os
import signal
import subprocess
import sys
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from benchmarks.fuzz.answers import answer_to
from benchmarks.fuzz.forks import start
from benchmarks.fuzz.kills import attack
from safetensors.torch import load_file

from hal.cli.entry import main
from hal.runs.checkpoint import checkpoints_of
from hal.runs.folder import CHECKPOINTS, read_metrics
from hal.runs.lifecycle import resume_training
from tests.test_snapshot import without_times
from tests.tiny import TINY

HAL = str(Path(sys.executable).parent / "hal")


def options(**more: Any) -> list[str]:
    words: list[str] = []
    for name, value in {**TINY, **more}.items():
        dashed = name.replace("_", "-")
        words += [f"--no-{dashed}"] if value is False else [f"--{dashed}", str(value)]
    return words


def outcome(run: Path) -> tuple[list[dict[str, Any]], str, dict[str, bytes]]:
    weights = load_file(run / "weights.safetensors")
    return (
        [without_times(line) for line in read_metrics(run)],
        (run / "evaluation.json").read_text(),
        {name: tensor.numpy().tobytes() for name, tensor in weights.items()},
    )


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never stopped."""
    run = tmp_path_factory.mktemp("runs") / "straight"
    words = ["train", "stick", *options(steps=8_000), "--episodes", "5", "--out", str(run)]
    assert answer_to(words, patience=300).code == 0
    assert not (run / CHECKPOINTS).exists(), "a finished run needs none"
    return run


def errors_of(run: Path) -> Path:
    return run.with_suffix(".errors")


def told(run: Path, process: BaseProcess, code: int) -> str:
    """Wait for its end, and return what it said was wrong."""
    process.join(300)
    errors = errors_of(run).read_text()
    assert process.exitcode == code, errors
    return errors


def begin(run: Path) -> BaseProcess:
    if (run / "config.toml").exists():
        return start(["train", "--resume", str(run)], errors_of(run))
    words = ["train", "stick", *options(steps=8_000), "--episodes", "5"]
    return start([*words, "--checkpoint-seconds", "0.05", "--out", str(run)], errors_of(run))


def kill(run: Path, process: BaseProcess) -> None:
    process.kill()
    told(run, process, -signal.SIGKILL)


def wait_for_progress(run: Path, process: BaseProcess, more: float) -> None:
    """Wait until the run has got further than it was, and a moment longer."""
    before = {path.name for path in checkpoints_of(run)}
    deadline = time.monotonic() + 300
    while {path.name for path in checkpoints_of(run)} <= before:  # a damaged one may go
        assert process.is_alive(), errors_of(run).read_text()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(more)


def test_kills_change_nothing() -> None:
    assert attack(3, seed=0) == []


def assert_stopped(run: Path, process: BaseProcess, number: signal.Signals) -> str:
    assert process.pid is not None
    os.kill(process.pid, number)
    errors = told(run, process, 128 + number)
    line = errors.splitlines()[-1]
    assert line.startswith("hal: stopped after ")
    assert line.endswith(f"go on with: hal train --resume {run}")
    return errors


def assert_disk_full(run: Path) -> None:
    before = [path.name for path in checkpoints_of(run)]
    more = ["--resume", str(run), "--checkpoint-seconds", "0"]
    limited = subprocess.run(
        ["bash", "-c", 'ulimit -f 100; exec "$@"', "-", HAL, "train", *more],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert limited.returncode == 1, limited.stderr
    assert limited.stderr.count("\n") == 1
    assert "File too large" in limited.stderr
    assert f"go on with: hal train --resume {run}" in limited.stderr
    assert [path.name for path in checkpoints_of(run)] == before
    assert "File too large" in (run / "failure.txt").read_text()


def test_whatever_happens_a_run_goes_on(tmp_path: Path, straight: Path) -> None:
    run = tmp_path / "run"
    process = begin(run)
    wait_for_progress(run, process, 0.1)
    assert_stopped(run, process, signal.SIGINT)

    assert_disk_full(run)

    process = begin(run)
    wait_for_progress(run, process, 0)
    assert not (run / "failure.txt").exists()
    with pytest.raises(ValueError, match=f"^{run} is being trained by another process$"):
        resume_training(run)
    kill(run, process)

    newest = checkpoints_of(run)[0]  # killed while it saved, a run has three
    with (newest / "arrays.npz").open("r+b") as file:
        file.truncate(1_000)
    process = begin(run)
    wait_for_progress(run, process, 0)
    errors = assert_stopped(run, process, signal.SIGTERM)
    assert f"hal: {newest} is damaged: the checksum of arrays.npz is wrong" in errors

    told(run, begin(run), 0)
    assert outcome(run) == outcome(straight)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.touch()  # a file where a folder should be: permissions do not stop everyone
    answer = answer_to(["train", "stick", *options(), "--out", str(blocked / "run")], patience=300)
    assert answer.code == 1
    assert "Not a directory" in answer.err.splitlines()[-1]


def test_what_cannot_be_resumed_is_refused(
    tmp_path: Path,
    straight: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = outcome(straight)
    for arguments, message in (
        (["--resume", str(straight)], "is done; see it with: hal eval"),
        (["--resume", str(tmp_path)], "is not a run: it has no config.toml"),
        (["--resume", str(straight), "--steps", "3000000"], "with the run's own settings"),
        (["iron", "--resume", str(straight)], "with the run's own settings"),
        (["stick", "--out", str(straight)], "exists already"),
    ):
        monkeypatch.setattr(sys, "argv", ["hal", "train", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 2, arguments
        errors = capsys.readouterr().err
        assert message in errors
        assert errors.count("\n") == 1
    assert outcome(straight) == before
    assert json.loads((straight / "evaluation.json").read_text())["episodes"] == 5
