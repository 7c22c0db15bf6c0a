"""What only a file names is imported when the user has agreed to it, and never else."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

import hal
from hal.cli import main
from hal.runs.lifecycle import Keeping, prepare_run
from hal.runs.trust import check_consent, is_inside, note_own
from tests.runs import learning, make_run

EVIL = "from pathlib import Path\nPath({mark!r}).touch()\ndef make():\n    return None\n"


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what is there when code of the folder `here` has been run; be in that folder."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path / "mark"


def add_code(path: Path, mark: Path) -> None:
    path.write_text(EVIL.format(mark=str(mark)))


def run_hal(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["hal", *words])
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def stranger(task: str) -> Path:
    run = make_run(Path("agent"), learning([0.5, 1.0]), task=task)
    (run / "keeping.json").write_text(json.dumps(asdict(Keeping())))
    return run


COMMANDS = [["eval", "agent"], ["watch", "agent"], ["train", "--resume", "agent"]]
FROM_FILE = ["train", "--config", "agent/config.toml", "--out", "new"]


@pytest.mark.parametrize("words", [*COMMANDS, FROM_FILE])
@pytest.mark.parametrize("agreed", [[], ["--trust"]])
def test_code_in_a_run_is_not_run(
    mark: Path,
    words: list[str],
    agreed: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    add_code(stranger("agent.evil:make") / "evil.py", mark)
    assert run_hal(monkeypatch, *words, *agreed) == 2
    told = capsys.readouterr().err
    assert told.startswith("hal: agent would import agent.evil from that folder itself; ")
    assert told.count("\n") == 1
    assert not mark.exists()


@pytest.mark.parametrize("words", [*COMMANDS, FROM_FILE])
def test_other_code_is_run_if_the_user_agrees(
    mark: Path,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = f"beside_{abs(hash(mark))}"  # one that no other test has imported
    stranger(f"{module}:make")
    add_code(Path(f"{module}.py"), mark)
    assert run_hal(monkeypatch, *words) == 2
    told = capsys.readouterr().err
    assert f"agent would import {module}, and was not trained here" in told
    assert f"--env {module}:make or --trust" in told
    assert run_hal(monkeypatch, *words, "--env", "other:make") == 2
    assert not mark.exists()
    if words[0] != "train":  # those read the weights first
        return
    assert run_hal(monkeypatch, *words, "--trust") == 2
    assert "legal: a gymnasium.Env" in capsys.readouterr().err
    assert mark.exists()


def test_nothing_is_killed(
    mark: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stranger("os:abort")
    for words in COMMANDS:
        assert run_hal(monkeypatch, *words) == 2
        assert "would import os, and was not trained here" in capsys.readouterr().err
    with pytest.raises(ValueError, match="trust=True"):
        hal.load("agent")
    with pytest.raises(ValueError, match=r"has no weights\.safetensors"):
        hal.load("agent", env="os:abort")
    with pytest.raises(ValueError, match=r"has no weights\.safetensors"):
        hal.load("agent", trust=True)


def test_who_only_reads_imports_nothing(
    mark: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_code(stranger("agent.evil:make") / "evil.py", mark)
    assert run_hal(monkeypatch, "runs", ".") == 0
    assert "agent.evil" in capsys.readouterr().out
    assert run_hal(monkeypatch, "plot", ".", "--text") == 0
    assert not mark.exists()


def test_a_run_of_ones_own_needs_no_words(mark: Path) -> None:
    own = Path("own")
    prepare_run(hal.make_config("mine:make"), own, Keeping())
    check_consent("mine:make", own, None, False)
    own.rename("moved")
    check_consent("mine:make", Path("moved"), None, False)
    with pytest.raises(ValueError, match="would import other, and was not trained here"):
        check_consent("other:make", Path("moved"), None, False)
    for forged in ("0" * 32, "../" * 8, "", "x" * 32):
        Path("moved", "run.id").write_text(forged)
        with pytest.raises(ValueError, match="was not trained here"):
            check_consent("mine:make", Path("moved"), None, False)


def test_games_need_no_note(mark: Path) -> None:
    folder = make_run(Path("run"))
    note_own(folder, "treasure")
    assert not (folder / "run.id").exists()
    check_consent("treasure", folder, None, False)
    check_consent("minigrid/UnlockPickup", folder, None, False)
    with pytest.raises(ValueError, match="--env mine:make; legal: the run's own, treasure"):
        check_consent("treasure", folder, "mine:make", False)


def test_where_a_module_would_be_found(mark: Path) -> None:
    inside = make_run(Path("runs/agent"))
    (inside / "deep").mkdir()
    add_code(inside / "evil.py", mark)
    assert is_inside("runs.agent.evil", inside)
    assert is_inside("runs.agent.deep.evil", inside)
    assert not is_inside("json.decoder", inside)
    Path("link.py").symlink_to("runs/agent/evil.py")
    assert is_inside("link", inside)
    add_code(Path("beside.py"), mark)
    assert not is_inside("beside", inside)
