"""The vector environment: autoreset modes, seeds, and lanes that do not know each other."""

import hashlib
import os
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import hal
from hal.envs.grid.vector import GridVectorEnv

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]
TASKS = ["treasure", "diamond"]


def random_actions(env: GridVectorEnv, num_steps: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(len(env.game.actions), size=(num_steps, env.num_envs))


def test_make_vec_gives_the_native_form() -> None:
    for env_id, task in hal.ENV_IDS.items():
        env = gymnasium.make_vec(env_id, num_envs=3)
        assert isinstance(env, GridVectorEnv)
        assert env.settings.task == task
        obs, info = env.reset(seed=0)
        assert obs in env.observation_space
        num_milestones = len(env.milestones)
        assert env.milestones[-1] == task
        for flags in (info["milestones"], info["affordances"]):
            assert flags.shape == (3, num_milestones)
            assert flags.dtype == np.bool_
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert obs in env.observation_space
        assert reward.shape == terminated.shape == truncated.shape == (3,)
        assert info["affordances"].shape == (3, num_milestones)


@pytest.mark.parametrize("task", TASKS)
def test_agrees_with_gymnasiums_own_vectorisation_of_single_lanes(task: str) -> None:
    env_id = next(env_id for env_id, name in hal.ENV_IDS.items() if name == task)
    for mode in MODES:
        native = GridVectorEnv(task, 4, autoreset_mode=mode, max_steps=23)
        reference = gymnasium.make_vec(
            env_id,
            num_envs=4,
            vectorization_mode="sync",
            vector_kwargs={"autoreset_mode": mode},
            max_steps=23,
        )
        _assert_same(native.reset(seed=5), reference.reset(seed=5))
        for actions in random_actions(native, 120):
            _assert_same(native.step(actions), reference.step(actions))


def _assert_same(mine: Any, other: Any) -> None:
    """Compare nested results; masks of infos that all lanes have may be left out."""
    if isinstance(mine, dict):
        missing = {key for key in other if key not in mine}
        assert missing <= {"_milestones", "_affordances"}
        assert all(other[key].all() for key in missing)
        for key, value in mine.items():
            if isinstance(value, dict):  # of a final_info: only the ended lanes' rows are given
                ended = mine[f"_{key}"]
                for name in ("milestones", "affordances"):
                    np.testing.assert_array_equal(value[name][ended], other[key][name][ended])
            else:
                _assert_same(value, other[key])
    elif isinstance(mine, tuple) or (isinstance(mine, np.ndarray) and mine.dtype == object):
        for one, another in zip(mine, other, strict=True):
            _assert_same(one, another)
    elif mine is not None:
        np.testing.assert_array_equal(mine, other)
    else:
        assert other is None


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("rate", [0.0, 0.2])
def test_a_lane_does_not_depend_on_the_others_or_the_mode(task: str, rate: float) -> None:
    options: dict[str, Any] = {"max_steps": 37}
    if task == "diamond":
        options["disappear_rate"] = rate
    many = GridVectorEnv(task, 8, autoreset_mode="SameStep", **options)
    alone = GridVectorEnv(task, 1, autoreset_mode="NextStep", **options)
    actions = random_actions(many, 200)
    many.reset(seed=100)
    alone.reset(seed=105)
    last = many.reset(seed=100)[0]["image"][5]
    np.testing.assert_array_equal(alone.reset(seed=105)[0]["image"][0], last)
    for row in actions:
        obs, reward, terminated, truncated, info = many.step(row)
        obs1, reward1, terminated1, truncated1, info1 = alone.step(row[5:6])
        assert reward[5] == reward1[0]
        assert terminated[5] == terminated1[0]
        assert truncated[5] == truncated1[0]
        if truncated[5] or terminated[5]:
            np.testing.assert_array_equal(info["final_obs"][5]["image"], obs1["image"][0])
            np.testing.assert_array_equal(
                info["final_info"]["milestones"][5], info1["milestones"][0]
            )
            obs1, reward1, _, _, info1 = alone.step(row[5:6])  # the reset's own step
            assert reward1[0] == 0
        np.testing.assert_array_equal(obs["image"][5], obs1["image"][0])
        np.testing.assert_array_equal(obs["inventory"][5], obs1["inventory"][0])
        np.testing.assert_array_equal(info["milestones"][5], info1["milestones"][0])
        np.testing.assert_array_equal(info["affordances"][5], info1["affordances"][0])


def test_worlds_do_not_depend_on_what_disappears() -> None:
    grids = []
    for rate in (0.0, 0.9):
        env = GridVectorEnv("iron", 4, max_steps=11, disappear_rate=rate)
        env.reset(seed=1)
        for actions in random_actions(env, 60):
            env.step(actions * 0)  # turn, so that the worlds stay as generated
        grids.append(env.state["grid"].copy())
    np.testing.assert_array_equal(grids[0], grids[1])


def test_same_step_keeps_the_last_moment_in_the_final_info() -> None:
    env = GridVectorEnv("log", 64, autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=3)
    num_ended = 0
    for actions in random_actions(env, 400):
        _, reward, terminated, _, info = env.step(actions)
        assert not info["milestones"][terminated].any(), "the info is of the new episode"
        if terminated.any():
            num_ended += int(terminated.sum())
            assert (info["_final_info"] == terminated).all()
            np.testing.assert_array_equal(info["final_info"]["milestones"][:, -1], terminated)
            assert not info["final_info"]["affordances"][~terminated].any()
            np.testing.assert_allclose(reward[terminated], 0.99)
            for lane in np.flatnonzero(terminated):
                assert info["final_obs"][lane]["inventory"][0] == 1
            assert (env.state["steps"][terminated] == 0).all()
        else:
            assert "final_info" not in info
    assert num_ended > 50


def test_next_step_resets_with_the_step_after() -> None:
    env = GridVectorEnv("treasure", 2, max_steps=3)
    env.reset(seed=0)
    turn = np.zeros(2, dtype=np.int64)
    assert [bool(env.step(turn)[3].all()) for _ in range(4)] == [False, False, True, False]
    assert (env.state["steps"] == 0).all()
    env.step(turn)
    assert (env.state["steps"] == 1).all()


def test_disabled_autoreset_refuses_ended_lanes_until_they_are_reset() -> None:
    env = GridVectorEnv("treasure", 3, max_steps=2, autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=0)
    turn = np.zeros(3, dtype=np.int64)
    env.step(turn)
    env.step(turn)
    with pytest.raises(RuntimeError, match=r"lanes \[0, 1, 2\] have ended"):
        env.step(turn)
    env.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(RuntimeError, match=r"lanes \[1\] have ended"):
        env.step(turn)
    before = env.state[0].tobytes()
    env.reset(options={"reset_mask": np.array([False, True, False])})
    assert env.state[0].tobytes() == before, "lanes that were not chosen are left alone"
    env.step(turn)
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": np.array([True])})


def test_seeds_of_lanes() -> None:
    env = GridVectorEnv("diamond", 3)
    by_number = env.reset(seed=10)[0]["image"]
    by_list = env.reset(seed=[10, 11, 12])[0]["image"]
    np.testing.assert_array_equal(by_number, by_list)
    backwards = env.reset(seed=[12, 11, 10])[0]["image"]
    np.testing.assert_array_equal(backwards, by_list[::-1])
    going_on = env.reset()[0]["image"]
    assert (going_on != backwards).any(), "without a seed, the next worlds"
    with pytest.raises(ValueError, match="2 seeds"):
        env.reset(seed=[1, 2])
    env = GridVectorEnv("treasure", 3)
    env.reset(seed=[1, None, 3])
    assert env.state["world_rng"].any(axis=1).all(), "a lane without a seed gets a random one"
    env = GridVectorEnv("treasure", 3, max_steps=2)
    env.reset(seed=7, options={"reset_mask": np.array([True, False, False])})
    for _ in range(9):
        env.step(np.zeros(3, dtype=np.int64))
    one, other = (GridVectorEnv("diamond", 2) for _ in range(2))
    one.reset(seed=3)
    other.reset(seed=np.int64(3))  # type: ignore[arg-type]
    assert one.np_random_seed == other.np_random_seed
    unseeded = {GridVectorEnv("diamond").reset()[0]["image"].tobytes() for _ in range(5)}
    assert len(unseeded) == 5


def test_rendering_changes_nothing() -> None:
    plain = GridVectorEnv("diamond", 2, max_steps=19, disappear_rate=0.1)
    drawn = GridVectorEnv("diamond", 2, max_steps=19, disappear_rate=0.1, render_mode="rgb_array")
    text = GridVectorEnv("diamond", 2, max_steps=19, disappear_rate=0.1, render_mode="ansi")
    for env in (plain, drawn, text):
        env.reset(seed=2)
    assert plain.render() is None
    for actions in random_actions(plain, 60):
        for env in (plain, drawn, text):
            env.step(actions)
        pictures, texts = drawn.render(), text.render()
        assert pictures is not None
        assert texts is not None
        assert len(pictures) == len(texts) == 2
        assert plain.state.tobytes() == drawn.state.tobytes() == text.state.tobytes()


@pytest.mark.parametrize("reward", ["sparse", "dense"])
def test_rewards(reward: str) -> None:
    env = GridVectorEnv("wood", 32, reward=reward, milestones=["log", "wood"])
    env.reset(seed=0)
    first_time = np.ones((32, 2), dtype=np.bool_)
    total = np.zeros(2)
    for actions in random_actions(env, 400):
        is_reset = env.state["is_done"].copy()
        _, given, terminated, _, info = env.step(actions)
        first_time[is_reset] = True
        done = info["milestones"]
        if reward == "dense":
            bonus = (done & first_time).sum(axis=1) / 2
        else:
            bonus = done[:, 1] * 1.0
        np.testing.assert_allclose(given, np.where(is_reset, 0.0, bonus - 0.01))
        np.testing.assert_array_equal(terminated, done[:, 1])
        first_time &= ~done
        total += done.sum(axis=0)
    assert (total > 20).all()


def test_a_world_without_resources_is_truncated() -> None:
    env = GridVectorEnv("stick", 1, autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=0)
    lane = env.state[0]
    lane.grid[lane.grid != 1] = 0  # nothing is left but floor
    lane.inventory[env.game.items.index("log")] = 1
    craft_wood, craft_bench = (env.game.actions.index(f"craft_{x}") for x in ("wood", "bench"))
    _, _, terminated, truncated, info = env.step(np.array([craft_wood]))
    assert not terminated
    assert not truncated
    assert info["affordances"][0].tolist() == [False, False, True]
    lane.direction, lane.position[:] = 0, (5, 5)
    _, reward, terminated, truncated, info = env.step(np.array([craft_bench]))
    assert not info["affordances"].any()
    assert truncated
    assert not terminated
    assert reward[0] == pytest.approx(-0.01)


def test_results_are_not_overwritten_by_later_steps() -> None:
    env = GridVectorEnv("treasure", 4, autoreset_mode=AutoresetMode.SAME_STEP, max_steps=3)
    env.reset(seed=0)
    kept, copies = [], []
    for actions in random_actions(env, 12):
        obs, reward, _, _, info = env.step(actions)
        arrays = [obs["image"], obs["inventory"], reward, info["milestones"], info["affordances"]]
        if "final_info" in info:
            arrays += [info["final_info"]["affordances"], info["final_obs"][0]["image"]]
        kept += arrays
        copies += [array.copy() for array in arrays]
    for array, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def rollout_digest() -> str:
    """Return a digest of everything that some rollouts of both games yield."""
    digest = hashlib.sha256()
    for task, rate in (("treasure", 0.0), ("diamond", 0.1)):
        env = GridVectorEnv(task, 2, max_steps=40, autoreset_mode="SameStep", disappear_rate=rate)
        obs, info = env.reset(seed=9)
        for actions in random_actions(env, 100):
            obs, reward, terminated, truncated, info = env.step(actions)
            for array in (*obs.values(), reward, terminated, truncated, *list(info.values())[:2]):
                digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def test_the_jit_changes_nothing() -> None:
    command = "from tests.test_vector import rollout_digest; print(rollout_digest())"
    interpreted = subprocess.run(
        [sys.executable, "-W", "error", "-c", command],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert interpreted.stdout.strip() == rollout_digest()
