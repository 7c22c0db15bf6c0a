"""Lanes of environments that are not of the package."""

import numpy as np
import pytest

from hal.envs.external.lanes import ExternalLanes
from hal.runs.lanes import make_lanes
from tests.corridor import LENGTH, PARTS, small


@pytest.mark.parametrize("use_processes", [False, True])
def test_lanes_have_the_final_milestone_last_and_actions_from_zero(use_processes: bool) -> None:
    env = make_lanes(small(), 3, use_processes=use_processes)
    assert isinstance(env, ExternalLanes)
    assert env.milestones == ("key", "door"), "the environment's own order is door, key"
    obs, info = env.reset(seed=[1, 2, 3])
    assert obs["row"].shape == (3, 1, LENGTH)
    assert set(info) == {"milestones"}
    assert not info["milestones"].any()
    left, right = np.zeros(3, np.int64), np.ones(3, np.int64)
    collected = np.zeros(2)
    for _ in range(LENGTH):
        obs, _, _, _, info = env.step(left)
        collected += info["milestones"].sum(axis=0)
    assert collected.tolist() == [3, 0], "each lane fetched the key once"
    assert obs["key"].tolist() == [1, 1, 1]
    for step in range(LENGTH - 1):
        obs, reward, terminated, _, info = env.step(right)
        assert terminated.all() == (step == LENGTH - 2)
    assert info["milestones"].tolist() == [[False, True]] * 3
    assert reward.tolist() == [1, 1, 1]
    obs, _, terminated, _, info = env.step(right)
    assert obs["key"].tolist() == [0, 0, 0], "the next step begins the next episode"
    assert not terminated.any()
    assert not info["milestones"].any()
    env.close()


def test_dense_reward_counts_each_milestone_once_an_episode() -> None:
    env = make_lanes(small(PARTS, "rainbow"), 1)
    env.reset(seed=0)
    env.step(np.array([0]))
    rewards = []
    for action in (0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0):
        _, reward, _, _, _ = env.step(np.array([action]))
        rewards.append(float(reward[0]))
    assert sum(rewards) == 0.5 + 1.5 + 0.5, "key; door and its own reward; the next episode's key"


def test_chosen_milestones() -> None:
    env = make_lanes(small(milestones=("door",)), 2)
    assert env.milestones == ("door",)
    _, info = env.reset(seed=0)
    assert info["milestones"].shape == (2, 1)
    with pytest.raises(ValueError, match="lack the final one, 'door'"):
        make_lanes(small(milestones=("key",)), 2)
    with pytest.raises(ValueError, match="unknown milestone 'chest'; legal: door, key"):
        make_lanes(small(milestones=("chest",)), 2)


def test_lanes_to_play_once_stand_still_after_their_episode() -> None:
    once, always = (make_lanes(small(), 4, to_play_once=is_once) for is_once in (True, False))
    obs, _ = once.reset(seed=0)
    expected, _ = always.reset(seed=0)
    rng = np.random.default_rng(0)
    is_active = np.ones(4, dtype=np.bool_)
    for _ in range(60):
        for name in expected:
            np.testing.assert_array_equal(obs[name][is_active], expected[name][is_active])
        actions = rng.integers(2, size=4)
        before = {name: values.copy() for name, values in obs.items()}
        obs, _, terminated, truncated, info = once.step(actions)
        expected, _, *ends, expected_info = always.step(actions)
        for name in obs:
            np.testing.assert_array_equal(obs[name][~is_active], before[name][~is_active])
        assert not (terminated | truncated)[~is_active].any()
        assert not info["milestones"][~is_active].any()
        assert terminated[is_active].tolist() == ends[0][is_active].tolist()
        signals = info["milestones"][is_active].tolist()
        assert signals == expected_info["milestones"][is_active].tolist()
        is_active &= ~(terminated | truncated)
    assert not is_active.any()
    obs, _ = once.reset(seed=0)
    assert obs["key"].tolist() == [0, 0, 0, 0]
