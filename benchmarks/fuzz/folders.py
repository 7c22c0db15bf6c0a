"""Folders of runs that somebody crafted or a disk damaged, and the commands that read them."""

import hashlib
import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.fuzz.answers import answer_to, bounded
from hal.cli.entry import parsed
from hal.config.presets import make_config
from hal.runs.checkpoint import load_weights, save_checkpoint, save_weights
from hal.runs.lifecycle import Keeping, prepare_run, resume_training
from hal.runs.training import Training

TASK = "examples.tea:make"  # episodes of a few steps
SMALL: dict[str, Any] = {
    "steps": 240,
    "num_envs": 4,
    "horizon": 20,
    "warmup_steps": 40,
    "replay_steps": 400,
    "meta_replay": 50,
    "examples": 50,
    "width": 8,
    "meta_width": 8,
    "context_width": 8,
    "context_size": 4,
    "knn_n": 10,
    "triplets": 8,
    "classifier_batch": 4,
    "batch_windows": 4,
    "meta_batch": 8,
}
NUMBERS: list[Any] = [0, 1, -1, 3, 5, 16, 1000, 0.5, 0.0, -0.5, 1e-30, 1e30, 1e308, 10**9, 2**63]
NUMBERS += [float("inf"), float("nan"), int("9" * 400)]
ODD: list[Any] = [
    *NUMBERS,
    *(
        None,
        True,
        False,
        "",
        "x",
        "no",
        "\x1b]0;owned\x07",
        "a\nb",
        "$\\bad$",
        "os:abort",
        "../..",
        "é",
    ),
    *([], [[]], ["a"], [1, 2], {}, {"a": 1}, {"a": {"b": [None]}}),
]
TEXTS = ["", "[" * 50_000, "\x1b[31m", "\x00", "{", "9" * 5000, "= =", "null", "[]", '"\\ud800"']
USED = ("steps", "cpu_seconds", "steps_per_second", "episode/success", "episode/length", "success")
DTYPES = [torch.bfloat16, torch.float64, torch.int8, torch.bool]


def attack(count: int, seed: int) -> list[str]:
    """Return what is not legal among the answers to so many folders."""
    faults = []
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve()
        done, stopped = _runs_in(root / "whole")
        with bounded(), patch("hal.cli.entry.parsed", lambda words: _parsed_once(*words)):
            for number in range(count):
                rng = random.Random(f"{seed}-{number}")
                fault = _try(rng, root / "case", rng.choice([done, stopped]))
                faults += [f"folder {seed}-{number}: {fault}"] if fault else []
    return faults


@cache
def _parsed_once(*words: str) -> Callable[[], None]:
    """Return what a command line asks for: all folders have the same name, and the same few."""
    return parsed(list(words))


def _runs_in(folder: Path) -> tuple[Path, Path]:
    """Train a tiny agent; return its run as it was half way, and when it was done."""
    done, stopped = folder / "done", folder / "stopped"
    training = Training(make_config(TASK, **SMALL))
    prepare_run(training.config, stopped, Keeping(num_episodes=2))
    (stopped / "failure.txt").write_text("no memory\n")
    while training.agent.num_steps < SMALL["steps"] // 2:
        training.step()
    save_checkpoint(training, stopped)
    training.env.close()
    shutil.copytree(stopped, done)
    resume_training(done)
    shutil.copy(done / "metrics.jsonl", stopped)
    return done, stopped


def _try(rng: random.Random, case: Path, whole: Path) -> str:
    """Break a copy of a run in a way or two, and ask for it; return what is wrong, if anything."""
    shutil.rmtree(case, ignore_errors=True)
    run, victim = case / "runs" / "run", case / "victim"
    shutil.copytree(whole, run)
    victim.mkdir()
    (victim / "precious").write_text("precious")
    ways = [rng.choice(WAYS) for _ in range(rng.choice([1, 1, 2]))]
    told = [f"{way.__name__[1:]} {way(rng, run, victim)}" for way in ways]
    playing = rng.choice([["eval", "--episodes=2"], ["watch", "--seed=1", "--max-steps=3"]])
    name = rng.choice(["plot", "compare"])
    drawing = [name, f"--out={case / 'curves.png'}"]
    last = ["train", "--resume"]
    if whole.name == "done":
        last = drawing if rng.random() < 0.1 else playing  # a figure takes ten times as long
    for words in (["runs"], ["plot", "--text"], ["compare"], last):
        fault = answer_to([*words, str(run)]).fault
        if [path.name for path in victim.rglob("*")] != ["precious"]:
            fault = f"wrote outside: {list(victim.rglob('*'))}"
        elif (victim / "precious").read_text() != "precious":
            fault = "overwrote a file outside"
        if fault:
            return f"{' '.join(words[:2])}: {'; '.join(told)}: {fault}"
    return ""


def _files(run: Path, *suffixes: str) -> list[Path]:
    paths = sorted(path for path in run.rglob("*") if path.is_file() and not path.is_symlink())
    paths = [path for path in paths if path.parent.name != "tensorboard"]  # nobody reads these
    return [path for path in paths if path.suffix in suffixes or not suffixes] or [run / "none"]


def _flip(rng: random.Random, run: Path, _: Path) -> str:
    path = rng.choice(_files(run))
    data = bytearray(path.read_bytes() if path.exists() else b"")
    num_flips = rng.choice([1, 3, 30]) if data else 0
    for _times in range(num_flips):
        data[rng.randrange(len(data))] = rng.randrange(256)
    path.write_bytes(data)
    return path.name


def _cut(rng: random.Random, run: Path, _: Path) -> str:
    path = rng.choice(_files(run))
    data = path.read_bytes() if path.exists() else b""
    path.write_bytes(data[: rng.randrange(len(data) + 1)])
    return path.name


def _write(rng: random.Random, run: Path, _: Path) -> str:
    path, text = rng.choice(_files(run)), rng.choice(TEXTS)
    path.write_text(text)
    return f"{path.name} {text[:20]!r}"


def _remove(rng: random.Random, run: Path, _: Path) -> str:
    path = rng.choice(_files(run))
    path.unlink(missing_ok=True)
    return path.name


def _replace(rng: random.Random, run: Path, victim: Path) -> str:
    """Put a folder, a link, a pipe or a device at a file's place."""
    names = ["run.lock", "tensorboard", "metrics.jsonl.part", "evaluation.json.part", "checkpoints"]
    path = rng.choice([*_files(run), *(run / name for name in names)])
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    kind = rng.choice(["folder", "file link", "folder link", "pipe", "device"])
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        targets = {"file link": victim / "precious", "folder link": victim}
        path.symlink_to(targets.get(kind, Path("/dev/zero")))
    return f"{path.relative_to(run)} {kind}"


def _set(rng: random.Random, run: Path, _: Path) -> str:
    """Give a setting another value."""
    path = run / "config.toml"
    lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
    at = rng.choice([i for i, line in enumerate(lines) if " = " in line] or [0])
    name = lines[at].partition(" = ")[0] if lines else "task"
    odd = rng.choice(NUMBERS if rng.random() < 0.6 else ODD)
    value = json.dumps(odd).replace("Infinity", "inf").replace("NaN", "nan")
    lines[at : at + 1] = [f"{name} = {value}"]
    if not path.is_dir():
        path.unlink(missing_ok=True)
        path.write_text("\n".join(lines))
    return f"{name} = {value[:30]}"


def _say(rng: random.Random, run: Path, _: Path) -> str:
    """Give an entry of a JSON file another value; sums of checkpoints are made to agree."""
    path = rng.choice(_files(run, ".json", ".jsonl"))
    value = rng.choice(ODD)
    try:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        entry = rng.choice([lines[-1], *lines])
    except (ValueError, OSError, IndexError, RecursionError):  # broken already
        return _write(rng, run, run)
    if isinstance(entry, dict):
        name = rng.choice([*[name for name in USED if name in entry], *entry, "other"])
        entry[name] = value
    else:
        name, lines = "all", [value]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    _make_sums_agree(path.parent)
    return f"{path.name} {name} = {str(value)[:30]!r}"


def _retype(rng: random.Random, run: Path, _: Path) -> str:
    """Give weights, or arrays of a checkpoint, another type or shape."""
    if (run / "weights.safetensors").is_file():
        try:
            tensors = load_weights(run)
        except (ValueError, OSError):
            return "nothing"
        name = rng.choice([*tensors])
        changed = rng.choice(
            [*(tensors[name].to(d) for d in DTYPES), tensors[name].reshape(-1)[:1]]
        )
        save_weights({**tensors, name: changed.clone()}, run)
        return f"{name} {changed.dtype} {tuple(changed.shape)}"
    path = next((run / "checkpoints").glob("*/arrays.npz"), None)
    if path is None or not path.is_file():
        return "nothing"
    try:
        with np.load(path) as file:
            arrays = dict(file)
    except Exception:
        return "nothing"
    name = rng.choice([*arrays])
    arrays[name] = rng.choice([arrays[name].astype("U3"), arrays[name].reshape(-1)[:1]])
    np.savez(path, **arrays)
    _make_sums_agree(path.parent)
    return f"{name} {arrays[name].dtype} {arrays[name].shape}"


def _make_sums_agree(checkpoint: Path) -> None:
    if (checkpoint / "sums.json").is_file() and checkpoint.parent.name == "checkpoints":
        names = ("tensors.safetensors", "arrays.npz", "values.json")
        paths = [checkpoint / name for name in names if (checkpoint / name).is_file()]
        sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
        (checkpoint / "sums.json").write_text(json.dumps(sums))


Way = Callable[[random.Random, Path, Path], str]
WAYS: list[Way] = [_flip, _cut, _write, _remove, _replace, _set, _set, _say, _say, _retype]
