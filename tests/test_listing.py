"""Runs read back from disk: their folders, their states, their table."""

from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from rich.console import Console

from hal.config.presets import METHODS
from hal.experiments.plot import plot_text
from hal.runs import folder as runs
from hal.runs.folder import find_runs, read_metrics, state_of
from hal.runs.listing import runs_table
from tests.runs import curve, make_run, printed


def test_runs_are_found_but_not_within_runs(tmp_path: Path) -> None:
    for name in ("b/deep", "a", "a/checkpoint"):
        make_run(tmp_path / name)
    (tmp_path / "c").mkdir()
    assert find_runs(tmp_path) == [tmp_path / "a", tmp_path / "b" / "deep"]
    assert find_runs(tmp_path / "a") == [tmp_path / "a"]
    assert find_runs(tmp_path / "c") == []
    with pytest.raises(ValueError, match=r"there is no folder .*nowhere$"):
        find_runs(tmp_path / "nowhere")


def test_cut_off_lines_are_left_out(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    assert read_metrics(run) == []
    path = run / "metrics.jsonl"
    path.write_text('{"steps": 1}\n{"steps": 2, "a": 0.5}\n{"steps": 3, "a": 0.')
    assert read_metrics(run) == [{"steps": 1}, {"steps": 2, "a": 0.5}]
    path.write_text('{"steps": 1}\n{"steps": 2, "a{"steps": 3}\n7\n{"a": 1}\n{"steps": 4}\n')
    assert read_metrics(run) == [{"steps": 1}, {"steps": 4}]


def test_states(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    lock = run / "run.lock"
    assert state_of(run) == "stopped"
    assert not lock.exists(), "looking leaves no trace"
    with FileLock(lock):
        assert state_of(run) == "running"
    assert state_of(run) == "stopped"
    (run / "failure.txt").write_text("out of memory\n")
    assert state_of(run) == "failed"
    with FileLock(lock):
        assert state_of(run) == "running", "once more, after a failure"
    (run / "evaluation.json").write_text('{"success": 0.5}')
    assert state_of(run) == "done"


def test_states_where_nothing_may_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Permissions stop nobody who runs the tests as root, so the refusal is acted.
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError

    run = make_run(tmp_path / "run")
    held = FileLock(run / "run.lock")
    monkeypatch.setattr(runs, "FileLock", refuse)
    with held:
        assert state_of(run) == "running"
    assert state_of(run) == "stopped"
    (run / "run.lock").chmod(0o444)
    run.chmod(0o555)
    monkeypatch.undo()
    assert state_of(run) == "stopped"
    run.chmod(0o755)


def test_table_of_runs(tmp_path: Path) -> None:
    lines = [
        {"steps": 500, "episode/success": 0.25},
        {"steps": 750, "steps_per_second": 14255, "cpu_seconds": 3725.4},
    ]
    for name in ("done", "failed", "running", "young"):
        make_run(tmp_path / name, lines if name != "young" else None, steps=1000, seed=7)
    (tmp_path / "done" / "evaluation.json").write_text('{"success": 0.93}')
    (tmp_path / "failed" / "failure.txt").write_text("no [bold] memory\n")
    with FileLock(tmp_path / "running" / "run.lock"):
        text = printed(runs_table(tmp_path))
    rows = {line.split()[-1]: line.split() for line in text.splitlines() if "treasure" in line}
    start, speed = ["treasure", "hal", "7"], ["14,255", "1:02:05"]
    assert rows["done"] == [*start, "75%", "93%", "greedy", *speed, "done", "done"]
    assert rows["running"] == [*start, "75%", "25%", "online", *speed, "running", "running"]
    assert rows["young"] == [*start, "0%", "-", "-", "-", "stopped", "young"]
    assert rows["memory"][-5:] == ["failed", "failed:", "no", "[bold]", "memory"]
    styled = Console(width=200, force_terminal=True, color_system="standard", no_color=False)
    with styled.capture() as capture:
        styled.print(runs_table(tmp_path / "failed"))
    assert "\x1b[31mfailed" in capture.get()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.toml", 'task = "trea', "config.toml is damaged"),
        ("config.toml", "", "config.toml is damaged: it lacks task"),
        ("evaluation.json", '{"success": 0.', "evaluation.json is damaged"),
        ("evaluation.json", "[]", "it has no success rate"),
        ("metrics.jsonl", '{"steps": 5, "cpu_seconds": "x"}\n', "str"),
    ],
)
def test_a_damaged_run_is_a_row(tmp_path: Path, name: str, content: str, message: str) -> None:
    make_run(tmp_path / "good", curve("episode/success", [0.5]))
    bad = make_run(tmp_path / "bad")
    (bad / name).write_text(content)
    text = printed(runs_table(tmp_path))
    (row,) = [line for line in text.splitlines() if "damaged bad: " in line]
    assert message in row
    assert str(tmp_path) not in row
    assert "50% online" in text


def test_tables_fit_into_a_terminal(tmp_path: Path) -> None:
    speed = {"steps_per_second": 12345, "cpu_seconds": 1}
    lines = [line | speed for line in curve("episode/success", [1.0] * 40)]
    for method in METHODS:
        make_run(tmp_path / f"crafting_bench-{method}", lines, task="crafting_bench", method=method)
    damaged = make_run(tmp_path / "damaged")
    (damaged / "config.toml").write_text("x" * 300)
    listed = printed(runs_table(tmp_path), width=80)
    assert listed.count("100% online  12,345  0:00:01 stopped crafting_b\n") == len(METHODS)
    make_run(tmp_path / "seed 1", lines, task="crafting_bench", seed=1)
    shown = printed(plot_text([tmp_path / "crafting_bench-hal", tmp_path / "seed 1"]), width=80)
    assert "█" * 40 + " 100% (100% to 100%)" in shown
