"""Lanes that an environment makes itself, all at once."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

import hal
from hal.agent.base import BaseAgent
from hal.envs.external.milestones import MilestoneWrapper
from hal.envs.grid.vector import GridVectorEnv
from hal.errors import ContractError
from hal.runs.evaluation import evaluate
from hal.runs.lanes import make_lanes
from hal.runs.training import Training
from tests.corridor import Corridor, small


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
    env = make_lanes(small("tests.test_native_lanes:make_astray"), 4)
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
    env = make_lanes(small("tests.test_native_lanes:make_own_lanes"), 2)
    assert (env.milestones, env.final_milestone) == (("right",), "right")
    obs, _ = env.reset(seed=0)
    assert obs["obs"].tolist() == [0, 0]


@pytest.mark.parametrize("name", ["make_native", "make_plain_lanes"])
def test_native_lanes_train_and_go_on(name: str) -> None:
    training = Training(small(f"tests.test_native_lanes:{name}", steps=800))
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
        hal.train(small("tests.test_native_lanes:make_faulty_lanes"))


def test_lanes_that_never_end_are_evaluated_to_the_horizon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PlainLanes, "num_steps", 10**9)
    policy = hal.train(small("tests.test_native_lanes:make_plain_lanes", steps=300, horizon=40))
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
        make_lanes(small(f"tests.test_native_lanes:{name}"), 4)


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
