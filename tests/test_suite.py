"""The paper's experiments as runs; their tables; many runs on an engine."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hal.config.presets import DEPARTURES, make_config
from hal.config.settings import grid_settings, values_of, with_values
from hal.config.versions import ADDED, FORMAT
from hal.experiments.costs import Costs, time_left
from hal.experiments.results import (
    RunResult,
    averages,
    finals,
    is_current,
    read_results,
    recorded,
    write_results,
)
from hal.experiments.schedule import run_all
from hal.experiments.suite import EXPERIMENTS, digest, milestones_left, specs_of


@pytest.mark.parametrize("preset", ["fast", "paper"])
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_run_has_a_config(experiment: str, preset: str) -> None:
    specs, num_seeds = specs_of(experiment, 5, preset), EXPERIMENTS[experiment].num_seeds
    assert len(specs) == num_seeds * len(EXPERIMENTS[experiment].variants)
    assert all(spec.config.preset == (spec.variant.preset or preset) for spec in specs)
    assert {spec.config.seed for spec in specs} == set(range(num_seeds))
    assert len(specs_of(experiment, 1, preset)) == len(EXPERIMENTS[experiment].variants)
    titles = [spec.title for spec in specs]
    assert len(set(titles)) == len(titles)


def test_a_config_is_one_run_wherever_it_is_asked_for() -> None:
    learning, milestones = (
        {spec.title: spec.folder for spec in specs_of(name)} for name in ("learning", "milestones")
    )
    assert learning["iron hal, seed 3"] == milestones["iron hal, seed 3"]
    folders = {spec.folder for name in EXPERIMENTS for spec in specs_of(name)}
    # on both tasks, but for the filter's percentile, which is swept on Treasure
    alike = {"fast, as in learning": 6, "faithful, as in faithful": 6, "filter at 90%": 3}
    assert len(folders) == 240 + 144 + 35 + 4 - sum(alike.values())


def test_each_departure_is_put_back_once_and_all_of_them_are_faithful() -> None:
    specs = {spec.variant.name: spec.config for spec in specs_of("departures", 1)}
    fast, faithful = (values_of(specs[f"hal, {name}"]) for name in ("fast", "faithful"))
    paper = values_of(make_config("iron", "hal", "paper"))
    changed: list[str] = []
    for name in DEPARTURES:
        values = values_of(specs[f"hal, {name}"])
        own = {path for path in values if values[path] != fast[path]}
        assert own == set(DEPARTURES[name]), "and nothing else"
        assert all(values[path] == faithful[path] for path in own)
        changed += own
    assert len(changed) == len(set(changed))
    assert {path for path in fast if fast[path] != faithful[path]} == {"preset", *changed}
    other = {path for path in changed if faithful[path] != paper[path]}
    assert other == {"replay.batch_windows", "networks.target_every"}, "as many updates, as large"


def test_any_field_makes_another_run() -> None:
    config = make_config("iron")
    assert digest(replace(config, seed=7)) == digest(config)
    assert digest(with_values(config, {"affordances.sigma": 7.5})) != digest(config)


def test_a_field_that_was_added_later_makes_another_run_only_if_it_does_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = make_config("iron")
    now = digest(config)
    monkeypatch.setitem(ADDED, FORMAT, {**ADDED[FORMAT], "affordances.sigma": 7.0})
    as_before, otherwise = digest(config), digest(with_values(config, {"affordances.sigma": 2.0}))
    assert as_before != now, "as if the field had not been there"
    assert otherwise not in (now, as_before)
    monkeypatch.setitem(ADDED, FORMAT, {**ADDED[FORMAT], "affordances.sigma": 5.0})
    assert digest(config) == now


def test_results_are_known_by_their_config() -> None:
    specs = specs_of("learning", 2, steps=7_000)
    done = [
        RunResult(
            spec.config.task,
            spec.variant.name,
            spec.config.seed,
            {"steps": spec.config.steps, "success": 1.0},
            [],
            {},
            digest(spec.config) if spec.config.seed else "",
        )
        for spec in specs
    ]
    known = recorded(specs, done)
    assert known.keys() == {spec.folder for spec in specs if spec.config.seed == 1}
    assert not recorded(specs_of("learning", 2, steps=8_000), done), "another budget"
    for spec, run in zip(specs, done, strict=True):
        assert is_current(run, spec.variant) == (run.seed == 1)
        assert not is_current(replace(run, config="0badc0de"), spec.variant)


def test_removed_milestones_differ_by_seed_and_stay_removed() -> None:
    whole = grid_settings(make_config("iron")).milestones
    assert whole is not None
    for seed in range(5):
        sets = [set(milestones_left("iron", number, seed)) for number in range(6)]
        assert sets[0] == set(whole)
        assert [len(one) for one in sets] == [11, 10, 9, 8, 7, 6]
        assert all(less < more for more, less in pairwise(sets))
        assert all("iron" in one for one in sets)
    assert len({milestones_left("iron", 5, seed) for seed in range(5)}) == 5


def test_twice_as_long_is_twice_the_budget() -> None:
    steps = {spec.variant.name: spec.config.steps for spec in specs_of("milestones", 1)}
    assert steps["hal, 5 removed, twice as long"] == 2 * steps["hal, 5 removed"]


def test_unknown_experiments_and_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown experiment 'learn'; legal: learning, mile"):
        specs_of("learn")
    with pytest.raises(ValueError, match="seeds 0; legal"):
        specs_of("learning", 0)


# --- tables ---------------------------------------------------------------------------------


def result(seed: int, lines: list[dict[str, Any]]) -> RunResult:
    final = {"steps": 99, "episodes": 200, "success": seed / 8, "coverage/log": 1.0}
    return RunResult("iron", "hal, p = 1/50", seed, final, lines, {"cpu_seconds": 1.5}, "0badc0de")


def test_tables_can_be_read_again(tmp_path: Path) -> None:
    first = result(0, [{"steps": 10}, {"steps": 20, "episode/success": 0.123456}])
    second = result(1, [{"steps": 10, "mask/accuracy": 0.5}])
    write_results([first, second], tmp_path)
    rounded = replace(first, lines=[{"steps": 10}, {"steps": 20, "episode/success": 0.1235}])
    assert read_results(tmp_path) == [rounded, second]
    assert read_results(tmp_path / "nothing") == []


def test_what_is_averaged() -> None:
    lines: list[dict[str, Any]] = [
        {"steps": 10},
        {"steps": 20, "episode/success": 1.0, "mask/impact": 0.3},
    ]
    results = [result(2, lines), result(0, lines), replace(result(1, lines), variant="other")]
    name = "hal, p = 1/50"
    assert finals(results, "iron", name).tolist() == [0.0, 0.25]
    assert averages(results, "iron", name, "episode/success").tolist() == [1.0, 1.0]
    assert averages(results, "iron", name, "mask/impact").tolist() == [0.3, 0.3]


# --- many runs ------------------------------------------------------------------------------


class FakeEngine:
    """Ends runs at random; some fail, some once, as their names say."""

    num_slots = 3

    def __init__(self) -> None:
        self.running: list[Path] = []
        self.tries = Counter[str]()
        self.rng = random.Random(0)

    def start(self, folder: Path) -> None:
        self.running.append(folder)
        self.tries[folder.name] += 1
        assert len(self.running) <= self.num_slots

    def ended(self) -> dict[Path, str]:
        ended = [folder for folder in self.running if self.rng.random() < 0.5]
        for folder in ended:
            self.running.remove(folder)
            is_first = self.tries[folder.name] == 1
            if "bad" not in folder.name and not (is_first and "shaky" in folder.name):
                folder.mkdir()
                (folder / "evaluation.json").touch()
        return dict.fromkeys(ended, "last words")

    def stop(self) -> None:
        pass


class Notes:
    def __init__(self) -> None:
        self.ends: list[tuple[str, str, bool]] = []

    def show(self, running: Sequence[Path]) -> None:
        assert len(running) <= 3

    def end(self, folder: Path, error: str, is_final: bool) -> None:
        self.ends.append((folder.name, error, is_final))


def test_failed_runs_are_tried_once_more_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hal.experiments.schedule.POLL_SECONDS", 0)
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "evaluation.json").touch()
    names = ["done", "good-1", "good-2", "good-1", "bad", "good-1", "shaky", "bad", "good-3"]
    engine, notes = FakeEngine(), Notes()
    failed = run_all([tmp_path / name for name in names], engine, notes)
    assert failed == {tmp_path / "bad": "last words"}
    assert engine.tries == {"good-1": 1, "good-2": 1, "good-3": 1, "bad": 2, "shaky": 2}
    assert sorted(notes.ends) == [
        ("bad", "last words", False),
        ("bad", "last words", True),
        ("good-1", "", True),
        ("good-2", "", True),
        ("good-3", "", True),
        ("shaky", "", True),
        ("shaky", "last words", False),
    ]


def test_costs_learn_from_runs(tmp_path: Path) -> None:
    first, second = specs_of("agnostic", 2)[::4]
    assert first.config.method == second.config.method == "hal"
    costs = Costs(tmp_path)
    guess = costs.seconds(second)
    folder = tmp_path / first.folder
    folder.mkdir()
    line = {"steps": first.config.steps, "cpu_seconds": 1000.0}
    (folder / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    costs.learn([first, second])
    assert costs.seconds(second) == guess, "it is not done"
    (folder / "evaluation.json").touch()
    costs.learn([first, second])
    assert costs.seconds(second) == pytest.approx(1030)
    assert costs.seconds_left([first, second]) == pytest.approx([1030])


def test_time_left_is_that_of_the_longest_run_at_least() -> None:
    assert time_left([10.0] * 8, 4) == 20
    assert time_left([10.0, 50.0], 4) == 50
    assert time_left([], 4) == 0
