"""Commands in environments that are not of the package."""

import sys
from pathlib import Path

import pytest

from hal.cli.entry import main
from hal.runs.check import try_env
from tests.corridor import PARTS, SMALL
from tests.test_contract import Broken


def test_check_of_a_good_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert try_env(PARTS, 500, seed=0)
    text = capsys.readouterr().out
    for line in (
        f"{PARTS}: the contract was kept in 50",
        "observation row: 1 x 5 cells of 2 codes",
        "observation key: 1 cells of 2 codes",
        "actions: 2",
        "true affordances: not told",
        "(final: door)",
    ):
        assert line in text
    assert "change:" not in text


@pytest.mark.parametrize(
    ("breach", "line"), [("silent", "broken: no milestone"), ("nan", "broken: ")]
)
def test_check_of_a_bad_environment(
    breach: str, line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Broken, "num_healthy", 0)
    assert not try_env(f"tests.test_contract:make_{breach}", 500, seed=0)
    assert line in capsys.readouterr().out


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["hal", *arguments])
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def test_all_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    out = ["--out", str(folder), "--episodes", "10"]
    assert run_main(monkeypatch, "train", "--env", PARTS, *options, *out) == 0
    assert run_main(monkeypatch, "eval", str(folder), "--episodes", "5") == 0
    assert "door" in capsys.readouterr().out
    assert run_main(monkeypatch, "plot", str(folder), "--out", str(tmp_path / "curves.png")) == 0
    assert (tmp_path / "curves.png").is_file()
    assert run_main(monkeypatch, "runs", str(tmp_path)) == 0
    gif = tmp_path / "episode.gif"
    assert run_main(monkeypatch, "watch", str(folder), "--seed", "1", "--gif", str(gif)) == 0
    assert gif.is_file()
    assert run_main(monkeypatch, "train", "treasure", "--env", PARTS) == 2
    assert "legal: one of them" in capsys.readouterr().err
    assert run_main(monkeypatch, "check", "tests.corridor:nothing") == 2
