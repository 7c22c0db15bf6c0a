"""Folders that somebody crafted: they reach nothing beyond themselves, and spoil no other run."""

import json
import math
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from hal.cli import main
from hal.config.presets import make_config
from hal.errors import FailedError
from hal.experiments.compare import compare_runs
from hal.experiments.plot import plot_runs, plot_text
from hal.files import write_text
from hal.runs.checkpoint import load, save_weights
from hal.runs.lifecycle import Keeping, resume_training, run_training
from hal.runs.listing import runs_table
from hal.runs.snapshot import Parts, gather, restore
from tests.runs import learning, make_run, printed

BIG = "9" * 400
CRAFTED = [
    ("config.toml", "task = 5\n"),
    ("config.toml", f"seed = {'9' * 5000}\n"),
    ("config.toml", f"a = {'[' * 5000}\n"),
    ("config.toml", "format = 2\n[meta.discount]\nx = 1\n"),
    ("config.toml", "d = 9999-99-99\n"),
    ("metrics.jsonl", '{"steps": 5, "episode/success": {"a": [1]}}\n'),
    ("metrics.jsonl", f'{{"steps": {BIG}}}\n'),
    ("metrics.jsonl", f'{{"steps": 5, "episode/success": {BIG}}}\n'),
    ("metrics.jsonl", '{"steps": 5, "episode/success": "x"}\n'),
    ("evaluation.json", f'{{"success": {BIG}}}'),
    ("evaluation.json", '{"success": true}'),
    ("evaluation.json", "[" * 100_000),
]


@pytest.mark.parametrize(("name", "content"), CRAFTED)
def test_one_bad_run_does_not_hide_the_others(
    tmp_path: Path, name: str, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "good", learning([0.5, 1.0]))
    bad = make_run(tmp_path / "bad", learning([0.5, 1.0]), seed=1)
    (bad / name).write_text(content)
    listed = printed(runs_table(tmp_path))
    assert "damaged bad: " in listed
    assert "100% online" in listed
    assert "█" in printed(plot_text([tmp_path]))
    is_left_out = "hal: left out: " in capsys.readouterr().err
    assert is_left_out == (name != "evaluation.json"), "which curves do not need"


def test_infinite_seconds_and_formulas(tmp_path: Path) -> None:
    good, odd = (learning([0.5, 1.0]) for _ in range(2))
    odd[1] |= {"cpu_seconds": float("inf"), "episode/length": float("inf"), "mask/accuracy": 1e99}
    odd[1] |= {"episode/coverage/$\\bad$": 1}
    make_run(tmp_path / "good", good)
    make_run(tmp_path / "odd", odd, seed=1)
    text = (tmp_path / "odd" / "config.toml").read_text()
    (tmp_path / "odd" / "config.toml").write_text(text.replace('"hal"', '"$\\\\bad$"'))
    assert "damaged odd: " in printed(runs_table(tmp_path))
    (figure,) = plot_runs([tmp_path], tmp_path / "curves.png")
    assert figure.is_file()
    _, (page,) = compare_runs([tmp_path], tmp_path / "curves.html")
    assert page.is_file()


def test_no_text_of_a_folder_commands_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = make_run(tmp_path / "failed", learning([0.5]))
    (failed / "failure.txt").write_bytes(b"out\x1b]0;owned\x07 of\nmem\xffory\x9b31m\n")
    text = (failed / "config.toml").read_text()
    (failed / "config.toml").write_text(text.replace('"hal"', '"h\\u001b[31ml"'))
    make_run(tmp_path / "bad")
    (tmp_path / "bad" / "config.toml").write_text('"\\u001b[31m" = 1\n')
    for words in (["runs"], ["plot", "--text"], ["compare"]):
        monkeypatch.setattr(sys, "argv", ["hal", words[0], str(tmp_path), *words[1:]])
        main()
        shown = "".join(capsys.readouterr())
        assert not {"\x1b", "\x07", "\x9b"} & set(shown)
        assert "\\x1b[31m" in shown.replace("\n", "")


def stopped(folder: Path, **keeping: Any) -> Path:
    run = make_run(folder, learning([0.5]), steps=1_000)
    (run / "keeping.json").write_text(json.dumps({**asdict(Keeping()), **keeping}))
    return run


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "file.txt.part").symlink_to(victim)
    write_text(tmp_path / "file.txt", "new")
    assert (tmp_path / "file.txt").read_text() == "new"
    assert not (tmp_path / "file.txt").is_symlink()
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("name", ["run.lock", "metrics.jsonl", "tensorboard", "checkpoints"])
def test_a_run_with_links_is_not_resumed(tmp_path: Path, name: str) -> None:
    run, victim = stopped(tmp_path / "run"), tmp_path / "victim"
    victim.write_text("precious")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(victim)
    printed(runs_table(tmp_path))
    with pytest.raises(ValueError, match=f"{name} is a link, a pipe or a device"):
        resume_training(run)
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("name", ["keeping.json", "metrics.jsonl", "checkpoints/step-1/sums.json"])
def test_a_run_with_pipes_is_not_resumed(tmp_path: Path, name: str) -> None:
    run = stopped(tmp_path / "run")
    (run / name).parent.mkdir(parents=True, exist_ok=True)
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name)
    with pytest.raises(ValueError, match="is a link, a pipe or a device"):
        resume_training(run)
    printed(runs_table(tmp_path))


@pytest.mark.parametrize(
    "keeping",
    [
        {"use_wandb": "no"},
        {"use_wandb": 1},
        {"use_processes": "x"},
        {"checkpoint_seconds": "60"},
        {"checkpoint_seconds": None},
        {"checkpoint_seconds": 10**400},
        {"num_episodes": 2.5},
    ],
)
def test_how_a_run_is_kept_is_of_the_right_types(tmp_path: Path, keeping: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"keeping.json is damaged: .*legal"):
        resume_training(stopped(tmp_path / "run", **keeping))


def test_weights_of_another_kind_are_told(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    save_weights({"background": torch.zeros(4, dtype=torch.bfloat16)}, run)
    with pytest.raises(ValueError, match=r"weights.safetensors does not fit its config.toml"):
        load(run)


def test_more_than_the_machine_can_hold_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hal.agent.memory.MOST_BYTES", math.inf)
    config = make_config("treasure", width=2**40)
    with pytest.raises(FailedError, match="not enough memory"):
        run_training(config, tmp_path / "run", Keeping())
    assert not (tmp_path / "run").exists()


class Counting:
    """Keeps one value of each kind."""

    KEPT = ("count", "sum", "lanes", "flag", "nothing")

    def __init__(self) -> None:
        self.count, self.sum, self.flag, self.nothing = 3, 0.5, True, None
        self.lanes: list[list[int]] = [[], []]


WRONG: dict[str, list[Any]] = {
    "count": [-1, 1.5, "x", True, None, 10**400],
    "sum": [float("nan"), float("inf"), "x", None, 10**400],
    "lanes": [[], [5, 5], [[]], "ab", {}],
    "flag": [1],
    "nothing": [0],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_kept_values_are_of_their_kind(name: str, value: Any) -> None:
    parts = Parts()
    gather(Counting(), "run", parts)
    restore(Counting(), "run", parts)
    parts.values[f"run.{name}"] = value
    with pytest.raises(ValueError, match=f"run.{name} is .*; legal: as "):
        restore(Counting(), "run", parts)
