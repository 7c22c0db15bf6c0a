"""Learning curves drawn: figures, their panels, and lines of text."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hal.experiments import curves, plot
from hal.experiments.curves import read_groups
from hal.experiments.plot import plot_runs, plot_text
from tests.runs import Lines, curve, learning, make_run, printed


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


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
