"""Lanes that reset in another way look like those that reset in the next step."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from hal.envs.external.autoreset import NextStep
from hal.envs.grid.vector import GridVectorEnv


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.DISABLED])
def test_other_ways_to_reset_look_like_a_step_that_resets(mode: AutoresetMode) -> None:
    """The episodes are those of an environment that resets so, but for the step that resets."""
    rng = np.random.default_rng(0)
    inner = GridVectorEnv("stick", 4, autoreset_mode=mode, max_steps=9)
    env, plain = NextStep(inner), GridVectorEnv("stick", 4, max_steps=9)
    obs, info = env.reset(seed=3)
    expected, expected_info = plain.reset(seed=3)
    num_ends = 0
    is_first = np.ones(4, dtype=np.bool_)  # lanes in their first episode, where both agree
    for _ in range(30):
        for name in expected:
            np.testing.assert_array_equal(obs[name][is_first], expected[name][is_first])
        for name in ("milestones", "affordances"):
            np.testing.assert_array_equal(info[name][is_first], expected_info[name][is_first])
        actions = rng.integers(inner.single_action_space.n, size=4)  # type: ignore[attr-defined]
        before = is_first.copy()
        obs, reward, terminated, truncated, info = env.step(actions)
        expected, expected_reward, *ends, expected_info = plain.step(actions)
        assert (terminated | truncated)[before].tolist() == (ends[0] | ends[1])[before].tolist()
        np.testing.assert_array_equal(reward[before], expected_reward[before])
        for name in expected:
            np.testing.assert_array_equal(obs[name][before], expected[name][before])
        is_first &= ~(ends[0] | ends[1])
        num_ends += int((terminated | truncated).sum())
    assert num_ends >= 8, "there was a second episode"


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.DISABLED])
def test_an_episode_of_one_step_is_passed_over(mode: AutoresetMode) -> None:
    """Its only step is the one that resets: its end is nobody's, and the next episode is there."""
    env = NextStep(GridVectorEnv("stick", 3, autoreset_mode=mode, max_steps=1))
    env.reset(seed=0)
    ends = []
    for _ in range(6):
        obs, _, terminated, truncated, _ = env.step(np.zeros(3, np.int64))
        ends.append((terminated | truncated).tolist())
    assert ends == [[True] * 3, [False] * 3] * 3
    assert not obs["inventory"].any()
