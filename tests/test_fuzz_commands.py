"""A sample of random command lines; `benchmarks/fuzz` has as many as one likes."""

import sys

import pytest
from benchmarks.fuzz.answers import Answer, answer_to
from benchmarks.fuzz.commands import attack


def test_every_answer_is_legal() -> None:
    assert attack(60, seed=0) == []


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(0, "done", ""), ""),
        (Answer(2, "", "hal: no\n"), ""),
        (Answer(2, "", "hal: \n"), "no reason is told"),
        (Answer(2, "", ""), "no reason is told"),
        (Answer(3, "", "hal: no\n"), "exit code 3"),
        (Answer(2, "", "no\n"), "strange words: 'no\\n'"),
        (Answer(0, "\x1b[31m", ""), "an escape sequence"),
        (Answer(130, "", ""), "hangs"),
        (Answer(130, "", "hal: stopped after 5 steps"), ""),
        (Answer(0, "", "", "Traceback"), "Traceback"),
    ],
)
def test_what_is_legal(answer: Answer, fault: str) -> None:
    assert answer.fault == fault


def test_what_nobody_catches_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: list[str]) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("hal.cli.entry.parsed", fail)
    before = sys.argv
    assert "KeyError: 'lost'" in answer_to(["runs"]).fault
    assert sys.argv is before
