"""The paper's figures, from results made up so that what they show is known."""

import zlib
from collections.abc import Iterable
from functools import cache
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from PIL import Image

from hal.envs.grid.settings import GridSettings
from hal.experiments.curves import COLOURS
from hal.experiments.figures import FIGURES, draw_figures
from hal.experiments.panels import LABELS, rate_of, series_of
from hal.experiments.plot import STYLE
from hal.experiments.results import Results, RunResult
from hal.experiments.suite import EXPERIMENTS, SWEEPS, Variant

NUM_LINES = 20
UNMASKED = ("hr", "hr+her", "rainbow")


def make_run(variant: Variant, seed: int, shift: float = 0.0) -> RunResult:
    """Return a run that gets better, differently for each variant and seed."""
    rng = np.random.default_rng([seed, zlib.crc32(f"{variant.task} {variant.name}".encode())])
    level = float(np.clip(rng.uniform(0.3, 0.9) + shift, 0, 1))
    names = [name for name in LABELS if not (variant.method in UNMASKED and "mask" in name)]
    scales = {"episode/length": 1000.0, "filter/margin": 3.0}
    lines = [
        {
            "steps": 1000 * i + seed,
            **{name: scales.get(name, 1.0) * level * share for name in names},
        }
        for i, share in enumerate(np.linspace(0.1, 1, NUM_LINES), start=1)
    ]
    milestones = GridSettings(task=variant.task).milestones or ()
    final = {"steps": 20_000, "episodes": 200, "success": level, "length": 300.0}
    final |= {f"coverage/{milestone}": level for milestone in milestones}
    cost = {"cpu_seconds": 10.0 + seed, "steps_per_second": 2_000.0}
    return RunResult(variant.task, variant.name, seed, final, lines, cost)


def make_results(
    experiment: str, variants: Iterable[Variant] = (), num_seeds: int = 2, shift: float = 0.0
) -> Results:
    chosen = tuple(variants) or EXPERIMENTS[experiment].variants
    return [make_run(variant, seed, shift) for variant in chosen for seed in range(num_seeds)]


def draw(name: str, results: Results) -> Figure:
    with mpl.rc_context(STYLE):
        return FIGURES[name][1](results)


@cache
def whole(name: str) -> Figure:
    return draw(name, make_results(FIGURES[name][0]))


def pixels(figure: Figure) -> np.ndarray:
    file = BytesIO()
    figure.savefig(file, format="png", dpi=50)
    with Image.open(file) as image:
        return np.asarray(image.convert("RGB"))


def legends(figure: Figure) -> list[Legend]:
    own = [legend for axes in figure.axes if (legend := axes.get_legend())]
    return [*figure.legends, *own]


def named(figure: Figure) -> set[str]:
    return {text.get_text() for legend in legends(figure) for text in legend.get_texts()}


def ticks(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_xticklabels()]


def means(axes: Axes) -> np.ndarray:
    """Return the first curve, which is drawn after the dots of lone points."""
    return np.asarray(axes.get_lines()[1].get_ydata(), dtype=float)


def test_every_experiment_has_figures() -> None:
    assert {experiment for experiment, _ in FIGURES.values()} == set(EXPERIMENTS)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_files_for_print(experiment: str, tmp_path: Path) -> None:
    files = draw_figures(experiment, make_results(experiment), tmp_path)
    names = [name for name, (owner, _) in FIGURES.items() if owner == experiment]
    assert [path.name for path in files] == [
        n + suffix for n in names for suffix in (".png", ".pdf")
    ]
    assert sorted(tmp_path.iterdir()) == sorted(files), "and nothing half written"
    for path in files:
        if path.suffix == ".pdf":
            assert path.read_bytes().startswith(b"%PDF")
            continue
        with Image.open(path) as image:
            assert image.width == 1440, "a page's width at 200 dots per inch"
            assert 400 < image.height < 1900
            ink = (np.asarray(image.convert("L")) < 128).mean()
        assert 0.005 < ink < 0.5


def test_the_same_data_are_the_same_files(tmp_path: Path) -> None:
    written = []
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        files = draw_figures("agnostic", make_results("agnostic"), folder)
        written.append([path.read_bytes() for path in files])
    assert written[0] == written[1]


def test_nothing_is_drawn_of_nothing(tmp_path: Path) -> None:
    assert draw_figures("learning", [], tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "departures"])
def test_figures_show_the_data(name: str) -> None:
    other = draw(name, make_results(FIGURES[name][0], shift=-0.25))
    first, second = pixels(whole(name)), pixels(other)
    assert first.shape == second.shape
    assert (first != second).any(axis=2).sum() > 300


@pytest.mark.parametrize("name", FIGURES)
def test_legends_cover_nothing(name: str) -> None:
    figure = whole(name)
    for _ in range(2):  # as for a file: the layout settles the second time
        figure.draw_without_rendering()
    for legend in legends(figure):
        box = legend.get_window_extent()
        assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)
        page = figure.bbox.padded(1)  # the layout is as exact as that
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1


@pytest.mark.parametrize(
    "name", ["learning", "milestones", "stochastic", "agnostic", "components", "sigma"]
)
def test_every_variant_is_named(name: str) -> None:
    assert {variant.name for variant in EXPERIMENTS[name].variants} <= named(whole(name))


def test_every_value_of_a_setting_is_named() -> None:
    figure = whole("hyperparameters")
    assert {"hal", "hr+her"} <= named(figure)
    shown = [ticks(axes) for axes in figure.axes]
    assert shown == [[f"{value:g}" for value in values] for values in SWEEPS.values()]
    assert ticks(whole("sigma").axes[1]) == ["1", "2", "4", "8", "16"]


def test_axes_tell_online_from_greedy() -> None:
    labels = {name: [axes.get_ylabel() for axes in whole(name).axes] for name in FIGURES}
    assert labels["learning"] == ["online success"] * 2 + ["online subpolicy success"] * 2
    assert labels["hyperparameters"] == ["greedy success"] * 3
    assert labels["sigma"] == ["online success", "greedy success"]
    assert labels["milestones"] == labels["stochastic"] == ["online success"] * 2
    assert labels["components"] == ["online success", "mask accuracy"]
    assert len(set(labels["masks"])) == 6
    assert len(set(labels["filter"])) == 5


def test_the_mask_is_that_of_hal_with_and_without_the_filter() -> None:
    assert named(whole("masks")) == {"hal", "hal-fnf"}
    assert named(whole("filter")) == {"hal"}


def test_milestones_are_in_order_of_depth() -> None:
    (axes,) = whole("agnostic").axes
    shown = [label.replace("\n", "_") for label in ticks(axes)]
    assert shown == list(GridSettings(task="diamond").milestones or ())
    bars = [bar for container in axes.containers for bar in getattr(container, "patches", ())]
    runs = make_results("agnostic")
    mean = np.mean([run.final["coverage/log"] for run in runs if run.variant == "hal"])
    assert bars[0].get_height() == pytest.approx(mean)


@pytest.mark.parametrize("name", FIGURES)
def test_one_seed_of_one_variant_is_enough(name: str) -> None:
    experiment = FIGURES[name][0]
    *others, last = EXPERIMENTS[experiment].variants
    figure = draw(name, make_results(experiment, [last], num_seeds=1))
    figure.draw_without_rendering()
    absent = {other.name for other in others} - {last.name, "hal"}  # as a sweep's line is named
    assert not named(figure) & absent


def test_a_rate_and_its_interval() -> None:
    # t with two degrees of freedom * 0.1 / sqrt(3) = 0.248
    np.testing.assert_allclose(rate_of(np.array([0.8, 0.9, 1.0])), (0.9, 0.652, 1), atol=0.001)
    np.testing.assert_allclose(rate_of(np.array([0.2, 0.1, 0.0])), (0.1, 0, 0.348), atol=0.001)
    np.testing.assert_array_equal(rate_of(np.array([0.7])), (0.7, np.nan, np.nan))


def test_panels_without_data_say_so() -> None:
    rainbow = EXPERIMENTS["learning"].variants[5]
    assert rainbow.method == "rainbow"
    figure = draw("masks", make_results("learning", [rainbow]))
    assert all([text.get_text() for text in axes.texts] == ["no data yet"] for axes in figure.axes)


def test_a_run_may_lack_a_metric_or_all_lines() -> None:
    hal = EXPERIMENTS["learning"].variants[1]
    runs = make_results("learning", [hal], num_seeds=3)
    for line in runs[1].lines:
        line.clear()
        line["steps"] = 5
    runs[2].lines.clear()
    success = [line["episode/success"] for line in runs[0].lines]
    np.testing.assert_allclose(means(draw("learning", runs).axes[0]), success)


def test_the_interval_of_a_distance_is_not_cut_like_a_rate() -> None:
    axes = whole("filter").axes[-1]
    assert axes.get_ylabel() == "margin (distance)"
    (band,) = axes.collections
    heights = np.concatenate([np.asarray(path.vertices)[:, 1] for path in band.get_paths()])
    assert heights.max() > np.nanmax(means(axes)) > 1
    assert axes.get_ylim()[1] < 3.2, "but seen as far as there are values"


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_methods_keep_their_colours_and_variants_differ(experiment: str) -> None:
    for task in EXPERIMENTS[experiment].tasks:
        variants = [v for v in EXPERIMENTS[experiment].variants if v.task == task]
        series = series_of(make_results(experiment, variants), variants)
        for method in {variant.method for variant in variants}:
            pairs = zip(variants, series, strict=True)
            colours = [one.style["color"] for variant, one in pairs if variant.method == method]
            assert colours[0] == COLOURS[method]
            assert len(set(colours)) == len(colours)
        last = series_of(make_results(experiment, variants[-1:]), variants)
        assert [one.style for one in last] == [series[-1].style], "whatever else has data"


def test_seeds_are_counted() -> None:
    titles = [legend.get_title().get_text() for legend in legends(whole("components"))]
    assert titles == ["mean and 95% t-interval over 2 seeds"]
    results = make_results("components")[:-1]
    (legend,) = legends(draw("components", results))
    assert legend.get_title().get_text() == "mean and 95% t-interval over 1 to 2 seeds"
    (legend,) = legends(draw("components", make_results("components", num_seeds=1)))
    assert legend.get_title().get_text() == "one seed"
