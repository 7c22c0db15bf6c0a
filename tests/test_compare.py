"""Agents compared: what is told of each group, as a table, a figure and a page."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from hal.cli import main
from hal.experiments.compare import Comparison, compare_runs
from hal.experiments.curves import Group, read_groups
from hal.experiments.measures import SUCCESS, first_at, measure_of
from tests.runs import Lines, make_run, printed
from tests.test_report import Page

OLD = {"subpolicy/wasted": 0.5, "milestones/circles": 0.25}  # what old runs do not have
MASK = {"mask/accuracy": 0.9, "mask/overpruned": 0.04, "mask/underpruned": 0.06}


def lines_of(success: list[float], seconds: float = 10.0, **others: float) -> Lines:
    """Return lines whose keys in `others` have __ for a slash."""
    others = {name.replace("__", "/"): value for name, value in others.items()}
    return [
        {"steps": 100 * i, "cpu_seconds": seconds * i, "episode/success": value}
        | {"episode/coverage/red_key": 1.0, "episode/coverage/treasure": value, **OLD, **others}
        for i, value in enumerate(success, start=1)
    ]


def without(lines: Lines, *names: str) -> Lines:
    return [{k: v for k, v in line.items() if k not in names} for line in lines]


def groups_in(folder: Path) -> list[Group]:
    (groups,) = read_groups([folder]).values()
    return groups


def make_three(folder: Path) -> None:
    """HAL of two seeds, another method, and one without options."""
    told: dict[str, float] = {name.replace("/", "__"): value for name, value in MASK.items()}
    make_run(folder / "hal-0", lines_of([0.2, 0.8, 0.9], **told))
    make_run(folder / "hal-1", lines_of([0.4, 1.0, 0.9], **told), seed=1)
    make_run(folder / "hr", lines_of([0.0, 0.1, 0.5], seconds=1.0), method="hr")
    flat = without(lines_of([0.0, 0.0, 0.0]), "subpolicy/wasted")
    make_run(folder / "rainbow", flat, method="rainbow")


def test_the_table_tells_each_group(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_three(tmp_path)
    (table,), files = compare_runs([tmp_path], None)
    rows = [line.split() for line in printed(table, width=80).splitlines()]
    starts = {row[0]: row[1:] for row in rows if row}
    shares = ["50%", "25%"]
    assert starts["hal"] == ["90%", "200.00", "20", "s", *shares, "90%"]
    assert starts["(2"] == ["seeds)", "(90%", "to", "90%)"]
    assert starts["hr"] == ["50%", "never", "never", *shares, "-"]
    assert starts["rainbow"] == ["0%", "never", "never", "-", "25%", "-"]
    assert files == []
    assert capsys.readouterr().err == "", "nobody misses the wasted steps of no options"


def test_what_older_runs_lack_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "new", lines_of([0.5, 0.5]), method="hr")
    make_run(tmp_path / "old", without(lines_of([0.5, 0.5]), *OLD))
    make_run(tmp_path / "seed", lines_of([0.5, 0.5]), seed=1)
    compare_runs([tmp_path], None)
    assert capsys.readouterr().err == (
        "hal: treasure hal is shown without wasted steps and circles,"
        " which not all of its runs tell\n"
    )


@pytest.mark.parametrize(
    ("returns", "success", "expected"),
    [
        ([-1.0, 8.0, 6.0], 0.04, ("episode/return", 3.0, 200)),
        ([-1.0, 8.0, 6.0], 0.1, (SUCCESS, 0.8, np.inf)),
        ([-1.0, -8.0, -6.0], 0.0, (SUCCESS, 0.8, np.inf)),  # nothing is earned
    ],
)
def test_the_return_counts_where_it_is_all_there_is(
    tmp_path: Path, returns: list[float], success: float, expected: tuple[str, float, float]
) -> None:
    lines = lines_of([success] * 3)
    for line, value in zip(lines, returns, strict=True):
        line["episode/return"] = value
    make_run(tmp_path / "run", lines)
    (group,) = groups_in(tmp_path)
    measure = measure_of([group])
    assert (measure.name, measure.level, first_at(group, measure, "steps")) == expected
    figure = Comparison("treasure", [group]).draw()
    bottom, top = figure.axes[0].get_ylim()
    assert bottom < min(0, *returns) or measure.name == SUCCESS
    assert top > measure.level


def labels(figure: Figure) -> list[str]:
    return [axes.get_ylabel() or axes.get_title() for axes in figure.axes]


def test_the_figure_has_a_row_for_each_thing(tmp_path: Path) -> None:
    make_three(tmp_path)
    figure = Comparison("treasure", groups_in(tmp_path)).draw()
    assert labels(figure) == [
        *("success rate", "success rate"),
        *("hal", "hr", "rainbow", "episodes with milestone"),
        *("wasted share of steps", "circles among milestones"),
        *("mask accuracy", "overpruned share", "underpruned share"),
    ]
    assert [axes.get_xlabel() for axes in figure.axes[:2]] == ["environment steps", "CPU seconds"]
    ends = [np.max(line.get_xdata()) for line in figure.axes[1].get_lines()[1:6:2]]
    assert ends == [30, 3, 30], "each group's seconds"
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["hal (2 seeds)", "hr (1 seed)", "rainbow (1 seed)"]


def shares(mesh: Any) -> np.ndarray:
    values: np.ndarray = mesh.get_array().filled(np.nan)
    return values


def test_two_groups_have_a_difference(tmp_path: Path) -> None:
    make_run(tmp_path / "hal", lines_of([0.0, 0.5, 1.0]))
    few = without(lines_of([0.0, 0.1]), "episode/coverage/red_key")
    milestones = ("green_door", "treasure")
    make_run(tmp_path / "hr-0", few, method="hr", milestones=milestones)
    untimed = without(few, "cpu_seconds")
    make_run(tmp_path / "hr-1", untimed, method="hr", milestones=milestones, seed=1)
    hal, hr, change, *_ = Comparison("treasure", groups_in(tmp_path)).draw().axes[2:]
    assert [text.get_text() for text in hal.get_yticklabels()] == ["red key", "treasure"]
    assert change.get_title() == "hal less hr"
    ((own,), (other,), (less,)) = (axes.collections for axes in (hal, hr, change))
    np.testing.assert_allclose(shares(own), [[1.0, 1.0, 1.0], [0.0, 0.5, 1.0]])
    np.testing.assert_allclose(shares(other), [[np.nan, np.nan], [0.0, 0.1]])
    np.testing.assert_allclose(shares(less), [[np.nan, np.nan], [0.0, 0.4]])
    assert own.get_clim() == other.get_clim() == (0, 1), "the same colours mean the same"
    assert less.get_clim() == (-0.4, 0.4)
    assert hal.get_xlim() == hr.get_xlim() == change.get_xlim() == (0, 300)


def test_many_groups_have_as_many_maps(tmp_path: Path) -> None:
    for sigma in range(1, 6):
        make_run(tmp_path / f"{sigma}", lines_of([0.5]), sigma=float(sigma))
    maps = Comparison("treasure", groups_in(tmp_path)).draw().axes[2:-2]
    titles = [axes.get_title() or axes.get_ylabel() for axes in maps]
    assert titles == [*(f"hal sigma={i}.0" for i in range(1, 6)), "episodes with milestone"]


def test_tasks_are_apart(tmp_path: Path) -> None:
    lines: Lines = [{"steps": 100, SUCCESS: 1.0}]  # little to draw
    make_run(tmp_path / "a" / "hal", lines)
    make_run(tmp_path / "a" / "iron", lines, task="iron")
    tables, files = compare_runs([tmp_path / "a"], tmp_path / "out.png")
    assert [str(table.title) for table in tables] == ["treasure", "iron"]
    assert [file.name for file in files] == ["out-treasure.png", "out-iron.png"]
    for file in files:
        with Image.open(file) as image:
            assert image.size[0] == 2160
    _, (pdf,) = compare_runs([tmp_path / "a" / "hal"], tmp_path / "out.pdf")
    assert pdf.read_bytes().startswith(b"%PDF")
    _, (html,) = compare_runs([tmp_path / "a"], tmp_path / "out.html")
    page = Page(html)
    assert [own["href"] for own in page.all("a")] == ["#task-1", "#task-2"]
    assert len(page.all("img")) == 2
    assert page.text.count("hal (1 seed)100%100.00----") == 2


def test_bad_input_and_strange_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "good", lines_of([0.5]))
    bad = make_run(tmp_path / "bad", lines_of([0.5]), seed=1)
    (bad / "config.toml").write_text("task = ")

    def answer(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["hal", "compare", *words])
        try:
            main()
        except SystemExit as end:
            return int(str(end.code)), capsys.readouterr().err
        return 0, capsys.readouterr().err

    code, told = answer(str(tmp_path))
    assert code == 0
    assert told.startswith(f"hal: left out: {bad}")
    assert told.count("\n") == 1
    assert answer()[1].startswith("hal: no runs are named; legal: ")
    for out in ("curves.svg", "curves"):
        code, told = answer(str(tmp_path), "--out", out)
        assert (code, told.count("\n")) == (2, 1)
        assert "legal: .png, .pdf, .html" in told
    assert answer(str(tmp_path / "nowhere")) == (2, f"hal: there is no folder {tmp_path}/nowhere\n")
    code, told = answer(str(tmp_path / "good"), "--out", str(tmp_path / "no" / "a.png"))
    assert (code, "there is no folder" in told) == (2, True)
    (tmp_path / "good" / "metrics.jsonl").write_text('{"steps": 5}\n')
    code, told = answer(str(tmp_path / "good"), "--out", str(tmp_path / "a.png"))
    assert (code, "no metrics to compare yet" in told) == (2, True)
