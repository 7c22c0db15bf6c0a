"""A run that is stopped, however, and resumed equals the run that never was."""

import hashlib
import json
import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file

from hal.cli.entry import main
from hal.config.presets import METHODS, make_config
from hal.errors import DamagedError
from hal.runs.checkpoint import checkpoints_of, load_checkpoint, save_checkpoint
from hal.runs.folder import CHECKPOINTS, read_metrics
from hal.runs.lifecycle import _load_newest
from hal.runs.snapshot import Parts, gather
from hal.runs.training import Training
from tests.tiny import TINY

HAL = str(Path(sys.executable).parent / "hal")


def without_times(line: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in line.items() if not k.endswith(("second", "seconds"))}


def finish(training: Training) -> list[dict[str, Any]]:
    lines = []
    while not training.is_done:
        training.step()
        if (metrics := training.report()) is not None:
            lines.append(without_times(metrics))
    return lines


def assert_same(ours: Training, theirs: Training) -> None:
    ours.cpu_seconds = theirs.cpu_seconds = 0.0
    our_parts, their_parts = Parts(), Parts()
    gather(ours, "run", our_parts)
    gather(theirs, "run", their_parts)
    as_json = [json.dumps(parts.values, sort_keys=True) for parts in (our_parts, their_parts)]
    assert as_json[0] == as_json[1]
    assert our_parts.arrays.keys() == their_parts.arrays.keys()
    for name, array in our_parts.arrays.items():
        np.testing.assert_array_equal(array, their_parts.arrays[name], err_msg=name)
    assert our_parts.tensors.keys() == their_parts.tensors.keys()
    for name, tensor in our_parts.tensors.items():
        assert tensor.equal(their_parts.tensors[name]), name


@pytest.mark.parametrize(
    ("method", "overrides"),
    [
        *((method, {}) for method in METHODS),
        ("hal", {"prioritised": True, "window": 10, "trained_steps": 1, "trace": 1.0}),
        ("hal", {"torso": "convolution", "batch_windows": 2}),
        ("hal", {"is_agnostic": True, "disappear_rate": 0.1}),
        ("rainbow", {"prioritised": True}),
    ],
)
def test_a_checkpoint_has_everything(
    tmp_path: Path, method: str, overrides: dict[str, Any]
) -> None:
    config = make_config("stick", method, **{**TINY, **overrides})
    straight, stopped, resumed = (Training(config, report_every=500) for _ in range(3))
    while stopped.agent.num_steps < 1_300:
        stopped.step()
        stopped.report()
    save_checkpoint(stopped, tmp_path)
    (path,) = checkpoints_of(tmp_path)
    load_checkpoint(resumed, path)
    assert_same(stopped, resumed)
    assert finish(resumed) == finish(straight)[2:]
    assert_same(straight, resumed)


# What changes and need not be kept: it is set anew before it is read, or kept under another name.
FREE = {
    "HierarchicalAgent": {"_acted"},
    "RainbowAgent": {"_acted"},
    "Affordances": {"context"},
    "GridVectorEnv": {"_actions", "_collected", "_final"},
}


def not_kept(item: Any, path: str) -> Iterator[tuple[str, bytes]]:
    """Yield the attributes of an object, and of all it keeps, that it does not keep."""
    free = FREE.get(type(item).__name__, set())
    for name, value in vars(item).items():
        if name not in item.KEPT and name not in free:
            yield f"{path}.{name}", pickle.dumps(value)
    for name in item.KEPT:
        if hasattr(getattr(item, name), "KEPT"):
            yield from not_kept(getattr(item, name), f"{path}.{name}")


@pytest.mark.parametrize("method", ["hal", "rainbow"])
@pytest.mark.parametrize("prioritised", [False, True])
def test_what_is_not_kept_does_not_change(method: str, prioritised: bool) -> None:
    training = Training(make_config("stick", method, **TINY, prioritised=prioritised))
    before = dict(not_kept(training, "run"))
    assert len(before) > 20
    finish(training)
    after = dict(not_kept(training, "run"))
    assert [path for path, content in before.items() if after[path] != content] == []


def test_only_the_last_two_checkpoints_are_kept(tmp_path: Path) -> None:
    training = Training(make_config("stick", **TINY))
    steps = []
    for _ in range(4):
        training.step()
        save_checkpoint(training, tmp_path)
        steps.append(training.agent.num_steps)
    names = [f"step-{number:012d}" for number in steps[:1:-1]]
    assert [path.name for path in checkpoints_of(tmp_path)] == names
    assert sorted(path.name for path in (tmp_path / CHECKPOINTS).iterdir()) == names[::-1]


def test_a_damaged_checkpoint_does_not_keep_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    training = Training(make_config("stick", **TINY))
    for _ in range(2):
        training.step()
        save_checkpoint(training, tmp_path)
    newest, older = checkpoints_of(tmp_path)
    (newest / "values.json").write_text("{}")
    _load_newest(Training(training.config), tmp_path)
    assert checkpoints_of(tmp_path) == [older]
    assert "trying the one before" in capsys.readouterr().err
    (older / "values.json").unlink()
    with pytest.raises(ValueError, match="has no whole checkpoint"):
        _load_newest(Training(training.config), tmp_path)
    assert "there is no other one" in capsys.readouterr().err


def test_damage_is_found(tmp_path: Path) -> None:
    config = make_config("stick", **TINY)
    training = Training(config)
    training.step()
    save_checkpoint(training, tmp_path)
    (path,) = checkpoints_of(tmp_path)
    rng = random.Random(0)
    for file in sorted(path.iterdir()):
        whole = file.read_bytes()
        at = rng.randrange(len(whole))
        flipped = whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :]
        for bad in (flipped, whole[: len(whole) // 2], b""):
            file.write_bytes(bad)
            with pytest.raises(DamagedError, match="damaged"):
                load_checkpoint(Training(config), path)
        file.unlink()
        with pytest.raises(DamagedError, match="damaged"):
            load_checkpoint(Training(config), path)
        file.write_bytes(whole)
    load_checkpoint(Training(config), path)
    other = Training(make_config("stick", **{**TINY, "width": 24}))
    with pytest.raises(DamagedError, match="another version"):
        load_checkpoint(other, path)


class Trap:
    """Does harm when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("trapped"),)


def test_a_checkpoint_with_right_checksums_executes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    training = Training(make_config("stick", **TINY))
    training.step()
    save_checkpoint(training, tmp_path)
    (path,) = checkpoints_of(tmp_path)
    with np.load(path / "arrays.npz") as whole:
        arrays = dict(whole)
    arrays["run.env.state"] = np.array([Trap()], dtype=object)
    trapped = {"arrays.npz": path / "trapped.npz", "tensors.safetensors": path / "trapped.pickle"}
    np.savez(trapped["arrays.npz"], **arrays)
    trapped["tensors.safetensors"].write_bytes(pickle.dumps(Trap()))
    sums = json.loads((path / "sums.json").read_text())
    for name, trap in trapped.items():
        before = (path / name).read_bytes()
        (path / name).write_bytes(trap.read_bytes())
        digest = hashlib.sha256((path / name).read_bytes()).hexdigest()
        (path / "sums.json").write_text(json.dumps({**sums, name: digest}))
        with pytest.raises(DamagedError, match="damaged"):
            load_checkpoint(training, path)
        (path / name).write_bytes(before)
    assert not Path("trapped").exists()


# --- real processes -------------------------------------------------------------------------


def options(**more: Any) -> list[str]:
    words: list[str] = []
    for name, value in {**TINY, **more}.items():
        dashed = name.replace("_", "-")
        words += [f"--no-{dashed}"] if value is False else [f"--{dashed}", str(value)]
    return words


def start(*arguments: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen([HAL, "train", *arguments], stdout=pipe, stderr=pipe, text=True)


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
    process = start("stick", *options(steps=8_000), "--episodes", "5", "--out", str(run))
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert not (run / CHECKPOINTS).exists(), "a finished run needs none"
    return run


def begin(run: Path) -> "subprocess.Popen[str]":
    if (run / "config.toml").exists():
        return start("--resume", str(run))
    keeping = ["--episodes", "5", "--checkpoint-seconds", "0.05"]
    return start("stick", *options(steps=8_000), *keeping, "--out", str(run))


def kill(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def wait_for_progress(run: Path, process: "subprocess.Popen[str]", more: float) -> None:
    """Wait until the run has got further than it was, and a moment longer."""
    before = [path.name for path in checkpoints_of(run)]
    deadline = time.monotonic() + 60
    while [path.name for path in checkpoints_of(run)] == before:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(more)


def test_ten_kills_change_nothing(tmp_path: Path, straight: Path) -> None:
    run, rng = tmp_path / "run", random.Random(1)
    for _ in range(10):
        process = begin(run)
        wait_for_progress(run, process, rng.uniform(0, 0.1))
        assert process.poll() is None, "it is done too soon for this test"
        kill(process)
    process = begin(run)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert outcome(run) == outcome(straight)
    assert not list(run.rglob("*.part"))


def assert_stopped(process: "subprocess.Popen[str]", run: Path, number: signal.Signals) -> str:
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == 128 + number
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
    assert_stopped(process, run, signal.SIGINT)

    assert_disk_full(run)

    process = begin(run)
    wait_for_progress(run, process, 0)
    assert not (run / "failure.txt").exists()
    second = begin(run)
    _, errors = second.communicate()
    assert second.returncode == 2
    assert errors == f"hal: {run} is being trained by another process\n"
    kill(process)

    newest = checkpoints_of(run)[0]  # killed while it saved, a run has three
    with (newest / "arrays.npz").open("r+b") as file:
        file.truncate(1_000)
    process = begin(run)
    wait_for_progress(run, process, 0)
    errors = assert_stopped(process, run, signal.SIGTERM)
    assert f"hal: {newest} is damaged: the checksum of arrays.npz is wrong" in errors

    process = begin(run)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert outcome(run) == outcome(straight)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.touch()  # a file where a folder should be: permissions do not stop everyone
    process = start("stick", *options(), "--out", str(blocked / "run"))
    _, errors = process.communicate()
    assert process.returncode == 1
    assert errors.count("\n") == 1
    assert "Not a directory" in errors


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
