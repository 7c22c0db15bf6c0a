"""What each departure from the paper changes, from results made up so that it is known."""

import matplotlib as mpl
import numpy as np
import pytest

from hal.experiments.departures import COLUMNS, Effect, effect_row, effects
from hal.experiments.figures import draw_departures
from hal.experiments.plot import STYLE
from hal.experiments.results import Results, RunResult
from hal.experiments.suite import EXPERIMENTS
from hal.experiments.summary import departures_told, effects_tables

WORSE, BETTER = "priorities", "double Q"
LEVELS = {f"hal, {WORSE}": 0.3, f"hal, {BETTER}": 0.97}


def make_results(num_seeds: int = 3) -> Results:
    """Return runs of every variant: one worse, one better, all others as HAL at `fast`."""
    results = []
    for variant in EXPERIMENTS["departures"].variants:
        for seed in range(num_seeds):
            level = LEVELS.get(variant.name, 0.9) + 0.01 * (seed - 1)
            online = [level - 0.4, level - 0.2, level]
            lines = [
                {"steps": 100 * (i + 1), "episode/success": value, "mask/accuracy": 0.9}
                for i, value in enumerate(online)
            ]
            final = {"success": level, "episodes": 200, "steps": 300}
            results.append(RunResult(variant.task, variant.name, seed, final, lines, {}))
    return results


def of(name: str, results: Results) -> Effect:
    (effect,) = (effect for effect in effects(results, "iron") if effect.name == name)
    return effect


def test_an_effect_is_a_difference_with_its_interval() -> None:
    worse, better, other = (of(name, make_results()) for name in (WORSE, BETTER, "step penalty"))
    # Welch: t with four degrees of freedom * 0.01 * sqrt(2 / 3) = 0.0227
    for interval in (worse.greedy, worse.online):
        found = (interval.estimate, interval.low, interval.high)
        assert found == pytest.approx((-0.6, -0.6227, -0.5773), abs=1e-4)
    assert (worse.matters, worse.is_worse) == (True, True)
    assert (better.matters, better.is_worse) == (True, False)
    assert not other.matters
    assert worse.accuracy.estimate == 0


def test_steps_are_those_of_the_first_line_that_is_high_enough() -> None:
    assert of(BETTER, make_results()).steps.tolist() == [300, 300, 300]
    assert not np.isfinite(of(WORSE, make_results()).steps).any()


def test_rows_say_what_was_measured() -> None:
    rows = {name: effect_row(of(name, make_results())) for name in (WORSE, BETTER)}
    assert all(len(row) == len(COLUMNS) for row in rows.values())
    assert rows[WORSE][1] == "-0.600 (-0.623 to -0.577)"
    assert rows[WORSE][-2:] == ["never (0 of 3)", "yes, worse"]
    assert rows[BETTER][-2:] == ["300 (3 of 3)", "yes, better"]
    one_seed = effect_row(of(WORSE, make_results(num_seeds=1)))
    assert one_seed[1] == "-0.600"
    assert one_seed[-1] == "no", "one seed shows nothing"


def test_without_hal_itself_there_is_nothing_to_compare_with() -> None:
    results = [run for run in make_results() if run.variant != "hal, fast"]
    assert effects(results, "iron") == []


def test_the_figure_has_a_point_for_each() -> None:
    with mpl.rc_context(STYLE):
        figure = draw_departures(make_results())
    for axes, task in zip(figure.axes, EXPERIMENTS["departures"].tasks, strict=True):
        found = effects(make_results(), task)
        assert [label.get_text() for label in axes.get_yticklabels()] == [e.name for e in found]
        points = [container[0].get_xdata()[0] for container in axes.containers]
        np.testing.assert_allclose(points, [effect.online.estimate for effect in found])


def test_the_report_tells_which_matter() -> None:
    results = make_results()
    told = departures_told({"departures": results})
    assert len(told) == 2
    assert all(f"worse with {WORSE}; better with {BETTER};" in text for text in told)
    assert departures_told({}) == []
    assert effects_tables(results).count("yes, worse") == 2
