"""Learning curves: means and intervals over seeds, groups of runs and their labels."""

from pathlib import Path

import numpy as np
import pytest

from hal.config.presets import METHODS
from hal.experiments import curves
from hal.experiments.curves import mean_curve, read_groups
from tests.runs import Lines, curve, make_run


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
