"""Verdicts on a claim's tests: what is missing, what is open, what is told."""

from dataclasses import replace

import numpy as np
import pytest

from hal.experiments.stats import Interval
from hal.experiments.verdicts import place
from tests.test_claims import ONLINE, judged, make_results, verdicts


def test_what_is_missing_outweighs_what_is_refuted() -> None:
    results = make_results({"hr @ iron": {ONLINE: 0.5}})
    left = [run for run in results["learning"] if (run.task, run.variant) != ("treasure", "hr")]
    judgement = judged(2, {"learning": left})
    assert verdicts(judgement) == ["refuted", "not measured"]
    assert judgement.verdict == "not measured"


def test_a_run_without_the_metric_is_missing() -> None:
    results = make_results()
    lines = [{"steps": 1, ONLINE: 0.8}]
    runs = [
        replace(run, lines=lines)
        if (run.task, run.variant, run.seed) == ("iron", "hal", 3)
        else run
        for run in results["learning"]
    ]
    judgement = judged(4, {"learning": runs})
    assert verdicts(judgement) == ["not measured", "confirmed"]


def test_variants_may_have_different_numbers_of_seeds() -> None:
    results = make_results()
    left = [run for run in results["learning"] if run.variant != "hr" or run.seed < 2]
    judgement = judged(2, {"learning": left})
    assert "(5 seeds); hr: 0.097 (2 seeds); hr+her - hr = 0.303" in judgement.parts[0].measured
    assert judgement.verdict == "confirmed"


def test_a_single_seed_among_many_keeps_its_part_open() -> None:
    results = make_results()
    left = [run for run in results["components"] if run.variant != "hal-rai" or run.seed == 0]
    assert verdicts(judged(9, {"components": left})) == ["not confirmed", *3 * ["confirmed"]]


def test_the_numbers_are_told() -> None:
    first, _, nearer, _ = judged(1, make_results()).parts
    assert first.what == "HAL beats HR+H on iron"
    assert first.measured.startswith(
        "mean online success over training, hal: 0.800 (5 seeds); hr+her: 0.400 (5 seeds);"
        " hal - hr+her = 0.400 (0.395 to 0.405)"
    )
    assert "; oracle - 2 hal + hr+her = -0.300 (" in nearer.measured
    best = judged(6, make_results()).parts[2]
    assert best.what == "some set reaches 95% with hal, 5 removed, twice as long"
    assert "best 0.984, 5 of 5 seeds reach 95%, 0 stay below 85%; 200 episodes" in best.measured
    (impact, _) = judged(4, make_results()).parts
    assert "; hal = 0.600 (0.596 to 0.604)" in impact.measured
    below = judged(7, make_results()).parts[1]
    assert "; (hr+her, p = 1/100) - 0.6 hr+her = -0.120 (" in below.measured


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.1, 0.2, "confirmed"),
        (0.0, 0.2, "not confirmed"),
        (-0.1, 0.1, "not confirmed"),
        (0.1, 0.6, "not confirmed"),
        (-0.1, 0.6, "not confirmed"),
        (-0.2, 0.0, "not confirmed"),
        (-0.2, -0.1, "refuted"),
        (0.6, 0.7, "refuted"),
        (-np.inf, np.inf, "not confirmed"),
    ],
)
def test_an_interval_inside_is_confirmed_and_outside_refuted(
    low: float, high: float, verdict: str
) -> None:
    assert place(Interval(0.0, low, high), (0.0, 0.5)) == verdict
