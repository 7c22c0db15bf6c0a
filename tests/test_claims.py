"""Verdicts on the paper's claims, from results made up so that the verdict is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hal.experiments.claims import CLAIMS, DEEP, Judgement, judge, verdict_of
from hal.experiments.results import CURVE_METRICS, Results, RunResult, finals
from hal.experiments.suite import EXPERIMENTS
from hal.experiments.verdicts import Comparison

NUM_SEEDS = 5
NUMBERS = range(1, 12)
SUCCESS, ONLINE, COVERAGE = "success", "episode/success", "coverage/"
Changes = dict[str, dict[str, Any]]  # variant, or variant @ task -> metric -> mean or all values

# What confirms every claim; a variant that is not named has all of HAL's.
HAL = {
    SUCCESS: 0.98,
    ONLINE: 0.8,
    "subpolicy/success": 0.7,
    "mask/impact": 0.6,
    "mask/overpruned": 0.01,
    COVERAGE: 0.6,
}
HER = {SUCCESS: 0.7, ONLINE: 0.4, "subpolicy/success": 0.3, COVERAGE: 0.3}
POOR = {SUCCESS: 0.5}
TRUTH: Changes = {
    "oracle": {ONLINE: 0.9, "subpolicy/success": 0.8},
    "hal-fnf": {SUCCESS: 0.5, "mask/overpruned": 0.1},
    "hr+her": HER,
    "hr": HER | {ONLINE: 0.1},
    "hr+her, 1M steps": HER,
    "hal, 4 removed": {ONLINE: 0.6},
    "hr+her, 5 removed, twice as long": HER,
    "hr+her, p = 1/100": {SUCCESS: 0.3},
    "hr+her, p = 1/50": HER,
    "hal-rt": POOR,
    "hal-cl": POOR,
    "hal, filter_percentile = 0.5": POOR,
    "hal, threshold = 0.1": POOR,
    "hal, sigma = 2": {ONLINE: 0.9},
}


def make_run(task: str, variant: str, seed: int, changes: Changes) -> RunResult:
    metrics: dict[str, Any] = {**HAL}
    for name in (variant, f"{variant} @ {task}"):
        metrics |= TRUTH.get(name, {}) | changes.get(name, {})
    values = {
        name: value[seed] if isinstance(value, list) else value + 0.002 * (seed - NUM_SEEDS // 2)
        for name, value in metrics.items()
    }
    final = {SUCCESS: values[SUCCESS], "episodes": 200} | {
        COVERAGE + name: values[COVERAGE] for name in DEEP
    }
    online = {name: value for name, value in values.items() if name in CURVE_METRICS}
    lines = [
        {"steps": 10 + i, **{name: value + 0.05 * i for name, value in online.items()}}
        for i in (-1, 0, 1)
    ]
    return RunResult(task, variant, seed, final, lines, {})


def make_results(changes: Changes | None = None, num_seeds: int = NUM_SEEDS) -> dict[str, Results]:
    return {
        name: [
            make_run(variant.task, variant.name, seed, changes or {})
            for variant in experiment.variants
            for seed in range(num_seeds)
        ]
        for name, experiment in EXPERIMENTS.items()
    }


def judged(number: int, results: dict[str, Results]) -> Judgement:
    (judgement,) = (one for one in judge(results) if one.claim.number == number)
    return judgement


def verdicts(judgement: Judgement) -> list[str]:
    return [part.verdict for part in judgement.parts]


def test_every_claim_has_its_number_and_asks_for_what_its_experiment_runs() -> None:
    assert [claim.number for claim in CLAIMS] == list(NUMBERS)
    for claim in CLAIMS:
        runs = {(run.task, run.name) for run in EXPERIMENTS[claim.experiment].variants}
        for test in claim.tests:
            assert {(test.task, variant) for variant in test.variants} <= runs
        whats = [test.what for test in claim.tests]
        assert len(set(whats)) == len(whats)


@pytest.mark.parametrize("number", NUMBERS)
def test_confirmed(number: int) -> None:
    judgement = judged(number, make_results())
    assert judgement.verdict == "confirmed", judgement.parts
    assert set(verdicts(judgement)) == {"confirmed"}
    for part in judgement.parts:
        assert f"{NUM_SEEDS} seeds" in part.measured
        assert " to " in part.measured


REFUTING: list[tuple[int, list[int], Changes]] = [
    (1, [0], {"hal @ iron": {ONLINE: 0.39}, "oracle @ iron": {ONLINE: 0.37}}),
    (1, [1], {"hal @ treasure": {ONLINE: 0.39}, "oracle @ treasure": {ONLINE: 0.37}}),
    (1, [2], {"hal @ iron": {ONLINE: 0.6}}),
    (1, [3], {"oracle @ treasure": {ONLINE: 1.3}}),
    (2, [0], {"hr @ iron": {ONLINE: 0.5}}),
    (2, [1], {"hr @ treasure": {ONLINE: 0.5}}),
    (3, [0], {"hal @ iron": {"mask/overpruned": 0.2}}),
    (3, [1], {"hal-fnf @ treasure": {"mask/overpruned": 0.002}}),
    (3, [2, 3], {"hal-fnf @ treasure": {SUCCESS: 0.99}}),
    (3, [3], {"hal-fnf @ treasure": {SUCCESS: 0.96}}),
    (4, [0], {"hal @ iron": {"mask/impact": 0.45}}),
    (4, [1], {"hal @ treasure": {"mask/impact": 0.75}}),
    (5, [0, 4], {"hr+her @ iron": {"subpolicy/success": 0.9}}),
    (5, [7], {"hr @ treasure": {"subpolicy/success": 0.75}}),
    (6, [0], {"hal, 1 removed": {SUCCESS: 0.85}}),
    (6, [1], {"hal, 4 removed": {ONLINE: 0.35}}),
    (6, [2], {"hal, 5 removed, twice as long": {SUCCESS: 0.8}}),
    (6, [3], {"hr+her, 5 removed, twice as long": {SUCCESS: [0, 0.2, 0.95, 0.1, 0.3]}}),
    (7, [0], {"hal, p = 1/100": {SUCCESS: 0.85}}),
    (7, [1], {"hr+her, p = 1/100": {SUCCESS: 0.5}}),
    (7, [2], {"hal, p = 1/50": {SUCCESS: 0.55}}),
    (8, [0], {"hal": {COVERAGE: 0.2}}),
    (8, [1], {"hal, 1M steps": {COVERAGE: 0.2}}),
    (9, [0], {"hal-rai": {SUCCESS: [1, 1, 1, 1, 0.845]}}),
    (9, [1], {"hal-rt": {SUCCESS: [0.95, 1, 1, 1, 1]}}),
    (9, [2, 3], {"hal-cl": {SUCCESS: 0.98}, "hal-fnf": {SUCCESS: 0.98}}),
    (10, [0], {"hal, sigma = 14": {SUCCESS: [1, 1, 0.8, 1, 1]}}),
    (10, [1], {"hal, filter_percentile = 0.5": {SUCCESS: 0.98}}),
    (10, [2], {"hal, filter_percentile = 0.7": {SUCCESS: 0.8}}),
    (10, [3, 4], {f"hal, threshold = {x}": {SUCCESS: y} for x, y in ((0.1, 1), (0.9, 0))}),
    (11, [4], {"hal, sigma = 16": {ONLINE: 0.39}}),
    (11, [5], {"hal, sigma = 1": {ONLINE: 0.92}}),
]


@pytest.mark.parametrize(("number", "refuted", "changes"), REFUTING)
def test_refuted_where_the_opposite_is_measured(
    number: int, refuted: list[int], changes: Changes
) -> None:
    judgement = judged(number, make_results(changes))
    assert judgement.verdict == "refuted"
    found = [i for i, verdict in enumerate(verdicts(judgement)) if verdict == "refuted"]
    assert found == refuted, judgement.parts


def test_every_claim_is_refuted_by_some_results() -> None:
    assert {number for number, _, _ in REFUTING} == set(NUMBERS)


UNCLEAR = [0.0, 1.0, 0.4, 0.9, 0.7]


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (1, {"hal @ treasure": {ONLINE: UNCLEAR}}),
        (2, {"hr": {ONLINE: UNCLEAR}}),
        (3, {"hal-fnf @ treasure": {SUCCESS: UNCLEAR}}),
        (4, {"hal": {"mask/impact": UNCLEAR}}),
        (4, {"hal": {"mask/impact": 0.5}}),
        (5, {"hal @ iron": {"subpolicy/success": UNCLEAR}}),
        (6, {"hal, 1 removed": {SUCCESS: UNCLEAR}}),
        (6, {"hal, 4 removed": {ONLINE: 0.4}}),
        (7, {"hr+her, p = 1/100": {SUCCESS: 0.42}}),
        (7, {"hal, p = 1/50": {SUCCESS: 0.6}}),
        (8, {"hr+her": {COVERAGE: UNCLEAR}}),
        (11, {"hal, sigma = 4": {ONLINE: 0.9}}),
        (9, {"hal-rai": {SUCCESS: [1, 1, 1, 1, 0.945]}}),
        (9, {"hal-cl": {SUCCESS: [1, 1, 1, 1, 0.85]}}),
        (10, {"hal, sigma = 14": {SUCCESS: 0.9}}),
        (11, {"hr+her, p = 1/50": {ONLINE: UNCLEAR}}),
    ],
)
def test_not_confirmed_where_it_is_near_the_edge(number: int, changes: Changes) -> None:
    judgement = judged(number, make_results(changes))
    assert judgement.verdict == "not confirmed"
    assert set(verdicts(judgement)) <= {"confirmed", "not confirmed"}


@pytest.mark.parametrize("number", NUMBERS)
def test_one_seed_decides_nothing(number: int) -> None:
    refuting: Changes = {}
    for _, _, changes in (row for row in REFUTING if row[0] == number):
        refuting |= changes
    for changes in ({}, refuting):
        judgement = judged(number, make_results(changes, num_seeds=1))
        assert judgement.verdict == "not confirmed"
        assert set(verdicts(judgement)) == {"not confirmed"}
        assert all("1 seed" in part.measured for part in judgement.parts)


@pytest.mark.parametrize("number", [6, 9])
def test_few_episodes_or_seeds_decide_nothing(number: int) -> None:
    results = make_results()
    for runs in results.values():
        runs[:] = [replace(run, final=run.final | {"episodes": 199}) for run in runs]
    assert judged(number, results).verdict == "not confirmed"
    assert judged(9, make_results(num_seeds=4)).verdict == "not confirmed"


@pytest.mark.parametrize("number", NUMBERS)
def test_not_measured_without_any_one_variant(number: int) -> None:
    results = make_results()
    claim = CLAIMS[number - 1]
    needed = {(test.task, variant) for test in claim.tests for variant in test.variants}
    for task, variant in needed:
        left = [
            run for run in results[claim.experiment] if (run.task, run.variant) != (task, variant)
        ]
        judgement = judged(number, {claim.experiment: left})
        assert judgement.verdict == "not measured"
        for test, part in zip(claim.tests, judgement.parts, strict=True):
            if test.task == task and variant in test.variants:
                assert part.verdict == "not measured"
                assert part.measured == f"missing on {task}: {variant}"
            else:
                assert part.verdict == "confirmed"


@pytest.mark.parametrize("results", [{}, {name: [] for name in EXPERIMENTS}])
def test_nothing_is_measured_without_results(results: dict[str, Results]) -> None:
    judgements = judge(results)
    assert [judgement.claim for judgement in judgements] == list(CLAIMS)
    assert {judgement.verdict for judgement in judgements} == {"not measured"}


def test_deep_milestones_count_alike() -> None:
    results = make_results()["agnostic"]
    (claim,) = (claim for claim in CLAIMS if claim.experiment == "agnostic")
    test, _ = claim.tests
    assert isinstance(test, Comparison)
    shares = np.linspace(0, 1, len(DEEP))
    final = {f"{COVERAGE}{name}": share for name, share in zip(DEEP, shares, strict=True)}
    results = [replace(run, final=run.final | final | {"coverage/log": 1.0}) for run in results]
    assert test.measure.values(results, "diamond", "hal") == pytest.approx([0.5] * NUM_SEEDS)
    assert finals(results, "diamond", "hal", "coverage/coal") == pytest.approx([0.4] * NUM_SEEDS)


def test_some_claims_are_judged_again_by_the_papers_algorithm() -> None:
    results, good, poor = make_results(), {ONLINE: 0.97}, {ONLINE: 0.2}
    changes = {"hal": good, "hal-rai": good, "hal-fnf": good, "hal-cl": poor}
    results["faithful"] = make_results(changes)["faithful"]
    again = {one.claim.number: one for one in judge(results) if one.again}
    assert set(again) == {3, 4, 9}
    assert {number: verdict_of(one.again) for number, one in again.items()} == {
        3: "refuted",
        4: "confirmed",
        9: "refuted",
    }
    assert {one.verdict for one in again.values()} == {"confirmed"}
    assert {verdict_of(one.again) for one in judge({}) if one.again} == {"not measured"}
