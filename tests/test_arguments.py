"""`hal train`: settings by name, from a file, and which of them win; what commands load."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hal.cli import main
from hal.cli.train import given_names, plain_words
from hal.config.file import CONFIG, save_config
from hal.config.presets import make_config
from hal.config.settings import GROUPS, Config, values_of
from tests.test_settings import AGES


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Config]:
    """Return what would have been trained."""
    configs: list[Config] = []
    monkeypatch.setattr("hal.runs.lifecycle.run_training", lambda one, *_: configs.append(one))
    return configs


def train(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["hal", "train", *words])
    main()


def test_words_get_their_groups() -> None:
    words = ["iron", "--sigma=3", "--no-waits", "--meta.no-hindsight", "--seed", "1", "--out", "-x"]
    words += ["--no-avoid-failed", "--options.max-steps", "9", "--milestones", "log", "iron"]
    full = plain_words(words)
    assert full == [
        *("iron", "--affordances.sigma=3", "--meta.no-waits", "--meta.no-hindsight", "--seed", "1"),
        *("--out", "-x", "--options.no-avoid-failed", "--options.max-steps", "9"),
        *("--environment.milestones", "log", "iron"),
    ]
    assert given_names(full) == {
        *("affordances.sigma", "meta.waits", "meta.hindsight", "seed", "out"),
        *("options.avoid_failed", "options.max_steps", "environment.milestones"),
    }


def test_a_file_sets_what_it_says_and_the_command_line_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[Config]
) -> None:
    file = tmp_path / "my.toml"
    file.write_text('task = "iron"\nmethod = "hr"\nseed = 7\nsigma = 3.0\n[meta]\ndiscount = 0.5\n')
    train(monkeypatch, "--config", str(file))
    expected = make_config("iron", "hr", seed=7, sigma=3.0, meta_discount=0.5)
    assert made == [expected]
    train(monkeypatch, "log", f"--config={file}", "--seed", "8", "--meta.discount", "0.6")
    assert made[1] == make_config("log", "hr", seed=8, sigma=3.0, meta_discount=0.6)
    train(monkeypatch, "--env", "minigrid/UnlockPickup", "--config", str(file), "--method", "hal")
    other = make_config("minigrid/UnlockPickup", "hal", seed=7, sigma=3.0, meta_discount=0.5)
    assert made[2] == other, "the file says nothing that a method decides"


@pytest.mark.parametrize(
    ("task", "method", "preset"),
    [("iron", "hal-rai", "fast"), ("treasure", "rainbow", "paper"), ("wood", "oracle", "fast")],
)
def test_a_runs_own_file_makes_the_same_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    made: list[Config],
    task: str,
    method: str,
    preset: str,
) -> None:
    settings: dict[str, Any] = {"steps": 5, "mask_epsilon": (0.5, 0.0)}
    config = make_config(task, method, preset, **settings)
    save_config(config, tmp_path)
    train(monkeypatch, "--config", str(tmp_path / CONFIG))
    train(monkeypatch, "--config", str(tmp_path / CONFIG), "--seed", "4")
    assert made == [
        config,
        make_config(task, method, preset, steps=5, mask_epsilon=(0.5, 0.0), seed=4),
    ]


def test_a_file_from_before_there_were_groups_will_do(
    monkeypatch: pytest.MonkeyPatch, made: list[Config]
) -> None:
    train(monkeypatch, "--config", str(AGES / "flat-hal-fnf.toml"), "--seed", "5")
    assert made == [make_config("iron", "hal-fnf", disappear_rate=0.02, seed=5)]


def test_a_runs_file_does_what_its_version_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[Config]
) -> None:
    old: dict[str, Any] = {"goal_anneal_events": 0, "weigh_failures": False}
    train(monkeypatch, "--config", str(AGES / "flat-first.toml"))
    assert made == [make_config("treasure", "oracle", **old)]
    save_config(make_config("iron", "hal", "paper"), tmp_path)
    file = tmp_path / CONFIG
    file.write_text(file.read_text().replace("mask_target = false\n", ""))
    train(monkeypatch, "--config", str(file))
    assert made[1] == make_config("iron", "hal", "paper", mask_target=True), "as it was before"


def test_an_environment_and_a_task_are_too_many(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], made: list[Config]
) -> None:
    for words in (["iron", "--env", "a:b"], ["--seed", "1", "iron", "--env", "a:b"]):
        with pytest.raises(SystemExit) as stop:
            train(monkeypatch, *words)
        assert stop.value.code == 2
        assert "--env a:b and the task 'iron'; legal: one of them" in capsys.readouterr().err
    assert made == []


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ('method = "hal"\nmask = "learned"\n', ["--method", "hr"], "--method hr and a file of hal"),
        (
            'preset = "fast"\nwindow = 9\n',
            ["--preset=paper"],
            "that sets replay.window; legal: one",
        ),
        ("sigma = -1.0\n", [], "affordances.sigma -1.0; legal: above 0"),
        ("sigmo = 1.0\n", [], "my.toml: unknown field 'sigmo'; legal fields: task"),
        ("format = 99\n", [], "my.toml: format 99; legal: 1 to 2"),
    ],
)
def test_a_bad_file_ends_with_code_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    made: list[Config],
    text: str,
    words: list[str],
    message: str,
) -> None:
    file = tmp_path / "my.toml"
    file.write_text(text)
    with pytest.raises(SystemExit) as stop:
        train(monkeypatch, "--config", str(file), *words)
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert made == []


def test_help_begins_with_what_people_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        train(monkeypatch, "--help")
    text = capsys.readouterr().out
    first = ("TASK", "--env", "--method", "--preset", "--seed", "--steps", "--config", "--out")
    places = [text.index(word) for word in (*first, "--resume ", "--device")]
    groups = [text.index(f" {group} options ") for group in GROUPS]
    assert places == sorted(places)
    assert groups == sorted(groups)
    assert places[-1] < groups[0]
    for path in values_of(Config()):
        group, _, name = path.rpartition(".")
        assert not group or f"--{group}.{name.replace('_', '-')} " in text.replace(",", " "), path


@pytest.mark.parametrize(
    "words", [["runs", "."], ["plot", "--text", "."], ["compare", "."], ["methods"], ["tasks"]]
)
def test_who_only_reads_does_not_wait_for_torch(tmp_path: Path, words: list[str]) -> None:
    save_config(Config(), tmp_path)
    (tmp_path / "metrics.jsonl").write_text('{"steps": 5, "episode/success": 0.5}\n')
    heavy = '{"torch", "tensorboard", "ray"} & set(sys.modules)'
    code = f"import sys; from hal.cli import main; main(); assert not {heavy}, {heavy}"
    command: list[Any] = [sys.executable, "-c", code, *words]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
