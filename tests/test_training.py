"""Whole runs in memory: every method trains, the same seed gives the same, and HAL learns."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from hal.agent.hal import HierarchicalAgent
from hal.agent.schedules import GREEDY, Progress, exploration
from hal.config.presets import METHODS, make_config
from hal.config.settings import Config, grid_settings, with_values
from hal.envs.grid.vector import GridVectorEnv
from hal.runs.evaluation import evaluate
from hal.runs.training import train
from tests.parts import TINY, blank_obs


def short_episodes(config: Config, num_episodes: int, max_steps: int) -> GridVectorEnv:
    options = replace(grid_settings(config), max_steps=max_steps)
    return GridVectorEnv(num_envs=num_episodes, **asdict(options))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_and_same_seed_same_metrics(method: str) -> None:
    config = make_config("stick", method, **TINY)
    logs: list[list[dict[str, Any]]] = []
    for num_episodes in (2, 5):
        log: list[dict[str, Any]] = []

        def report(line: dict[str, Any], agent: Any) -> None:
            evaluate(agent, short_episodes(config, num_episodes, 20))  # noqa: B023 (used at once)
            log.append(_without_times(line))  # noqa: B023

        agent = train(config, report, report_every=1_000).agent
        logs.append(log)
    assert len(logs[0]) == 3
    assert logs[0] == logs[1]
    other: list[dict[str, Any]] = []
    train(replace(config, seed=1), lambda line, _: other.append(line), report_every=1_000)
    assert [_without_times(line) for line in other] != logs[0]
    assert np.isfinite(logs[0][-1]["loss/controller"])
    if isinstance(agent, HierarchicalAgent):
        assert np.isfinite(logs[0][-1]["subpolicy/success"])
    if config.affordances.mask == "learned":
        assert np.isfinite(logs[0][-1]["loss/classifier"])
        assert ("filter/flagged" in logs[0][-1]) == (config.affordances.filter != "none")
        assert ("loss/contrast" in logs[0][-1]) == config.affordances.use_contrast


def test_without_a_task_subtasks_are_random_within_the_mask() -> None:
    config = make_config("stick", "oracle", **TINY, is_agnostic=True, rarity="none")
    lines: list[dict[str, Any]] = []
    agent = train(config, lambda line, _: lines.append(line), report_every=1_000).agent
    assert isinstance(agent, HierarchicalAgent)
    assert "loss/meta" not in lines[-1]
    assert np.isfinite(lines[-1]["loss/controller"])
    successes = 0 if config.anneals_by_success else None
    explore = exploration(config.exploration, Progress(10**6, config.steps), successes)
    assert explore.meta == pytest.approx(0.05), "not by successes"
    truth, lanes = np.tile([True, False, True], (3_000, 1)), np.arange(3_000)
    for failed, expected in (([], [0.5, 0, 0.5]), ([0], [0, 0, 1]), ([0, 2], [0.5, 0, 0.5])):
        has_failed = np.zeros((3_000, 3), np.bool_)
        has_failed[:, failed] = True
        rng = np.random.default_rng(0)
        choice = agent.choose(
            blank_obs(3_000), {"affordances": truth}, has_failed, lanes, GREEDY, rng
        )
        shares = np.bincount(choice.subtask, minlength=3) / 3_000
        np.testing.assert_allclose(shares, expected, atol=0.03)


def test_milestone_sets_and_disappearance_reach_the_agent() -> None:
    config = make_config("stick", "hal", **TINY, milestones=("log", "stick"), disappear_rate=0.2)
    lines: list[dict[str, Any]] = []
    agent = train(config, lambda line, _: lines.append(line), report_every=1_000).agent
    assert agent.milestones == ("log", "stick")
    names = {name for line in lines for name in line}
    assert {"episode/coverage/log", "episode/coverage/stick"} <= names
    assert "episode/coverage/wood" not in names
    assert evaluate(agent, short_episodes(config, 5, 30)).covered.shape == (5, 2)


def _without_times(line: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in line.items() if not k.endswith("second") and not k.endswith("seconds")}


def test_hal_learns_a_two_milestone_chain() -> None:
    config = make_config("wood", "hal", steps=60_000, num_lanes=64, replay_steps=60_000, seed=3)
    config = with_values(
        config,
        {
            "replay.warmup_steps": 2_000,
            "exploration.controller_anneal_steps": 20_000,
            "controller.every": 64,
            "networks.target_every": 64,
            "meta.every": 64,
            "affordances.every": 128,
        },
    )
    log: list[dict[str, Any]] = []
    agent = train(config, lambda line, _: log.append(line), report_every=20_000)
    assert evaluate(agent, short_episodes(config, 100, 500)).success.mean() >= 0.9
    assert log[-1]["mask/accuracy"] >= 0.8
