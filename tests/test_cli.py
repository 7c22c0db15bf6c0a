"""Every command, in this process where a start of its own shows nothing more."""

import os
import pty
import select
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from benchmarks.fuzz.answers import Answer, answer_to
from PIL import Image

from hal.cli import main
from hal.config.presets import METHODS
from hal.envs.grid import ENV_IDS
from hal.envs.grid.rules import CRAFTING, TREASURE
from hal.envs.grid.single import GridEnv
from hal.pictures.window import Window
from hal.viewer.play import key_help, key_table, play_by_hand, play_in_window

HAL = str(Path(sys.executable).parent / "hal")


def run(*arguments: str) -> Answer:
    return answer_to([*arguments], patience=300)


def type_into(*arguments: str, keys: str) -> str:
    command = [HAL, *arguments]
    result = subprocess.run(
        command, input=keys, capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_version_help_and_tasks() -> None:
    assert type_into("--version", keys="").startswith("hal 0.")
    assert "play" in run("--help").out
    listed = run("tasks").out.splitlines()
    assert sum(line.endswith(" milestones") for line in listed) == len(ENV_IDS)
    assert "--env crafter/pixels" in listed
    assert listed[0].split() == ["log", "hal/Crafting-Log-v0", "1", "milestones"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["play", "chess"], "chess"),
        (["play", "treasure", "--task", "gold"], "unknown task 'gold'; legal tasks: log"),
        (["play", "treasure", "--task", "iron"], "'iron' is not one of treasure"),
        (["play", "treasure", "--gif", "x.gif"], "--gif goes with --scripted"),
        (["play", "treasure", "--scripted", "--gif", "/no/where/x.gif"], "there is no folder"),
        (["play", "treasure", "--sed", "3"], "has no argument --sed; perhaps --seed"),
        (["train", "iron", "--width", "abc"], "--controller.hidden-size: invalid literal"),
        (["play", "treasure", "--text", "--seed", "-1"], "seed -1; legal: whole numbers from 0"),
        (["dance"], "dance"),
    ],
)
def test_bad_input_ends_with_code_2(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.code == 2
    assert message in result.err
    assert result.err.startswith("hal: ")
    assert result.err.count("\n") == 1


def test_the_script_plays_and_writes_a_gif(tmp_path: Path) -> None:
    gif = tmp_path / "episode.gif"
    result = run("play", "treasure", "--scripted", "--text", "--seed", "3", "--gif", str(gif))
    assert not result.code, result.err
    assert "treasure after" in result.out
    with Image.open(gif) as image:
        num_frames = getattr(image, "n_frames", 1)
        image.seek(0)
        first = np.asarray(image.convert("RGB"))
        image.seek(num_frames - 1)
        last = np.asarray(image.convert("RGB"))
    assert num_frames > 20
    assert first.shape == last.shape
    assert min(first.shape[:2]) > 200
    assert first.std() > 20
    assert (first != last).any()
    assert list(tmp_path.iterdir()) == [gif]


def test_a_person_plays_in_a_pipe() -> None:
    seen = type_into("play", "crafting", "--text", "--seed", "1", keys="wd 1\x1b[A\x1b[Crq")
    frames = seen.split("q: quit")
    assert len(frames) == 9, "the start, seven keys, and what follows the last"
    assert "step 1 " in frames[1]
    assert "action: turn right" in frames[2]
    assert "action: mine" in frames[3]
    assert "action: craft wood" in frames[4]
    assert "action: forward" in frames[5]
    assert "action: turn right" in frames[6]
    assert "step 0 " in frames[7]


def test_escape_quits() -> None:
    seen = type_into("play", "treasure", "--text", "--seed", "1", keys="w\x1bd")
    assert seen.count("q: quit") == 2


def test_a_person_plays_in_a_terminal() -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [HAL, "play", "treasure", "--text", "--seed", "1"], stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    seen = _read_until(master, "quit")
    os.write(master, b"d")
    seen = _read_until(master, "turn right")
    assert "\x1b[" in seen, "colours in a terminal"
    os.write(master, b"q")
    assert process.wait(timeout=60) == 0
    os.close(master)


def _read_until(descriptor: int, text: str) -> str:
    seen, deadline = "", time.monotonic() + 200
    while text not in seen and time.monotonic() < deadline:
        if select.select([descriptor], [], [], 1)[0]:
            seen += os.read(descriptor, 65536).decode(errors="replace")  # half a sign, maybe
    assert text in seen
    return seen


def test_without_a_screen_the_way_out_is_named() -> None:
    environ = {k: v for k, v in os.environ.items() if k not in ("SDL_VIDEODRIVER", "DISPLAY")}
    environ.pop("WAYLAND_DISPLAY", None)
    command = [HAL, "play", "treasure", "--seed", "1"]
    result = subprocess.run(
        command, env=environ, capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 2
    assert "there is no screen for a window; --text plays in the terminal" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gold"], "unknown task 'gold'"),
        (["iron", "--method", "sac"], "unknown method 'sac'; legal methods: oracle, hal"),
        (["iron", "--steps", "0"], "steps 0; legal: above 0"),
        (["iron", "--seed", "-3"], "seed -3"),
        (["iron", "--episodes", "0"], "episodes 0; legal"),
        (["iron", "--preset", "slow"], "unknown preset 'slow'; legal: fast, faithful, paper"),
        (["iron", "--device", "tpu"], "unknown device 'tpu'; legal: cpu, cuda, auto"),
    ],
)
def test_bad_training_is_refused_before_anything_is_written(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    result = run("train", *arguments, "--out", str(tmp_path / "run"))
    assert result.code == 2
    assert message in result.err
    assert not list(tmp_path.iterdir())


def test_eval_of_what_is_no_run_ends_with_code_2(tmp_path: Path) -> None:
    result = run("eval", str(tmp_path))
    assert result.code == 2
    assert result.err.strip() == f"hal: {tmp_path} is not a run: it has no config.toml"


def test_methods_are_listed() -> None:
    assert [line.split()[0] for line in run("methods").out.splitlines()] == list(METHODS)


def test_keys() -> None:
    assert sorted(set(key_table(CRAFTING).values())) == list(range(11))
    assert sorted(set(key_table(TREASURE).values())) == list(range(5))
    for name in ("mine", "craft wood", "craft furnace", "new world", "quit"):
        assert name in key_help(CRAFTING)
    assert "space: interact" in key_help(TREASURE)


def test_an_ended_episode_takes_no_more_actions() -> None:
    env = GridEnv("treasure", max_steps=2)
    texts: list[str] = []
    steps: list[int] = []

    def show(frame: object, text: str) -> None:
        texts.append(text)
        steps.append(env.frame().step)

    play_by_hand(env, 0, ["w", "?", "a", "a", "a", "r", "a", "quit", "a"], show)
    assert steps == [0, 1, 2, 0, 1]
    assert ["over" in text for text in texts] == [False, False, True, False, False]


def test_the_window_takes_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = iter(["right", "space", "q"])
    shown: list[np.ndarray] = []
    show = Window.show

    def show_and_keep(self: Window, picture: np.ndarray, fps: float | None = None) -> None:
        shown.append(picture)
        show(self, picture, fps)

    monkeypatch.setattr(Window, "key", lambda self: next(keys))
    monkeypatch.setattr(Window, "show", show_and_keep)
    play_in_window(GridEnv("treasure"), 0)
    assert len(shown) == 3
    assert (shown[0] != shown[1]).any()


def in_a_terminal(*arguments: str, **variables: str) -> tuple[str, int]:
    """Return what a command shows in a terminal, and its exit code."""
    master, slave = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", **variables}
    process = subprocess.Popen([HAL, *arguments], stdin=slave, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    seen = b""
    with suppress(OSError):  # the end of a terminal is an error
        while part := os.read(master, 65536):
            seen += part
    os.close(master)
    return seen.decode(errors="replace"), process.wait(timeout=60)


@pytest.mark.parametrize(
    "variables", [{}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}]
)
def test_bad_words_are_named_in_a_terminal_of_any_encoding(variables: dict[str, str]) -> None:
    seen, code = in_a_terminal("nosuch", **variables)
    assert seen.startswith("hal: unknown command 'nosuch'; legal: train, eval, watch, ")
    assert (seen.count("\n"), code) == (1, 2)
    seen, code = in_a_terminal("train", "treasure", "--stepps", "5", **variables)
    assert seen.startswith("hal: `hal train` has no argument --stepps; perhaps --steps")
    assert (seen.count("\n"), code) == (1, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a command is missing; legal: train, eval"),
        (["play"], "`hal play` lacks the game; see: hal play --help"),
        (["play", "treasure", "extra"], "`hal play` does not take 'extra'; see: hal play --help"),
        (["play", "treasure", "--seed"], "--seed lacks a value; legal: "),
        (["reproduce", "all", "--preset", "slow"], "--preset slow; legal: fast, faithful, paper"),
        (["eval", "x", "--episodes", "many"], "'many'; legal: INT"),
        (["runs", "\x1b[31mred"], r"there is no folder \x1b[31mred"),
    ],
)
def test_what_is_wrong_with_a_command_line(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["hal", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.startswith("hal: ")
    assert told.count("\n") == 1
