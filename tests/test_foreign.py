"""Environments that are not of the package: the contract, lanes, training, resuming, commands."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

import hal
from hal.check import check_env
from hal.checkpoint import load
from hal.cli import main
from hal.config import Config
from hal.envs import GridVectorEnv
from hal.envs.foreign import ForeignLanes, NextStep
from hal.envs.milestones import MilestoneWrapper
from hal.errors import ContractError, FailedError
from hal.evaluation import evaluate
from hal.make import find_make, make_checked, make_lanes, names_of_adapters
from hal.presets import METHODS, make_config
from hal.run import Keeping, resume_training, run_training
from hal.training import Training
from tests.corridor import LENGTH, Corridor

PARTS, VECTOR, PIXELS = (f"tests.corridor:make_{kind}" for kind in ("parts", "vector", "pixels"))
SMALL: dict[str, Any] = {
    "steps": 3_000,
    "num_lanes": 8,
    "update_every": 16,
    "meta_every": 16,
    "context_every": 16,
    "target_every": 16,
    "warmup_steps": 200,
    "replay_steps": 4_000,
    "controller_anneal_steps": 2_000,
    "first_successes": 5,
    "meta_anneal_successes": 50,
    "max_option_steps": 8,
    "width": 32,
    "meta_width": 32,
    "context_width": 32,
    "context_size": 8,
    "examples": 200,
    "meta_replay": 2_000,
    "knn_n": 50,
    "batch_windows": 8,
    "window": 8,
    "trained_steps": 8,
    "meta_batch": 32,
    "triplets": 16,
    "classifier_batch": 8,
}


def small(task: str = PARTS, method: str = "hal", **settings: Any) -> Config:
    return make_config(task, method, **{**SMALL, **settings})


# --- Lanes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("use_processes", [False, True])
def test_lanes_have_the_final_milestone_last_and_actions_from_zero(use_processes: bool) -> None:
    env = make_lanes(small(), 3, use_processes=use_processes)
    assert isinstance(env, ForeignLanes)
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


def test_what_a_run_has_learned_keeps_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should the environment change the order of its milestones, the agent's stays."""
    run_training(small(steps=300), tmp_path / "run", Keeping(num_episodes=2))
    monkeypatch.setattr(Corridor, "milestones", ("key", "door"))
    assert load(tmp_path / "run").agent.env.columns == (0, 1)
    monkeypatch.setattr(Corridor, "milestones", ("door", "key"))
    assert load(tmp_path / "run").agent.env.columns == (1, 0)
    monkeypatch.setattr(Corridor, "milestones", ("door", "lock"))
    with pytest.raises(ValueError, match="unknown milestone 'key'; legal: door, lock"):
        load(tmp_path / "run")


def test_another_background_is_taken_from_the_checkpoint() -> None:
    training = Training(small())
    background = np.array([1, 2])
    assert training.background.tolist() == [0, 2], "row of zeros and ones, then the key's codes"
    training.take_background(background)
    assert training.agent.controller.encoder.background.tolist() == [1, 2]


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
    env = make_lanes(small("tests.test_foreign:make_astray"), 4)
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
    env = make_lanes(small("tests.test_foreign:make_own_lanes"), 2)
    assert (env.milestones, env.final_milestone) == (("right",), "right")
    obs, _ = env.reset(seed=0)
    assert obs["obs"].tolist() == [0, 0]


# --- Learning -------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [PARTS, VECTOR, PIXELS])
def test_hal_learns_whatever_it_sees(task: str) -> None:
    config = small(task, steps=4_000)
    training = Training(config)
    while not training.is_done:
        training.step()
    episodes = evaluate(training.agent, num_episodes=30)
    assert episodes.success.mean() >= 0.9
    assert training.agent.final == 1


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs(method: str) -> None:
    if method == "oracle":
        with pytest.raises(
            ValueError, match="does not tell affordances; legal: all but the oracle"
        ):
            hal.train(small(VECTOR, method, steps=300))
        return
    hal.train(small(VECTOR, method, steps=600))


@pytest.mark.parametrize("name", ["make_native", "make_plain_lanes"])
def test_native_lanes_train_and_go_on(name: str) -> None:
    training = Training(small(f"tests.test_foreign:{name}", steps=800))
    for _ in range(20):
        training.step()
    training.begin_anew()
    while not training.is_done:
        training.step()
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
        hal.train(small("tests.test_foreign:make_faulty_lanes"))


def test_lanes_that_never_end_are_evaluated_to_the_horizon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PlainLanes, "num_steps", 10**9)
    policy = hal.train(small("tests.test_foreign:make_plain_lanes", steps=300, horizon=40))
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
        make_lanes(small(f"tests.test_foreign:{name}"), 4)


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


def test_processes_change_nothing() -> None:
    def metrics(use_processes: bool) -> str:
        training = Training(small(VECTOR, steps=600), use_processes=use_processes)
        while not training.is_done:
            training.step()
        report = training.report()
        training.env.close()
        assert report is not None
        return json.dumps({k: v for k, v in report.items() if "second" not in k})

    assert metrics(use_processes=True) == metrics(use_processes=False)


def test_without_a_task_training_is_agnostic() -> None:
    task = "tests.corridor:make_taskless"
    with pytest.raises(ValueError, match=r"no final milestone.*legal: --is-agnostic"):
        hal.train(small(task))
    policy = hal.train(small(task, is_agnostic=True, steps=3_000))
    assert policy.agent.final == -1
    episodes = evaluate(policy, num_episodes=20)
    np.testing.assert_array_equal(episodes.success, episodes.covered.all(axis=1))
    assert episodes.covered[:, 1].mean() > 0.8


def test_policy_takes_the_environments_own_observations() -> None:
    policy = hal.train(small(VECTOR, steps=400))
    env = make_checked(VECTOR, horizon=50)
    obs, _ = env.reset(seed=0)
    assert policy.affordances(obs).shape == (2,)
    assert policy.q_subtasks(obs).shape == (2,)
    assert policy.act(obs) in (3, 4), "as the environment counts them"
    assert policy.act(np.stack([obs, obs])).shape == (2,)


def test_policy_takes_signals_in_the_environments_own_order() -> None:
    policy = hal.train(small(VECTOR, steps=400))
    env = make_checked(VECTOR, horizon=50)
    obs, info = env.reset(seed=0)
    policy.act(obs, info)
    (pursued,) = policy.subtasks
    other = "key" if pursued == "door" else "door"
    for name, goes_on in ((pursued, False), (other, False), (None, True)):
        policy._lanes.subtask[0] = policy.milestones.index(pursued)  # type: ignore
        policy._lanes.steps[0] = 1  # type: ignore[union-attr]
        signals = {"milestones": np.array([name == known for known in Corridor.milestones])}
        policy.act(obs, signals)
        assert (policy._lanes.steps[0] == 2) == goes_on  # type: ignore[union-attr]
        assert policy.chosen.size == (not goes_on)


# --- Runs -----------------------------------------------------------------------------------


def test_a_run_goes_on_with_new_episodes() -> None:
    """Nothing is learned from the gap: its rows are no experience, what went before is cut."""
    training = Training(small(steps=1_000))
    for _ in range(60):
        training.step()
    agent = training.agent
    before, num_rows = agent.num_steps, agent.replay.num_rows
    num_stored = len(agent.meta.replay)  # type: ignore[union-attr]
    training.begin_anew()
    assert agent.num_steps == before
    assert agent.replay.num_rows == num_rows + 1
    assert not agent.replay.is_valid[num_rows].any()
    assert (agent.replay.end[num_rows - 1] != 0).all(), "no return reaches over the gap"
    assert len(agent.meta.replay) == num_stored  # type: ignore[union-attr]
    training.step()
    assert agent.replay.is_valid[num_rows + 1].all()
    assert (agent.episodes.present[:, 1] == 1).all(), "episodes are a step old"


def test_a_stopped_run_is_resumed_and_finished(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code = f"""
import signal, os
from hal.run import run_training, Keeping
from hal.training import Training
from tests.test_foreign import small
from pathlib import Path
step = Training.step
def stopping(self):
    step(self)
    if self.agent.num_steps >= 800:
        Training.step = step
        os.kill(os.getpid(), signal.SIGINT)
Training.step = stopping
run_training(small(steps=1600), Path({str(folder)!r}), Keeping(num_episodes=10))
"""
    stopped = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert stopped.returncode != 0
    assert "stopped after 80" in stopped.stderr
    result = resume_training(folder)
    assert result["steps"] == 1_600
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    steps = [line["steps"] for line in lines]
    assert steps == sorted(set(steps))
    assert steps[-1] >= 1_600


# --- Breaches -------------------------------------------------------------------------------


class Broken(Corridor):
    """A corridor that breaks the contract after some steps."""

    num_healthy = 30

    def __init__(self, breach: str) -> None:
        super().__init__("vector")
        self.breach = breach
        self.num_steps = 0
        if breach == "twice":
            self.milestones = ("key", "key")
        elif breach == "final":
            self.final_milestone = "chest"
        elif breach == "actions":
            self.action_space = spaces.Box(0, 1, (1,))  # type: ignore[assignment]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a step, the last one wrong."""
        obs, reward, terminated, truncated, info = super().step(action)
        self.num_steps += 1
        if self.num_steps < self.num_healthy:
            return obs, reward, terminated, truncated, info
        if self.breach == "raise":
            raise ZeroDivisionError("by\nzero")
        if self.breach == "nan":
            obs[1] = np.nan
        elif self.breach == "shape":
            obs = np.zeros(3, dtype=np.float32)
        elif self.breach == "space":
            self.observation_space = spaces.Box(-1, 1, (4,))
            obs = np.zeros(4, dtype=np.float32)
        elif self.breach == "type":
            obs = obs.astype(np.float64)
        elif self.breach == "reward":
            reward = float("inf")
        elif self.breach == "missing":
            info = {}
        elif self.breach == "signals":
            info = {"milestones": np.zeros(3, dtype=np.bool_)}
        elif self.breach == "silent":
            info = {"milestones": np.zeros(2, dtype=np.bool_)}
        return obs, reward, terminated, truncated, info


BREACHES = {
    "raise": r"step raised ZeroDivisionError: by zero \(test_foreign.py, line \d+\)",
    "nan": "step's observation has values that are not finite numbers",
    "shape": r"step's observation has shape \(3,\); its space says \(2,\)",
    "space": r"step's observation has shape \(4,\); its space says \(2,\)",
    "type": "step's observation has type float64; its space says float32",
    "reward": "step's reward is inf; legal: finite numbers",
    "missing": 'step\'s info has no "milestones"',
    "signals": r'step\'s info\["milestones"\] is \(3,\) bool; legal: \(2,\) bool',
}
EARLY = {
    "twice": "milestone 'key' is there twice",
    "final": "final_milestone 'chest'; legal: None, door, key",
    "actions": r"actions are Box.*; legal: Discrete",
}
for _breach in (*BREACHES, *EARLY, "silent"):
    globals()[f"make_{_breach}"] = lambda breach=_breach: Broken(breach)


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_is_one_line_and_checkpoints_are_safe(breach: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    name = f"tests.test_foreign:make_{breach}"
    with pytest.raises(FailedError, match=f"{name}: {BREACHES[breach]}.*; go on with") as error:
        run_training(small(name), folder, Keeping(num_episodes=5, checkpoint_seconds=0.0))
    assert "\n" not in str(error.value)
    assert list((folder / "checkpoints").glob("step-*/sums.json"))
    assert (folder / "failure.txt").read_text().startswith(name)


@pytest.mark.parametrize("breach", EARLY)
def test_a_breach_from_the_start_leaves_nothing(breach: str, tmp_path: Path) -> None:
    name = f"tests.test_foreign:make_{breach}"
    with pytest.raises(ContractError, match=EARLY[breach]):
        run_training(small(name), tmp_path / "run", Keeping())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tests.corridor:nothing", "tests.corridor has no function 'nothing'"),
        ("no.such.module:make", "its import raised ModuleNotFoundError: No module named 'no'"),
        ("./corridor.py:make", "legal: module:function, or a name of `hal tasks`"),
        ("tests.test_foreign:make_number", "made a int; legal: a gymnasium.Env"),
        ("tests.test_foreign:make_plain", "has no milestones; legal: an attribute"),
        ("tests.test_foreign:make_failing", "making it raised KeyError"),
    ],
)
def test_bad_names(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_lanes(small(name), 1)


def make_number() -> int:
    """Return what is no environment."""
    return 3


def make_plain() -> gymnasium.Env[Any, Any]:
    """Return an environment without milestones."""
    return gymnasium.make("CartPole-v1")


def make_failing() -> gymnasium.Env[Any, Any]:
    """Fail."""
    raise KeyError("x")


def test_pictures_that_no_machine_could_keep() -> None:
    message = r"observations of 3,072 bytes are 31 GB; legal: up to 8 GB, by smaller replay_steps"
    with pytest.raises(ValueError, match=message):
        Training(small(PIXELS, replay_steps=10_000_000))


def test_disappearing_items_are_refused() -> None:
    with pytest.raises(ValueError, match=r"disappear_rate 0\.5 in tests.*; legal: 0"):
        small(disappear_rate=0.5)


def test_learning_that_diverges_says_so(tmp_path: Path) -> None:
    config = small(VECTOR, "rainbow", learning_rate=1e30)
    message = "learning diverged after .* steps: a gradient is (nan|inf); .*; go on with"
    with pytest.raises(FailedError, match=message):
        run_training(config, tmp_path / "run", Keeping(num_episodes=2))


def test_a_run_without_any_milestone_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "tests.test_foreign:make_silent"
    monkeypatch.setattr(Broken, "num_healthy", 0)
    run_training(small(name, steps=400), tmp_path / "run", Keeping(num_episodes=2))
    lines = capsys.readouterr().out.splitlines()
    told = [line for line in lines if "has collected any milestone" in line]
    assert told == [f"no episode has collected any milestone so far; look with: hal check {name}"]


# --- Commands -------------------------------------------------------------------------------


def test_check_of_a_good_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_env(PARTS, 500, seed=0)
    text = capsys.readouterr().out
    for line in (
        f"{PARTS}: the contract was kept in 50",
        "observation row: 1 x 5 cells of 2 codes",
        "observation key: 1 cells of 2 codes",
        "actions: 2",
        "true affordances: not told",
        "(final: door)",
    ):
        assert line in text
    assert "change:" not in text


@pytest.mark.parametrize(
    ("breach", "line"), [("silent", "broken: no milestone"), ("nan", "broken: ")]
)
def test_check_of_a_bad_environment(
    breach: str, line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Broken, "num_healthy", 0)
    assert not check_env(f"tests.test_foreign:make_{breach}", 500, seed=0)
    assert line in capsys.readouterr().out


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["hal", *arguments])
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def test_all_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    out = ["--out", str(folder), "--episodes", "10"]
    assert run_main(monkeypatch, "train", "--env", PARTS, *options, *out) == 0
    assert run_main(monkeypatch, "eval", str(folder), "--episodes", "5") == 0
    assert "door" in capsys.readouterr().out
    assert run_main(monkeypatch, "plot", str(folder), "--out", str(tmp_path / "curves.png")) == 0
    assert (tmp_path / "curves.png").is_file()
    assert run_main(monkeypatch, "runs", str(tmp_path)) == 0
    gif = tmp_path / "episode.gif"
    assert run_main(monkeypatch, "watch", str(folder), "--seed", "1", "--gif", str(gif)) == 0
    assert gif.is_file()
    assert run_main(monkeypatch, "train", "treasure", "--env", PARTS) == 2
    assert "legal: one of them" in capsys.readouterr().err
    assert run_main(monkeypatch, "check", "tests.corridor:nothing") == 2


def test_adapters_are_listed_and_found() -> None:
    names = names_of_adapters()
    assert len(names) == len(set(names)) > 5
    for name in names:
        assert callable(find_make(name))


def test_no_environment_is_known_by_name() -> None:
    """But to itself, to its adapter, and to presets: scales, and the paper's experiments."""
    source = Path(hal.__file__).parent
    knowing = {"envs", "adapters", "presets.py", "suite.py", "claims.py"}
    for path in source.rglob("*.py"):
        if not knowing & set(path.relative_to(source).parts):
            text = path.read_text().lower()
            found = [
                name for name in ("crafting", "treasure", "minigrid", "crafter") if name in text
            ]
            assert not found, f"{path} knows {found}"
