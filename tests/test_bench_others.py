"""The benchmark in other people's environments: a run goes on, and what its lines come to."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.others import __main__ as bench
from benchmarks.others import running, testbeds
from benchmarks.others.episodes import EpisodeLog
from benchmarks.others.measures import measures_of
from benchmarks.others.running import Run, read, see_through
from benchmarks.others.tables import difference, mean_of
from benchmarks.others.testbeds import METHODS, TESTBEDS

from hal.runs.checkpoint import save_checkpoint
from tests.corridor import SMALL

SETTINGS = {name: value for name, value in SMALL.items() if name != "steps"}
CORRIDOR = testbeds.Testbed("tests.corridor:make_parts", 1_500, 300, {"hal": 1_000}, SETTINGS)


def run_in(folder: Path, name: str = "run") -> Run:
    """Return a tiny run."""
    return Run(CORRIDOR, "hal", 0, 5, folder / "runs" / name, folder / f"{name}.jsonl")


@pytest.fixture
def _early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "WORTH_A_LOOK", 0.0)


@pytest.mark.usefixtures("_early")
def test_a_run_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    whole, stopped = run_in(tmp_path, "whole"), run_in(tmp_path, "stopped")
    see_through(whole)
    checkpoints: list[Any] = []

    def save_and_stop(*args: Any) -> None:
        if len(checkpoints) == 2:  # after the third line was written
            raise KeyboardInterrupt
        save_checkpoint(*args)
        checkpoints.append(args)

    monkeypatch.setattr(running, "save_checkpoint", save_and_stop)
    with pytest.raises(KeyboardInterrupt):
        see_through(stopped)
    monkeypatch.undo()
    assert (len(read(stopped.lines)), stopped.is_done()) == (3, False)
    see_through(stopped)
    lines, others = read(whole.lines), read(stopped.lines)
    assert whole.is_done()
    assert stopped.is_done()
    assert [line["steps"] // 300 for line in others] == [1, 2, 3, 4, 5]
    for line, other in zip(lines[:2], others[:2], strict=True):
        assert line.pop("cpu_seconds") > 0
        assert line == {name: value for name, value in other.items() if name != "cpu_seconds"}
    assert all(0 <= line["e0"] <= 1 for line in lines)
    assert not list((stopped.folder / "checkpoints").glob("*"))
    before = stopped.lines.stat().st_mtime_ns
    see_through(stopped)
    assert stopped.lines.stat().st_mtime_ns == before, "it is done"


def test_a_run_of_other_settings_is_not_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    run = run_in(tmp_path)
    see_through(run)
    with pytest.raises(ValueError, match="begun with other settings"):
        see_through(replace(run, testbed=replace(CORRIDOR, steps=1_800)))


def test_where_there_is_no_task_its_episodes_are_what_counts(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    taskless = replace(CORRIDOR, task="tests.corridor:make_taskless", steps=600)
    run = replace(run_in(tmp_path), testbed=taskless, method="rainbow")
    see_through(run)
    lines = read(run.lines)
    assert not any("e0" in line or "e05" in line for line in lines), "nothing is to be evaluated"
    assert measures_of(lines).keys() == {"reward", "late_reward", "cpu"}


def test_episodes_are_counted_once_and_resets_not_at_all() -> None:
    log = EpisodeLog(2, 2)
    steps = [  # what each lane collects, and whether its episode ends
        ([[1, 0], [0, 0]], [0, 0]),
        ([[1, 0], [0, 1]], [1, 0]),
        ([[0, 1], [0, 0]], [0, 0]),  # the first lane only resets
        ([[0, 0], [0, 0]], [1, 1]),
    ]
    for collected, ended in steps:
        log.add(np.array(collected, dtype=np.bool_), np.array(ended, dtype=np.bool_))
    assert log.take() == (3, [1, 1])
    assert log.take() == (0, [0, 0])


def line(steps: int, e05: float, **others: Any) -> dict[str, Any]:
    """Return a line of a run with a task."""
    values = {"online": 0.5, "e05": e05, "e0": e05, "episodes": 1, "achieved": {}}
    return {"steps": steps, "cpu_seconds": steps / 10, **values, **others}


def test_a_level_is_reached_where_it_is_held() -> None:
    lines = [line(10, 0.9), line(20, 0.1), line(30, 0.8), line(40, 0.9, e0_length=7.0)]
    measures = measures_of(lines)
    assert (measures["steps"], measures["seconds"], measures["cpu"]) == (30, 3.0, 4.0)
    assert measures["length"] == 7
    assert "mask" not in measures
    assert measures_of(lines[:3])["steps"] == np.inf


def test_achievements_are_those_of_all_episodes_and_of_the_late_ones() -> None:
    names = [f"achievement {i}" for i in range(21)] + ["make_iron_pickaxe"]
    early = {
        "steps": 900_000,
        "cpu_seconds": 1.0,
        "episodes": 3,
        "achieved": dict.fromkeys(names, 0),
    }
    late = {
        "steps": 1_000_000,
        "cpu_seconds": 2.0,
        "episodes": 1,
        "achieved": dict.fromkeys(names, 1),
    }
    measures = measures_of([early, late])
    assert measures["late_reward"] == 22
    assert measures["late_rare"] == 1
    assert measures["reward"] == pytest.approx(22 / 4)
    assert measures["score"] == pytest.approx(25, abs=1e-9)


def test_cells_say_who_did_not_get_there() -> None:
    assert mean_of(np.array([100.0, np.inf])) == "1 of 2: 100"
    assert mean_of(np.array([])) == ""
    assert mean_of(np.array([1.0, 1.0])) == "1 (1 to 1)"
    assert difference(np.array([3.0, 3.0]), np.array([1.0, 1.0])) == "2 (2 to 2)"
    assert not difference(np.array([3.0]), np.array([np.inf]))


def test_the_command_tells_the_cost_does_the_runs_and_shows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(TESTBEDS, "corridor", replace(CORRIDOR, note="it is small"))
    wanted = bench.Bench(
        ("corridor",), ("hal", "rainbow"), (0, 1), 600, 5, 1, tmp_path / "out", tmp_path / "runs"
    )
    assert bench.main(replace(wanted, dry_run=True)) == 0
    assert "1,200" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()

    assert bench.main(wanted) == 0
    page = (tmp_path / "out" / "tables.md").read_text()
    assert "In all figures it is small." in page
    assert "| difference | hal - rainbow |" in page
    assert "steps to 80% with 5% exploration" in page
    assert (tmp_path / "out" / "curves.png").read_bytes().startswith(b"\x89PNG")
    rows = (tmp_path / "out" / "measures.csv").read_text().splitlines()
    assert any(row.startswith("corridor,rainbow,1,e05,") for row in rows)
    assert not bench.runs_of(wanted)["corridor", "hal", 1].steps_left()
    json.loads((tmp_path / "out" / "corridor-hal-0.jsonl").read_text().splitlines()[0])


def test_testbeds_are_tasks_that_there_are() -> None:
    for name, testbed in TESTBEDS.items():
        configs = [testbed.config(method, 0) for method in METHODS]
        assert {config.steps for config in configs} == {testbed.steps}
        assert testbed.steps % testbed.every == 0
        assert set(testbed.speeds) == set(METHODS), name
    with pytest.raises(ValueError, match="unknown testbed 'iron'"):
        bench.Bench(testbeds=("iron",))
