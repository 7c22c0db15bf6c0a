"""A trained agent at play: one lane or many, alike; and the agents that come with the package."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
import torch

import hal
from hal.agent.hal import HierarchicalAgent
from hal.agent.options import NONE
from hal.config.settings import grid_settings
from hal.runs.checkpoint import PRETRAINED
from hal.runs.policy import Policy
from hal.viewer.watch import env_of, episode

TINY: dict[str, Any] = {
    "num_lanes": 16,
    "steps": 3_000,
    "warmup_steps": 500,
    "replay_steps": 4_000,
    "update_every": 32,
    "meta_every": 32,
    "context_every": 32,
    "target_every": 32,
    "horizon": 100,
    "max_option_steps": 7,
}


def trained(method: str = "hal") -> Policy:
    return hal.train(hal.make_config("stick", method, **TINY))


def test_playing_takes_one_thread_as_training_does() -> None:
    torch.set_num_threads(2)
    hal.load_pretrained("treasure")
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize("method", ["hal", "oracle", "rainbow"])
def test_one_lane_plays_as_it_does_among_many(method: str) -> None:
    policy = trained(method)
    options = replace(grid_settings(policy.config), max_steps=80)
    episodes = hal.evaluate(policy, hal.GridVectorEnv(num_envs=4, **asdict(options)), seed=50)
    env = hal.GridEnv(**asdict(options))
    for lane in range(4):
        obs, info = env.reset(seed=50 + lane)
        policy.reset()
        covered, length, is_over = info["milestones"], 0, False
        while not is_over:
            obs, _, terminated, truncated, info = env.step(int(policy.act(obs, info)))
            covered, length = covered | info["milestones"], length + 1
            is_over = terminated or truncated
        assert length == episodes.length[lane]
        assert terminated == episodes.success[lane]
        np.testing.assert_array_equal(covered, episodes.covered[lane])


def test_lanes_whose_episode_ended_begin_anew() -> None:
    policy = trained()
    lanes = hal.GridVectorEnv("stick", num_envs=6)
    obs, info = lanes.reset(seed=1)
    for _ in range(3):
        policy.act(obs, info)
    assert policy.options is not None
    policy.options.failed[:] = True
    ended = np.array([True, False] * 3)
    policy.reset(ended)
    assert [subtask is None for subtask in policy.subtasks] == ended.tolist()
    assert policy.options.failed.any(axis=1).tolist() == (~ended).tolist()
    policy.act(obs, info)
    assert policy.options.steps.tolist() == [0, 3] * 3


def test_what_an_agent_cannot_be_evaluated_in_is_told() -> None:
    policy = trained()
    env: Any
    for env, message in (
        (hal.GridEnv("stick"), "GridEnv has no lanes"),
        (hal.GridVectorEnv("stick", 2, autoreset_mode="SameStep"), "autoreset_mode"),
        (
            hal.GridVectorEnv("wood", 2),
            "milestones log, wood; legal: the agent's",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            hal.evaluate(policy, env)


def test_a_subtask_lasts_until_a_milestone_or_a_timeout() -> None:
    policy = trained()
    env = env_of(policy)
    obs, info = env.reset(seed=3)
    assert policy.subtasks == [None]
    seen = []
    for _ in range(8):
        policy.act(obs, info)
        seen.append(policy.subtasks[0])
    assert set(seen[:7]) == {seen[0]}
    assert seen[7] != seen[0], "what timed out is not tried again at once"
    collected = {**info, "milestones": np.ones_like(info["milestones"])}
    policy.act(obs, collected)
    assert policy.subtasks[0] == seen[0], "a milestone makes everything possible again"
    policy.act(obs)
    assert policy.subtasks[0] == seen[0], "without info it is the best of the moment"


@pytest.mark.parametrize("method", ["hal", "rainbow"])
def test_decisions_tell_which_subtasks_begin(method: str) -> None:
    policy = trained(method)
    obs, info = hal.GridVectorEnv("stick", num_envs=5).reset(seed=1)
    active = np.array([0, 2, 4])
    first = policy.decide(active, obs, info)
    assert first.actions.shape == (3,)
    assert first.choice.lanes.tolist() == [0, 2, 4]
    assert policy.options is not None
    np.testing.assert_array_equal(first.choice.subtask, policy.options.subtask[active])
    assert (policy.options.subtask[[1, 3]] == NONE).all(), "nobody asked"
    collected = np.zeros_like(info["milestones"])
    collected[2, 1] = True
    second = policy.decide(active, obs, {**info, "milestones": collected})
    assert second.choice.lanes.tolist() == [2]
    if method == "rainbow":
        assert first.choice.beliefs is second.choice.beliefs is None
    else:
        assert first.choice.beliefs is not None
        assert second.choice.beliefs is not None
        assert first.choice.beliefs.values.shape == (3, 3)
        assert second.choice.beliefs.mask.shape == (1, 3)


def test_beliefs_have_the_shape_of_what_was_asked() -> None:
    policy = trained()
    assert isinstance(policy.agent, HierarchicalAgent)
    lanes = hal.GridVectorEnv("stick", num_envs=5)
    obs, info = lanes.reset(seed=1)
    one = {name: values[2] for name, values in obs.items()}
    values, mask = policy.q_subtasks(obs), policy.affordances(obs)
    assert values.shape == mask.shape == (5, 3)
    assert mask.dtype == np.bool_
    np.testing.assert_allclose(policy.q_subtasks(one), values[2], rtol=1e-5)
    np.testing.assert_array_equal(policy.affordances(one), mask[2])
    assert policy.agent.affordances is not None
    np.testing.assert_array_equal(mask, policy.agent.affordances.afforded(obs))
    oracle = trained("oracle")
    np.testing.assert_array_equal(oracle.affordances(obs, info), info["affordances"])
    with pytest.raises(ValueError, match="the oracle needs"):
        oracle.affordances(obs)
    with pytest.raises(ValueError, match="'rainbow' has no subtasks"):
        trained("rainbow").q_subtasks(obs)


@pytest.mark.parametrize("task", ["treasure", "iron"])
def test_the_agents_of_the_package_are_small_and_good(task: str) -> None:
    files = list((PRETRAINED / task).iterdir())
    assert sum(file.stat().st_size for file in files) < 1_000_000
    policy = hal.load_pretrained(task)
    frames = list(episode(policy, env_of(policy), seed=7, max_steps=1_000))
    assert frames[-1].collected == task
    assert [frame.step for frame in frames] == list(range(len(frames)))
    for frame in frames:
        assert frame.subtask in policy.milestones
        assert frame.predicted is not None
        assert frame.values is not None
    assert hal.evaluate(policy, num_episodes=30).success.mean() >= 0.9


def test_an_unknown_pretrained_agent_is_refused() -> None:
    with pytest.raises(ValueError, match="for 'gold'; legal: iron, treasure"):
        hal.load_pretrained("gold")
