"""The life of a run through the command line, at a tiny budget."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from contextlib import chdir, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import imageio_ffmpeg
import numpy as np
import pytest
from benchmarks.fuzz.answers import answer_to
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from hal.cli.entry import main
from hal.config.names import path_of
from hal.config.settings import Config, values_of
from hal.runs.folder import read_metrics

HAL = str(Path(sys.executable).parent / "hal")
SMALL = ["--num-lanes", "32", "--replay-steps", "4000", "--width", "16", "--meta-width", "16"]


def hal(*arguments: str, cwd: Path = Path(), **environ: str) -> str:
    """Return what a command prints, in this process: a start of its own takes seconds."""
    with chdir(cwd), patch.dict(os.environ, COLUMNS="150", **environ):
        answer = answer_to([*arguments], patience=300)
    assert answer.code == 0, answer
    return answer.out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, in the folder where they are by default."""
    folder = tmp_path_factory.mktemp("work")
    for seed in ("0", "1"):
        more = ["--seed", seed, "--steps", "4000", "--episodes", "5"]
        hal("train", "wood", *SMALL, *more, cwd=folder)
    return folder


def runs_of(folder: Path) -> list[Path]:
    return sorted((folder / "runs").iterdir())


def test_a_run_leaves_what_it_should(folder: Path) -> None:
    run, other = runs_of(folder)
    assert run.name.startswith("wood-hal-0-20")
    assert other.name.startswith("wood-hal-1-20")
    names = {path.name for path in run.iterdir()} - {"run.lock"}
    assert names == {
        "config.toml",
        "evaluation.json",
        "keeping.json",
        "metrics.jsonl",
        "tensorboard",
        "weights.safetensors",
    }
    lines = read_metrics(run)
    assert lines[-1]["steps"] >= 4000
    assert [line["steps"] for line in lines] == sorted({line["steps"] for line in lines})
    events = EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    for name in ("steps", "mask/accuracy", "subpolicy/success/log"):
        logged = {line["steps"]: line[name] for line in lines if name in line}
        shown = {event.step: event.value for event in events.Scalars(name)}
        assert shown == pytest.approx(logged, rel=1e-6)


def test_eval(folder: Path) -> None:
    run = str(runs_of(folder)[0])
    kept = json.loads((Path(run) / "evaluation.json").read_text())
    assert json.loads(hal("eval", run, "--episodes", "5", "--json")) == kept
    assert kept["episodes"] == 5
    assert 0 <= kept["success_low"] <= kept["success"] <= kept["success_high"] <= 1
    assert kept["coverage/wood"] == kept["success"]
    lines = hal("eval", run, "--episodes", "3").splitlines()
    assert "3 episodes" in lines[0]
    assert lines[1].startswith("mask accuracy")
    assert lines[-1].startswith("wood ")


def test_runs(folder: Path) -> None:
    text = hal("runs", cwd=folder)
    for run in runs_of(folder):
        (line,) = (line for line in text.splitlines() if run.name in line)
        assert {"wood", "hal", "100%", "done"} <= set(line.split())
    assert "no folder" in failed("runs", str(folder / "nowhere"))


def test_plot(folder: Path, tmp_path: Path) -> None:
    runs = [str(run) for run in runs_of(folder)]
    out = tmp_path / "curves.png"
    assert hal("plot", *runs, "--out", str(out)).strip() == str(out)
    with Image.open(out) as image:
        pixels = np.asarray(image.convert("RGB"))
    assert min(pixels.shape[:2]) > 300
    assert pixels.std() > 10
    text = hal("plot", str(folder / "runs"), "--text")
    assert "hal" in text
    assert any(block in text for block in "▁▂▃▄▅▆▇█")
    assert ".svg" in failed("plot", *runs, "--out", str(tmp_path / "curves.svg"))


def test_watch(folder: Path, tmp_path: Path) -> None:
    run, gif, mp4 = str(runs_of(folder)[0]), tmp_path / "a.gif", tmp_path / "a.mp4"
    output = hal("watch", run, "--seed", "4", "--gif", str(gif), "--mp4", str(mp4))
    num_steps = int(output.split("took ")[1].split()[0])
    with Image.open(gif) as image:
        num_frames = getattr(image, "n_frames", 1)
        first = np.asarray(image.convert("RGB"))
        image.seek(num_frames - 1)
        last = np.asarray(image.convert("RGB"))
    assert 2 < num_frames <= num_steps + 1, "moments without a change are joined"
    assert first.shape == last.shape
    assert min(first.shape[:2]) > 200
    assert first.std() > 20
    assert (first != last).any()
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(mp4))
    assert count >= num_steps
    assert seconds > 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gif", "a.mp4"]
    assert hal("watch", run, "--seed", "4") == output.split("see")[0], "the same episode"


def test_watch_in_a_window(folder: Path) -> None:
    run = str(runs_of(folder)[0])
    output = hal("watch", run, "--seed", "4", "--window", "--max-steps", "5")
    assert "the last episode took 5 steps" in output


def test_bad_input_of_watch(folder: Path, tmp_path: Path) -> None:
    run = str(runs_of(folder)[0])
    assert "there is no folder" in failed("watch", run, "--gif", "/no/where/x.gif")
    assert "episodes 0; legal" in failed("watch", run, "--episodes", "0")
    assert "is not a run" in failed("watch", str(tmp_path))
    assert "is not a run" in failed("watch", "gold")


def failed(*arguments: str) -> str:
    answer = answer_to([*arguments], patience=300)
    assert answer.code == 2, answer
    assert answer.err.count("\n") == 1
    return answer.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("iron --preset paper", {"steps": 6_000_000, "horizon": 4320}),
        ("--preset=paper iron", {"steps": 6_000_000, "horizon": 4320}),
        ("--seed 3 iron --preset paper --steps 77", {"steps": 77, "seed": 3, "horizon": 4320}),
        ("iron --disappear-rate 0.02", {"sigma": 2.0}),
        ("iron --disappear-rate 0.02 --sigma 5", {"sigma": 5.0}),
        ("iron --method rainbow --no-is-flat", {"is_flat": False, "reward": "dense"}),
        ("iron --meta.discount 0.5 --meta.no-waits", {"meta.discount": 0.5, "meta.waits": False}),
        ("iron --meta-discount=0.5 --no-meta-waits", {"meta.discount": 0.5, "meta.waits": False}),
        ("iron --discount 0.5 --trace 1 --width 9", {"controller.discount": 0.5, "trace": 1.0}),
        ("iron --num-lanes 4", {"environment.num_envs": 4}),
    ],
)
def test_options_mean_what_they_mean_in_python(
    monkeypatch: pytest.MonkeyPatch, words: str, expected: dict[str, Any]
) -> None:
    made: list[Config] = []
    monkeypatch.setattr("hal.runs.lifecycle.run_training", lambda config, *_: made.append(config))
    monkeypatch.setattr(sys, "argv", ["hal", "train", *words.split()])
    main()
    for name, value in expected.items():
        assert values_of(made[0])[path_of(name)] == value
    assert made[0].task == "iron"


def test_nobody_listening_is_no_reason_to_stop(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = f"{HAL} train log {' '.join(SMALL)} --steps 1000 --episodes 2 --out {out} | head -n 1"
    subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, timeout=300
    )
    assert (out / "evaluation.json").exists()


def test_wandb_offline(tmp_path: Path) -> None:
    out = tmp_path / "run"
    more = ["--steps", "1000", "--episodes", "2", "--out", str(out), "--wandb"]
    hal("train", "log", *SMALL, *more, WANDB_MODE="offline", WANDB_SILENT="true")
    (log,) = out.glob("wandb/offline-run-*/*.wandb")
    assert log.stat().st_size > 1_000
    assert b"subpolicy/success" in log.read_bytes()


def test_a_terminal_shows_the_run_live(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    arguments = ["train", "wood", *SMALL, "--steps", "2000", "--episodes", "2"]
    process = subprocess.Popen(
        [HAL, *arguments, "--out", str(tmp_path / "run")],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"},
    )
    os.close(slave)
    seen, deadline = "", time.monotonic() + 300
    with suppress(OSError):  # the end of a terminal is an error
        while time.monotonic() < deadline:
            if select.select([master], [], [], 0.2)[0]:
                seen += os.read(master, 65536).decode(errors="ignore")
    assert process.wait(timeout=60) == 0
    for text in ("wood hal, seed 0", "100%", "online success", "mask accuracy", "log", "greedy"):
        assert text in seen, text
    assert "\x1b[" in seen
    os.close(master)
