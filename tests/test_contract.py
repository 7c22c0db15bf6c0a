"""What breaks the contract is told in one line, and harms nothing."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from hal.errors import ContractError, FailedError
from hal.runs.lanes import make_lanes
from hal.runs.lifecycle import Keeping, run_training
from hal.runs.training import Training
from tests.corridor import PIXELS, VECTOR, Corridor, small


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
    "raise": r"step raised ZeroDivisionError: by zero \(test_contract.py, line \d+\)",
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
    name = f"tests.test_contract:make_{breach}"
    with pytest.raises(FailedError, match=f"{name}: {BREACHES[breach]}.*; go on with") as error:
        run_training(small(name), folder, Keeping(num_episodes=5, checkpoint_seconds=0.0))
    assert "\n" not in str(error.value)
    assert list((folder / "checkpoints").glob("step-*/sums.json"))
    assert (folder / "failure.txt").read_text().startswith(name)


@pytest.mark.parametrize("breach", EARLY)
def test_a_breach_from_the_start_leaves_nothing(breach: str, tmp_path: Path) -> None:
    name = f"tests.test_contract:make_{breach}"
    with pytest.raises(ContractError, match=EARLY[breach]):
        run_training(small(name), tmp_path / "run", Keeping())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tests.corridor:nothing", "tests.corridor has no function 'nothing'"),
        ("no.such.module:make", "its import raised ModuleNotFoundError: No module named 'no'"),
        ("./corridor.py:make", "legal: module:function, or a name of `hal tasks`"),
        ("tests.test_contract:make_number", "made a int; legal: a gymnasium.Env"),
        ("tests.test_contract:make_plain", "has no milestones; legal: an attribute"),
        ("tests.test_contract:make_failing", "making it raised KeyError"),
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
    message = r"replay.capacity 10,000,000: 32 of 32 GB of memory, with observations of 3,072 bytes"
    with pytest.raises(ValueError, match=message):
        Training(small(PIXELS, replay_steps=10_000_000))


def test_disappearing_items_are_refused() -> None:
    with pytest.raises(ValueError, match=r"disappear_rate 0\.5 in tests.*; legal: 0"):
        small(disappear_rate=0.5)


def test_learning_that_diverges_says_so(tmp_path: Path) -> None:
    config = small(VECTOR, "rainbow", learning_rate=1e30)
    message = "learning diverged after .* steps: a gradient is (nan|inf); smaller .* may help$"
    with pytest.raises(FailedError, match=message):
        run_training(config, tmp_path / "run", Keeping(num_episodes=2))


def test_a_run_without_any_milestone_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "tests.test_contract:make_silent"
    monkeypatch.setattr(Broken, "num_healthy", 0)
    run_training(small(name, steps=400), tmp_path / "run", Keeping(num_episodes=2))
    lines = capsys.readouterr().out.splitlines()
    told = [line for line in lines if "has collected any milestone" in line]
    assert told == [f"no episode has collected any milestone so far; look with: hal check {name}"]
