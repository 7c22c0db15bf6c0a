"""Which subtasks the hierarchical agent chooses: its mask, and how it explores."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hal.agent.choices import Choice
from hal.agent.hal import HierarchicalAgent
from hal.agent.schedules import GREEDY, Exploration
from tests.parts import blank_obs, tiny_agent


def test_a_mask_with_nothing_left_allows_everything() -> None:
    agent, _ = tiny_agent("oracle")
    truth = np.array([[False] * 3, [True, False, False]])
    failed, two = np.zeros((2, 3), np.bool_), np.arange(2)
    states = agent.controller.encoder.layout.blank(2)
    rng = np.random.default_rng(0)
    choice = agent.choose(states, {"affordances": truth}, failed, two, GREEDY, rng)
    assert choice.lanes.tolist() == [0, 1]
    assert choice.beliefs is not None
    assert choice.beliefs.afforded.tolist() == truth.tolist()
    assert choice.beliefs.mask.tolist() == [[True] * 3, [True, False, False]]
    with pytest.raises(ValueError, match="tells its affordances"):
        agent.afforded(states, None)


def test_untrained_heads_prune_only_what_was_never_collected() -> None:
    agent, _ = tiny_agent()
    affordances = agent.affordances
    assert affordances is not None
    affordances.positives.counts[:] = [5, 5, 0]
    affordances.negatives.counts[:] = [0, 0, 9]
    assert not affordances.is_trained.any()
    states = agent.controller.encoder.layout.blank(1)
    assert affordances.afforded(states).tolist() == [[True, True, False]]
    affordances.settings = replace(agent.config.affordances, prune_unachieved=False)
    assert affordances.afforded(states).all()


def shares_of_choices(agent: HierarchicalAgent, explore: Exploration) -> np.ndarray:
    """Return how often each subtask is chosen in the same state."""
    failed, lanes = np.zeros((3_000, 3), np.bool_), np.arange(3_000)
    rng = np.random.default_rng(0)
    choice = agent.choose(blank_obs(3_000), {}, failed, lanes, explore, rng)
    return np.bincount(choice.subtask, minlength=3) / 3_000


@pytest.mark.parametrize(("explore_rare", "expected"), [(False, 1 / 3), (True, 10 / 12)])
def test_exploration_among_all_may_prefer_the_rare(explore_rare: bool, expected: float) -> None:
    agent, _ = tiny_agent(explore_rare=explore_rare)
    agent.replay.events.counts[:] = [9, 9, 0]
    shares = shares_of_choices(agent, Exploration(controller=0.0, meta=1.0, mask=0.0))
    assert shares[2] == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(
    ("rarity", "counts", "expected"),
    [
        ("inverse", [1, 2, 5], [1 / 2, 1 / 3, 1 / 6]),
        ("difference", [99_999, 133_332, 199_998], [3 / 5, 2 / 5, 0]),
        ("none", [1, 5, 9], [1 / 3] * 3),
    ],
)
def test_exploration_within_the_mask_prefers_the_rare(
    rarity: str, counts: list[int], expected: list[float]
) -> None:
    agent, _ = tiny_agent("hr+her", rarity=rarity)
    agent.replay.events.counts[:] = counts
    shares = shares_of_choices(agent, Exploration(controller=0.0, meta=0.0, mask=1.0))
    np.testing.assert_allclose(shares, expected, atol=0.03)


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({}, Exploration(0.275, 0.05, 0.0)),  # by successes
        ({"is_agnostic": True}, Exploration(0.275, 0.125, 0.4)),
        ({"meta_anneal_successes": 0}, Exploration(0.275, 0.125, 0.4)),
        ({"anneal_share": 0.5, "steps": 4_000}, Exploration(0.3875, 0.1625, 0.6)),
    ],
)
def test_act_explores_by_successes_where_these_tell_progress(
    monkeypatch: pytest.MonkeyPatch, overrides: dict[str, Any], expected: Exploration
) -> None:
    agent, env = tiny_agent(controller_anneal_steps=1_000, **overrides)
    agent.num_steps, agent.num_successes = 500, 310
    explored: list[Exploration] = []
    choose = agent.choose

    def spy(*args: Any) -> Choice:
        explored.append(args[4])
        return choose(*args)

    monkeypatch.setattr(agent, "choose", spy)
    agent.act(*env.reset(seed=0))
    (explore,) = explored
    assert explore.controller == pytest.approx(expected.controller)
    assert explore.meta == pytest.approx(expected.meta)
    assert explore.mask == pytest.approx(expected.mask)
