"""Checkpoints of a run: they have everything, damage is found, nothing is executed."""

import hashlib
import json
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hal.config.presets import METHODS, make_config
from hal.errors import DamagedError
from hal.runs.checkpoint import checkpoints_of, load_checkpoint, load_newest, save_checkpoint
from hal.runs.folder import CHECKPOINTS
from hal.runs.snapshot import Parts, gather
from hal.runs.training import Training
from tests.tiny import TINY


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
    load_newest(Training(training.config), tmp_path)
    assert checkpoints_of(tmp_path) == [older]
    assert "trying the one before" in capsys.readouterr().err
    (older / "values.json").unlink()
    with pytest.raises(ValueError, match="has no whole checkpoint"):
        load_newest(Training(training.config), tmp_path)
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
