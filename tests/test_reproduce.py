"""`hal reproduce` with real processes: stopped, killed, on Ray, it ends with the same tables."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from hal.cli.entry import main
from hal.experiments.calibration import STEPS, WARMUP
from hal.experiments.figures import FIGURES
from hal.experiments.reproduce import plan_of, reproduce
from hal.experiments.results import read_results
from hal.experiments.suite import BUDGETS, EXPERIMENTS, specs_of
from hal.runs.checkpoint import checkpoints_of
from hal.runs.lifecycle import Keeping, resume_training
from tests.tiny import TINY, shrunk

EXPERIMENT = "components"
OPTIONS = ("--seeds", "1", "--steps", "6000", "--episodes", "1")
ROOT = Path(__file__).parents[1]
TABLES = ("runs.csv", "curves.csv")


def start(out: Path, *more: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.tiny", "reproduce", EXPERIMENT, *OPTIONS, *more]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*command, "--out", str(out)], stdout=pipe, stderr=pipe, text=True, cwd=ROOT
    )


def tables(out: Path) -> dict[str, str]:
    return {name: (out / EXPERIMENT / name).read_text() for name in TABLES}


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of runs that were never stopped."""
    out = tmp_path_factory.mktemp("straight")
    process = start(out)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert "2 different runs, 0 of them done" in output
    assert "2 of 2 runs, about 0:00:00 left" in output
    assert output.endswith(f"see {out / 'report.html'}\n")
    return out


def checkpoints(out: Path) -> set[Path]:
    runs = out / "runs"
    return {path for run in runs.glob("*") for path in checkpoints_of(run)}


def wait_for_progress(out: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until some run is further than all were."""
    before, deadline = checkpoints(out), time.monotonic() + 300
    while not checkpoints(out) - before:
        assert process.poll() is None, process.communicate(timeout=300)
        assert time.monotonic() < deadline
        time.sleep(0.02)


class SameProcess:
    """An engine without processes: what is started is done."""

    num_slots = 1

    def __init__(self) -> None:
        self._done: list[Path] = []

    def start(self, folder: Path) -> None:
        resume_training(folder)
        self._done.append(folder)

    def ended(self) -> dict[Path, str]:
        done, self._done = self._done, []
        return dict.fromkeys(done, "")

    def stop(self) -> None:
        pass


def test_the_whole_way_from_runs_to_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BUDGETS, "stick", TINY["steps"] // 2)
    for name in EXPERIMENTS:
        monkeypatch.setitem(EXPERIMENTS, name, shrunk(name, slice(-1, None)))
    plan = plan_of("all", 1, "fast", None)
    reproduce(plan, tmp_path, SameProcess(), Keeping(num_episodes=1))
    report = (tmp_path / "report.html").read_text()
    for figure, (experiment, _) in FIGURES.items():
        with Image.open(tmp_path / experiment / f"{figure}.png") as image:
            assert image.width > 300
        assert (tmp_path / experiment / f"{figure}.pdf").read_bytes().startswith(b"%PDF")
    for name, (spec,) in plan.items():
        (run,) = read_results(tmp_path / name)
        assert (run.task, run.variant, run.seed) == ("stick", spec.variant.name, 0)
        assert run.final["episodes"] == 1
        assert run.lines[-1]["steps"] >= spec.config.steps
        assert f"hal reproduce {name} --seeds 1 --preset fast" in report


def stop(out: Path, number: signal.Signals) -> str:
    """Begin or go on, stop at some moment, and return what is said."""
    process = start(out)
    wait_for_progress(out, process)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    return errors


def fail(out: Path) -> None:
    """Go on with a run that cannot."""
    bad = next(run for run in (out / "runs").iterdir() if not (run / "evaluation.json").exists())
    keeping = (bad / "keeping.json").read_text()
    (bad / "keeping.json").write_text("not JSON")
    process = start(out)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 1
    assert errors.count("it is tried again") == errors.count("it has failed for good") == 1
    assert errors.splitlines()[-1].startswith("hal: 1 of 2 runs failed; the same command")
    for path in (out / EXPERIMENT / "failures.txt", out / "report.html"):
        assert "keeping.json is damaged" in path.read_text()
    num_lines = len((out / EXPERIMENT / "runs.csv").read_text().splitlines())
    assert num_lines == 2, "the title and the other run"
    (bad / "keeping.json").write_text(keeping)


def test_what_is_in_the_tables_is_not_done_again(tmp_path: Path, straight: Path) -> None:
    shutil.copytree(straight / EXPERIMENT, tmp_path / EXPERIMENT)
    process = start(tmp_path)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert "2 different runs, 2 of them done" in output
    assert not any((tmp_path / "runs").glob("*")), "nothing was trained"
    assert tables(tmp_path) == tables(straight)
    other = start(tmp_path, "--steps", "1600", "--dry-run")  # a config that is not in the tables
    assert "2 different runs, 0 of them done" in other.communicate(timeout=300)[0]


def test_interrupted_suites_end_with_the_same_tables(tmp_path: Path, straight: Path) -> None:
    assert stop(tmp_path, signal.SIGINT) == "hal: stopped; the same command goes on\n"
    stop(tmp_path, signal.SIGKILL)
    fail(tmp_path)
    process = start(tmp_path)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert tables(tmp_path) == tables(straight)
    assert not (tmp_path / EXPERIMENT / "failures.txt").exists()

    # All is done: it is only written anew.
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/evaluation.json")}
    output, _ = start(tmp_path).communicate(timeout=300)
    assert "2 different runs, 2 of them done; left: 0:00:00" in output
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A Ray cluster of two nodes with a core each."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster  # noqa: PLC0415 (an extra)

    small: dict[str, Any] = {"num_cpus": 1, "memory": 2e9, "object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args=small)
    cluster.add_node(**small)
    yield cluster
    cluster.shutdown()  # type: ignore[no-untyped-call]


def trainers() -> list[int]:
    """Return the processes in which Ray trains."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"ray::train_run" in path.read_bytes():
                pids.append(int(path.parent.name))
        except OSError:
            continue
    return pids


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_ray_survives_a_lost_worker(tmp_path: Path, straight: Path, cluster: Any) -> None:
    process = start(tmp_path, "--ray", cluster.address)
    wait_for_progress(tmp_path, process)
    victims = trainers()
    assert victims
    subprocess.run(["kill", "-9", str(victims[0])], check=True, timeout=300)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert tables(tmp_path) == tables(straight)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn"], "unknown experiment 'learn'; legal: learning, milestones"),
        (["learning", "--seeds", "0"], "seeds 0; legal: whole numbers from 1 to 5"),
        (["learning", "--seeds", "6", "--dry-run"], "seeds 6; legal: whole numbers from 1 to 5"),
        (["learning", "--steps", "0"], "steps 0; legal: above 0"),
        (["learning", "--jobs", "0"], "jobs 0; legal: whole numbers from 1"),
        (["learning", "--episodes", "0"], "episodes 0; legal: whole numbers from 1"),
        (["learning", "--jobs", "1", "--ray", "auto"], "leave it out with --ray"),
        (["report"], "there are no results in"),
    ],
)
def test_bad_input_is_told_in_a_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr("sys.argv", ["hal", "reproduce", *arguments, "--out", str(out)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert message in errors
    assert not out.exists()


def test_results_need_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        monkeypatch.setattr("sys.argv", ["hal", "reproduce", "learning", "--out", str(out)])
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 2
        assert (
            capsys.readouterr().err
            == f"hal: --out {out}; legal: a folder, or a new one in a folder\n"
        )


def test_a_dry_run_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    for scale in WARMUP:  # how fast the machine is does not matter
        monkeypatch.setitem(WARMUP, scale, 2)
        monkeypatch.setitem(STEPS, scale, 1)
    monkeypatch.setattr("sys.argv", ["hal", "reproduce", "all", "--dry-run", "--out", str(out)])
    main()
    output = capsys.readouterr().out
    different = {spec.folder for name in EXPERIMENTS for spec in specs_of(name)}
    assert f"{len(different)} different runs, 0 of them done; left: " in output
    assert all(name in output for name in EXPERIMENTS)
    assert not out.exists()
