"""How subtasks are chosen, and how much of that is random as a run goes on."""

from typing import Any

import numpy as np
import pytest

from hal.agent.choices import (
    Beliefs,
    choose,
    epsilon2_choice,
    greedy_choice,
    rarity,
    weighted_choice,
)
from hal.agent.schedules import (
    GREEDY,
    Exploration,
    Progress,
    between,
    exploration,
    goal_epsilon,
    importance,
    is_due,
)
from hal.config.presets import make_config
from hal.config.settings import Config, ExplorationSettings, OptionSettings, with_values

WITHIN_MASK = Exploration(controller=0.0, meta=0.0, mask=1.0)
AMONG_ALL = Exploration(controller=0.0, meta=1.0, mask=0.0)


# --- choices --------------------------------------------------------------------------------


def test_greedy_choice_stays_within_the_mask_and_avoids_what_failed() -> None:
    values = np.array([[3.0, 2.0, 1.0]] * 4)
    mask = np.array([[1, 1, 1], [0, 1, 1], [1, 1, 0], [0, 1, 0]], dtype=np.bool_)
    avoided = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=np.bool_)
    # The fourth has tried all that its mask allows.
    assert greedy_choice(values, mask, avoided).tolist() == [0, 1, 1, 0]


def test_weighted_choice_has_the_weights_odds() -> None:
    rng = np.random.default_rng(0)
    drawn = weighted_choice(np.tile([0.0, 1.0, 3.0, 0.0], (20_000, 1)), rng)
    shares = np.bincount(drawn, minlength=4) / drawn.size
    np.testing.assert_allclose(shares, [0, 0.25, 0.75, 0], atol=0.015)


def test_epsilon2_shares() -> None:
    rng = np.random.default_rng(0)
    size = 40_000
    greedy, within, anything = (np.full(size, kind) for kind in range(3))
    explore = Exploration(controller=0.0, meta=0.2, mask=0.5)
    drawn = epsilon2_choice(greedy, within, anything, explore, rng)
    shares = np.bincount(drawn, minlength=3) / size
    np.testing.assert_allclose(shares, [0.3, 0.5, 0.2], atol=0.01)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("inverse", [1 / 2, 1 / 3, 1 / 6]), ("difference", [3 / 5, 2 / 5, 0]), ("none", [1 / 3] * 3)],
)
def test_rare_milestones_are_preferred(kind: str, expected: list[float]) -> None:
    counts = {"inverse": [1, 2, 5], "difference": [99_999, 133_332, 199_998]}.get(kind, [1, 5, 9])
    weights = rarity(np.array(counts), kind)
    np.testing.assert_allclose(weights / weights.sum(), expected, atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "is_true", "explore", "expected"),
    [
        # The best of the mask has failed; 0 is better but pruned.
        ({}, False, GREEDY, [0, 0, 1, 0]),
        ({"avoid_failed": False}, False, GREEDY, [0, 1, 0, 0]),
        ({}, False, WITHIN_MASK, [0, 0.75, 0.25, 0]),
        ({}, False, AMONG_ALL, [0.25] * 4),
        ({"explore_rare": True}, False, AMONG_ALL, [0.1, 0.3, 0.1, 0.5]),
        ({}, True, AMONG_ALL, [0, 0.75, 0.25, 0]),
        # Without a task the greedy choice is random, but for what has failed.
        ({"is_agnostic": True}, False, GREEDY, [0, 0, 1, 0]),
        ({"is_agnostic": True, "avoid_failed": False}, False, GREEDY, [0, 0.75, 0.25, 0]),
    ],
)
def test_choices_have_the_shares_that_settings_ask_for(
    settings: dict[str, Any], is_true: bool, explore: Exploration, expected: list[float]
) -> None:
    size = 20_000
    afforded = np.tile([False, True, True, False], (size, 1))
    beliefs = Beliefs.of(afforded, np.tile([4.0, 3.0, 2.0, 1.0], (size, 1)))
    failed = np.tile([False, True, False, False], (size, 1))
    preference = np.array([1.0, 3.0, 1.0, 5.0])
    options, rng = OptionSettings(**settings), np.random.default_rng(0)
    chosen = choose(beliefs, failed, preference, options, is_true, explore, rng)
    shares = np.bincount(chosen, minlength=4) / size
    np.testing.assert_allclose(shares, expected, atol=0.015)


# --- schedules ------------------------------------------------------------------------------


def shares_of(config: Config, num_steps: int, num_successes: int) -> Exploration:
    """Return the shares of random choices as an agent has them (see `test_agent.py`)."""
    successes = num_successes if config.anneals_by_success else None
    return exploration(config.exploration, Progress(num_steps, config.steps), successes)


def test_choices_get_greedier_by_successes_or_by_steps() -> None:
    by_successes = make_config("stick", controller_anneal_steps=1_000)
    assert shares_of(by_successes, 10**6, 10).mask == pytest.approx(0.8)
    assert shares_of(by_successes, 0, 310).mask == pytest.approx(0.0)
    by_steps = with_values(by_successes, {"exploration.meta_anneal_successes": 0})
    assert shares_of(by_steps, 500, 0).mask == pytest.approx(0.4)
    assert shares_of(by_steps, 1_000, 0) == shares_of(by_successes, 1_000, 310)


def test_without_a_task_choices_do_not_get_greedier_by_successes() -> None:
    config = make_config("stick", "oracle", is_agnostic=True)
    assert shares_of(config, 10**6, 0).meta == pytest.approx(0.05)


def test_actions_stay_random_towards_milestones_that_are_hardly_known() -> None:
    events = np.array([0, 50, 100, 900])

    def epsilon(config: Config, num_steps: int) -> np.ndarray:
        return goal_epsilon(config.exploration, Progress(num_steps, config.steps), events)

    config = make_config("stick", "oracle", goal_anneal_events=100, controller_anneal_steps=1_000)
    assert epsilon(config, 2_000) == pytest.approx([0.5, 0.275, 0.05, 0.05])
    assert epsilon(config, 500) == pytest.approx([0.5, 0.275, 0.275, 0.275])
    paper = make_config("stick", "oracle", "paper")
    assert epsilon(paper, paper.steps) == pytest.approx([0.05] * 4), "time alone"
    assert epsilon(make_config("stick"), 10**7) == pytest.approx([0.05] * 4)


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0.5), (0.5, 0.3), (1.0, 0.1), (1.7, 0.1)])
def test_what_lies_between_two_values_stops_at_the_second(share: float, expected: float) -> None:
    assert between((0.5, 0.1), share) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("every", "expected"),
    [(1, [0, 1, 2, 3, 4, 5]), (16, [0, 1, 2, 3, 4, 5]), (40, [0, 2, 4]), (48, [0, 3])],
)
def test_steps_are_due_to_a_step_of_all_lanes(every: int, expected: list[int]) -> None:
    assert [step for step in range(6) if is_due(every, 16, step)] == expected


@pytest.mark.parametrize(
    ("settings", "steps", "expected"),
    [
        ({}, 50, 0.8),
        ({}, 100, 1.0),
        ({"anneal_share": 0.5}, 25, 0.8),
        ({"anneal_share": 0.5}, 60, 1.0),
    ],
)
def test_importance_rises_as_long_as_exploration_falls(
    settings: dict[str, Any], steps: int, expected: float
) -> None:
    beta = importance((0.6, 1.0), ExplorationSettings(**settings), Progress(steps, 100))
    assert beta == pytest.approx(expected)
