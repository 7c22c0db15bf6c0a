"""A sample of environment steps, each held against the rules; `benchmarks/fuzz` has more."""

from typing import Any

import numpy as np
import pytest
from benchmarks.fuzz import steps
from benchmarks.fuzz.steps import attack

from hal.envs.grid.vector import GridVectorEnv


def test_every_step_is_legal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "NUM_LANES", 128)
    monkeypatch.setattr(steps, "NUM_STEPS", 300)
    assert attack(400_000, seed=0) == []


@pytest.mark.parametrize(
    ("place", "value", "fault"),
    [
        (1, 0.5, "a reward of another size"),
        (2, True, "an end without the final milestone"),
        (3, True, "an episode that is cut too soon"),
    ],
)
def test_faults_are_found(
    monkeypatch: pytest.MonkeyPatch, place: int, value: float, fault: str
) -> None:
    sound = GridVectorEnv.step

    def broken(self: GridVectorEnv, actions: np.ndarray) -> Any:
        step: Any = sound(self, actions)
        step[place][5] = value
        return step

    monkeypatch.setattr(GridVectorEnv, "step", broken)
    monkeypatch.setattr(steps, "NUM_LANES", 16)
    assert fault in attack(100, seed=1)[0]
