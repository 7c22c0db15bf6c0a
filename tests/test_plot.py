"""Runs read back from disk: their states, their tables, their learning curves."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from PIL import Image
from rich.console import Console
from rich.table import Table

from hal.config.file import save_config
from hal.config.presets import METHODS, make_config
from hal.experiments import curves, plot
from hal.experiments.curves import mean_curve, read_groups
from hal.experiments.plot import plot_runs, plot_text
from hal.runs import folder as runs
from hal.runs.folder import find_runs, read_metrics, state_of
from hal.runs.listing import runs_table

Lines = list[dict[str, Any]]


def make_run(folder: Path, lines: Lines | None = None, **settings: Any) -> Path:
    folder.mkdir(parents=True)
    settings = {"task": "treasure", "method": "hal", "seed": 0, **settings}
    save_config(make_config(**settings), folder)
    if lines is not None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "metrics.jsonl").write_text(text, encoding="utf-8")
    return folder


def curve(name: str, values: list[float], every: int = 100) -> Lines:
    return [{"steps": every * (i + 1), name: value} for i, value in enumerate(values)]


def learning(success: list[float]) -> Lines:
    names = ("episode/success", "mask/accuracy", "mask/overpruned", "episode/coverage/red_key")
    return [
        {"steps": 100 * (i + 1), "episode/length": 900 - 500 * value, **dict.fromkeys(names, value)}
        for i, value in enumerate(success)
    ]


def printed(table: Table, width: int = 200) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


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


def test_mean_and_interval() -> None:
    name = "episode/success"
    result = mean_curve([curve(name, [v, 0.5]) for v in (0.2, 0.4, 0.6)], name)
    # The deviation is 0.2 and t with two degrees of freedom 4.302653.
    half = 4.302653 * 0.2 / np.sqrt(3)
    np.testing.assert_array_equal(result.steps, [100, 200])
    np.testing.assert_allclose(result.mean, [0.4, 0.5])
    np.testing.assert_allclose(result.low, [max(0.4 - half, 0), 0.5])
    np.testing.assert_allclose(result.high, [0.4 + half, 0.5], rtol=1e-6)
    assert result.low[0] == 0, "a rate is not below 0"
    wide = mean_curve([curve(name, [v]) for v in (0.4, 1.0)], name)
    assert (wide.low[0], wide.high[0]) == (0, 1)
    length = mean_curve([curve("episode/length", [v]) for v in (100, 300)], "episode/length")
    half = 12.706205 * np.sqrt(20_000) / np.sqrt(2)
    np.testing.assert_allclose([length.low[0], length.high[0]], [200 - half, 200 + half], rtol=1e-6)


def test_one_seed_has_no_interval() -> None:
    result = mean_curve([curve("episode/success", [0.2, 0.4])], "episode/success")
    np.testing.assert_array_equal(result.mean, [0.2, 0.4])
    assert np.isnan([result.low, result.high]).all()


def test_runs_are_interpolated_up_to_the_shortest() -> None:
    name = "episode/success"
    short = curve(name, [0.0, 0.8], every=100)
    long = curve(name, [0.0, 0.6, 0.9, 1.0], every=80)
    result = mean_curve([short, long], name)
    np.testing.assert_array_equal(result.steps, [80, 100, 160, 200])
    # At 80 there is no short run yet. At 100 the long one is 0.15 and at 200 0.75; at 160 the short
    # one is 0.48.
    np.testing.assert_allclose(result.mean, [np.nan, 0.15 / 2, (0.48 + 0.6) / 2, (0.8 + 0.75) / 2])
    np.testing.assert_array_equal(np.isfinite(result.low), [False, True, True, True])


def test_missing_values_are_gaps() -> None:
    name = "episode/success"
    lines: Lines = [{"steps": 1}, {"steps": 2, name: 0.2}, {"steps": 3, name: 0.3}, {"steps": 4}]
    np.testing.assert_array_equal(mean_curve([lines], name).mean, [np.nan, 0.2, 0.3, np.nan])
    other = [{"steps": s, name: 0.4} for s in (1, 2, 3, 4)]
    np.testing.assert_allclose(mean_curve([lines, other], name).mean, [np.nan, 0.3, 0.35, np.nan])
    assert np.isnan(mean_curve([lines], "mask/accuracy").mean).all()


def labels(folder: Path) -> dict[str, int]:
    (groups,) = read_groups([folder]).values()
    return {group.label: len(group.runs) for group in groups}


def test_seeds_are_grouped(tmp_path: Path) -> None:
    lines = curve("episode/success", [0.5])
    for seed, device in enumerate(("cpu", "cuda", "cpu")):
        make_run(tmp_path / f"hal-{seed}", lines, seed=seed, device=device)
    make_run(tmp_path / "oracle", lines, method="oracle")
    make_run(tmp_path / "empty", method="hr")
    assert labels(tmp_path) == {"oracle": 1, "hal": 3}
    assert list(labels(tmp_path)) == ["oracle", "hal"], "in the order of the methods"
    (groups,) = read_groups([tmp_path, tmp_path / "hal-0"]).values()
    assert len(groups[1].runs) == 3, "a run named twice counts once"


def test_labels_tell_what_differs(tmp_path: Path) -> None:
    lines = curve("episode/success", [0.5])
    make_run(tmp_path / "a", lines, sigma=2.0)
    make_run(tmp_path / "b", lines)
    assert labels(tmp_path) == {"hal sigma=2.0": 1, "hal sigma=7.0": 1}
    make_run(tmp_path / "c", lines, method="hr", milestones=("red_key", "treasure"))
    assert "hr" in labels(tmp_path)
    make_run(tmp_path / "d", lines, preset="paper")
    make_run(tmp_path / "e", lines, method="hr")
    assert set(labels(tmp_path)) == {
        "hal fast sigma=2.0",
        "hal fast sigma=7.0",
        "hal paper",
        "hr fast milestones=red_key+treasure",
        "hr fast milestones=all",
    }


def test_groups_of_a_method_share_its_colour_but_no_dashes(tmp_path: Path) -> None:
    assert list(curves.COLOURS) == list(METHODS)
    assert len(set(curves.COLOURS.values())) == len(METHODS)
    lines = curve("episode/success", [0.5])
    for sigma in (2.0, 3.0):
        make_run(tmp_path / f"{sigma}", lines, sigma=sigma)
    make_run(tmp_path / "hr", lines, method="hr")
    (groups,) = read_groups([tmp_path]).values()
    colours = [group.style["color"] for group in groups]
    assert colours == [curves.COLOURS[name] for name in ("hal", "hal", "hr")]
    assert groups[0].style["linestyle"] != groups[1].style["linestyle"]
    assert groups[0].style["linestyle"] == groups[2].style["linestyle"] == "-"


def test_a_seed_does_not_count_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("a", 0.5), ("b", 0.7)):
        make_run(tmp_path / name, curve("episode/success", [value]))
    damaged = make_run(tmp_path / "c")
    (damaged / "config.toml").write_text("task = ")
    (group,) = read_groups([tmp_path])["treasure"]
    assert [lines[0]["episode/success"] for lines in group.runs] == [0.7]
    notes = capsys.readouterr().err.splitlines()
    assert [note.split(":")[1].strip() for note in notes] == ["left out", "left out"]
    assert str(tmp_path / "a") in notes[0]
    assert "damaged" in notes[1]


def test_nothing_to_plot_is_told(tmp_path: Path) -> None:
    out = tmp_path / "curves.png"
    with pytest.raises(ValueError, match="there are no runs in"):
        plot_runs([tmp_path], out)
    make_run(tmp_path / "run")
    with pytest.raises(ValueError, match="have no metrics yet"):
        plot_runs([tmp_path], out)
    (tmp_path / "run" / "metrics.jsonl").write_text('{"steps": 5}\n')
    with pytest.raises(ValueError, match="no metrics to plot yet"):
        plot_runs([tmp_path], out)
    with pytest.raises(ValueError, match=r"unknown suffix '.svg'; legal: .png, .pdf"):
        plot_runs([tmp_path], tmp_path / "curves.svg")
    with pytest.raises(ValueError, match="there is no folder"):
        plot_runs([tmp_path], tmp_path / "nowhere" / "curves.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_figures_are_written_and_show_the_data(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    make_run(tmp_path / "slow", learning([0, 0, 0.2]))
    make_run(tmp_path / "fast", learning([0.2, 0.8, 1]), seed=1)
    slow, fast, again = (
        plot_runs([tmp_path / name], out / f"{i}.png")[0]
        for i, name in enumerate(("slow", "fast", "slow"))
    )
    (both,) = plot_runs([tmp_path / "slow", tmp_path / "fast"], out / "both.pdf")
    assert both.read_bytes().startswith(b"%PDF")
    first = pixels(slow)
    assert first.shape == pixels(fast).shape
    assert first.shape[1] == 2160, "a page's width at 300 dots per inch"
    ink = (first < 128).any(axis=2)
    assert 0.01 < ink.mean() < 0.5
    colour = tuple(bytes.fromhex(curves.COLOURS["hal"][1:]))
    assert (first == colour).all(axis=2).sum() > 500, "the method's curve"
    np.testing.assert_array_equal(first, pixels(again))
    assert (first != pixels(fast)).any(axis=2).sum() > 1000
    assert sorted(os.listdir(out)) == ["0.png", "1.png", "2.png", "both.pdf"]


def test_files_are_named_by_suffix_and_task(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    make_run(tmp_path / "a", curve("episode/success", [0.5]))
    files = plot_runs([tmp_path / "a"], out / "curves")
    assert [path.name for path in files] == ["curves.png", "curves.pdf"]
    make_run(tmp_path / "b", curve("episode/success", [0.5]), task="iron")
    files += plot_runs([tmp_path / "a", tmp_path / "b"], out / "all.png")
    assert [path.name for path in files[2:]] == ["all-treasure.png", "all-iron.png"]
    assert sorted(os.listdir(out)) == sorted(path.name for path in files)


def panels(folder: Path) -> list[str]:
    ((task, groups),) = read_groups([folder]).items()
    figure = plot.draw_task(task, groups)
    return [axes.get_ylabel() for axes in figure.axes]


def test_panels_are_those_of_the_metrics(tmp_path: Path) -> None:
    make_run(tmp_path / "hal", learning([0.1, 0.4]))
    rates = ["success rate", "episode length (steps)"]
    mask = ["mask accuracy", "overpruned share"]
    assert panels(tmp_path) == [*rates, *mask, "episodes with milestone"]
    make_run(tmp_path / "rainbow", curve("episode/success", [0.1]), method="rainbow")
    assert panels(tmp_path / "rainbow") == ["success rate"]
    assert panels(tmp_path) == [*rates, *mask], "the coverage of one group only"


def test_a_line_of_zeros_is_seen(tmp_path: Path) -> None:
    make_run(tmp_path / "run", curve("mask/overpruned", [0.0, 0.0]))
    ((task, groups),) = read_groups([tmp_path]).items()
    (axes,) = plot.draw_task(task, groups).axes
    assert axes.get_ylim()[0] < 0 < axes.get_ylim()[1] < 0.1


def test_a_panel_draws_mean_band_and_lone_points(tmp_path: Path) -> None:
    for seed in (0, 1):
        lines: Lines = [{"steps": s, "mask/accuracy": seed / 2} for s in (1, 2, 3)]
        lone: Lines = [{"steps": 4}, {"steps": 5, "mask/accuracy": seed / 2}, {"steps": 6}]
        make_run(tmp_path / f"{seed}", [*lines, *lone], seed=seed)
    ((task, groups),) = read_groups([tmp_path]).items()
    figure = plot.draw_task(task, groups)
    (axes,) = figure.axes
    dots, line = axes.get_lines()
    np.testing.assert_array_equal(dots.get_xydata(), [[5, 0.25]])
    np.testing.assert_array_equal(line.get_ydata(), [0.25, 0.25, 0.25, np.nan, 0.25, np.nan])
    (band,) = axes.collections
    heights = np.concatenate([np.asarray(path.vertices)[:, 1] for path in band.get_paths()])
    assert (heights.min(), heights.max()) == (0, 1)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["hal (2 seeds)"]
    assert axes.get_xlabel() == "environment steps"


def test_sparklines() -> None:
    steps = np.arange(1, 41) * 10.0
    means = np.concatenate([np.repeat(np.arange(8) / 7, 4), np.full(4, np.nan), np.full(4, 2.0)])
    missing = np.full(40, np.nan)
    line = plot.sparkline(curves.Curve(steps, means, missing, missing), end=400, top=1)
    assert line == "".join(block * 4 for block in "▁▂▃▄▅▆▇█") + "    ████"
    half = plot.sparkline(curves.Curve(steps, means * 100, missing, missing), end=800, top=100)
    assert half[20:] == " " * 20, "a shorter run has a shorter line"
    assert half[:3] == "▁▁▂"
    assert half[19] == "█"


def test_text_tells_the_curves(tmp_path: Path) -> None:
    for seed, last in enumerate((0.7, 0.8, 0.9)):
        make_run(tmp_path / f"{seed}", learning([0, last]), seed=seed)
    lines = curve("episode/success", [1.0], every=100)
    make_run(tmp_path / "rainbow", lines, method="rainbow")
    rows = [line.split() for line in printed(plot_text([tmp_path])).splitlines()]
    rows = [row for row in rows if {"success", "length", "mask"} & set(row)]
    # t of two degrees of freedom * 0.1 / sqrt(3) = 0.248, of lengths 124.
    assert rows[0][:3] == ["treasure", "hal", "success"]
    assert rows[0][-4:] == ["80%", "(55%", "to", "100%)"]
    assert rows[0][3][0] == "▁"
    assert rows[0][3][-1] == "▇"
    assert rows[1][:3] == ["3", "seeds", "length"]
    assert rows[1][-4:] == ["500", "(376", "to", "624)"]
    assert rows[2][:3] == ["200.00", "steps", "mask"]
    assert rows[3] == ["treasure", "rainbow", "success", "█", "100%"]
    assert len(rows) == 4, "rainbow has neither length nor mask here"
