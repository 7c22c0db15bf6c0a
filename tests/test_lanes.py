"""Lanes of environments that are not of the package, and native ones."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

import hal
from hal.agent.base import BaseAgent
from hal.envs.external.autoreset import NextStep
from hal.envs.external.lanes import ExternalLanes
from hal.envs.external.milestones import MilestoneWrapper
from hal.envs.grid.vector import GridVectorEnv
from hal.errors import ContractError
from hal.runs.evaluation import evaluate
from hal.runs.lanes import make_lanes
from hal.runs.training import Training
from tests.corridor import LENGTH, PARTS, Corridor, small


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


class Native(GridVectorEnv):
    """A native vector environment under another name, which resets in the same step."""

    def __init__(self, num_envs: int) -> None:
        super().__init__("stick", num_envs, autoreset_mode=AutoresetMode.SAME_STEP, max_steps=40)


def make_native(num_envs: int) -> VectorEnv[Any, Any, Any]:
    """Return native lanes."""
    return Native(num_envs)


class Astray(Native):
    """Native lanes with a code that there is not."""

    def step(self, actions: np.ndarray) -> Any:
        """Take a step."""
        obs, *rest = super().step(actions)
        obs["image"][1, 2, 3] = 200
        return obs, *rest


def make_astray(num_envs: int) -> VectorEnv[Any, Any, Any]:
    """Return lanes that go astray."""
    return Astray(num_envs)


def test_codes_beyond_the_space_never_reach_an_agent() -> None:
    env = make_lanes(small("tests.test_lanes:make_astray"), 4)
    env.reset(seed=0)
    with pytest.raises(
        ContractError, match="make_astray: step's observation image goes from 0 to 200"
    ):
        env.step(np.zeros(4, np.int64))


def make_own_lanes(num_envs: int) -> VectorEnv[Any, Any, Any]:
    """Return lanes made by Gymnasium, but not by us, of environments that name no final one."""
    return SyncVectorEnv([_without_final] * num_envs)


def _without_final() -> gymnasium.Env[Any, Any]:
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    return MilestoneWrapper(lake, {"right": lambda obs, info, env: obs % 4 == 3})


def test_lanes_that_somebody_else_made() -> None:
    env = make_lanes(small("tests.test_lanes:make_own_lanes"), 2)
    assert (env.milestones, env.final_milestone) == (("right",), "right")
    obs, _ = env.reset(seed=0)
    assert obs["obs"].tolist() == [0, 0]


@pytest.mark.parametrize("name", ["make_native", "make_plain_lanes"])
def test_native_lanes_train_and_go_on(name: str) -> None:
    training = Training(small(f"tests.test_lanes:{name}", steps=800))
    for _ in range(20):
        training.step()
    training.begin_anew()
    while not training.is_done:
        training.step()
    assert isinstance(training.agent, BaseAgent)
    replay = training.agent.replay
    rows = np.arange(1, replay.num_rows - 1)
    if name == "make_plain_lanes":  # which counts its steps, and so do the rows
        time = replay.obs["obs"][:, 0, 0]
        goes_on = replay.is_valid[rows, 0] & replay.is_valid[rows - 1, 0]
        assert (time[rows][goes_on] == time[rows - 1][goes_on] + 1).all()


class PlainLanes(VectorEnv[Any, Any, Any]):
    """Native lanes of the simplest kind: own buffer, one number as the seed, steps as time."""

    milestones = ("third", "last")
    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012
    num_steps = 12

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs
        self.single_observation_space = spaces.Box(0, 100, (1,), np.float32)
        self.single_action_space = spaces.Discrete(2)
        self.time = np.zeros((num_envs, 1), dtype=np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin anew."""
        super().reset(seed=seed)
        self.time[:] = 0
        return self.time, {"milestones": np.zeros((self.num_envs, 2), dtype=np.bool_)}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Let time pass, in the buffer that was returned before."""
        is_over = self.time[:, 0] >= self.num_steps
        self.time += 1
        self.time[is_over] = 0
        now = self.time[:, 0]
        terminated = now >= self.num_steps
        info = {"milestones": np.stack([now == 3, terminated], axis=1)}
        return self.time, terminated.astype(float), terminated, np.zeros_like(terminated), info


def make_plain_lanes(num_envs: int) -> VectorEnv[Any, Any, Any]:
    """Return plain native lanes."""
    return PlainLanes(num_envs)


class FaultyLanes(PlainLanes):
    """Native lanes that break the contract."""

    fault = ""

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take a step with a fault."""
        obs, reward, terminated, truncated, info = super().step(actions)
        if self.fault == "flags":
            terminated = terminated.astype(np.uint8)
        elif self.fault == "reward":
            reward[0] = np.nan
        elif self.fault == "shape":
            obs = obs[:1]
        return obs, reward, terminated, truncated, info


def make_faulty_lanes(num_envs: int) -> VectorEnv[Any, Any, Any]:
    """Return lanes with a fault."""
    return FaultyLanes(num_envs)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("flags", r"step's terminated is \(8,\) uint8; legal: \(8,\) finite bool"),
        ("reward", r"step's reward is \(8,\) float64; legal: \(8,\) finite number"),
        ("shape", r"step's observation obs is \(1, 1\) float32; its space says \(8, 1\)"),
    ],
)
def test_faults_of_native_lanes(fault: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FaultyLanes, "fault", fault)
    with pytest.raises(ContractError, match=message):
        hal.train(small("tests.test_lanes:make_faulty_lanes"))


def test_lanes_that_never_end_are_evaluated_to_the_horizon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PlainLanes, "num_steps", 10**9)
    policy = hal.train(small("tests.test_lanes:make_plain_lanes", steps=300, horizon=40))
    episodes = evaluate(policy, num_episodes=5)
    assert (episodes.length == 40).all()
    assert not episodes.success.any()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("make_one_for_many", "takes num_envs and made a Corridor; legal: a gymnasium.vector"),
        ("make_too_few", "made 1 lanes; legal: 4, as asked for"),
        ("make_without_mode", r'metadata\["autoreset_mode"\] is None; legal: '),
    ],
)
def test_lanes_of_the_wrong_kind(name: str, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        make_lanes(small(f"tests.test_lanes:{name}"), 4)


def make_one_for_many(num_envs: int) -> Corridor:
    """Return one environment, although asked for many."""
    return Corridor()


def make_too_few(num_envs: int) -> VectorEnv[Any, Any, Any]:
    """Return one lane."""
    return PlainLanes(1)


def make_without_mode(num_envs: int) -> VectorEnv[Any, Any, Any]:
    """Return lanes that do not say how they reset."""
    lanes = PlainLanes(num_envs)
    lanes.metadata = {}
    return lanes
