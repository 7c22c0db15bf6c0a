"""Bad input: one clear error that names the value and the legal ones."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import hal
from hal.envs.grid.rules import CRAFTING
from hal.envs.grid.single import GridEnv
from hal.envs.grid.vector import GridVectorEnv

BAD: list[tuple[dict[str, Any], str]] = [
    ({"task": "gold"}, r"unknown task 'gold'; legal tasks: log, wood.*treasure, green_door"),
    ({"milestones": ["log", "gold"]}, r"unknown milestone 'gold'; legal ones: log, .*, iron$"),
    ({"milestones": ["iron", "diamond"]}, r"unknown milestone 'diamond'; legal ones: log"),
    ({"milestones": ["log", "wood"]}, r"\['log', 'wood'\] lack the final one, 'iron'"),
    ({"milestones": []}, r"lack the final one, 'iron'"),
    ({"vew_size": 7}, r"unknown keyword 'vew_size'; legal keywords: .*view_size"),
    ({"disappear_rate": -0.1}, r"disappear_rate -0.1; legal: 0 to 1"),
    ({"disappear_rate": 1.5}, r"disappear_rate 1.5; legal: 0 to 1"),
    ({"disappear_rate": float("nan")}, r"disappear_rate nan; legal: 0 to 1"),
    ({"task": "treasure", "disappear_rate": 0.1}, r"disappear_rate 0.1; legal: 0 to 0 in treasure"),
    ({"disappear_rate": "0.1"}, r"disappear_rate '0.1'; legal: 0 to 1"),
    ({"milestones": "iron"}, r"milestones 'iron'; legal: a sequence of names"),
    ({"max_steps": 0}, r"max_steps 0; legal: whole numbers from 1"),
    ({"max_steps": 2.5}, r"max_steps 2.5; legal: whole numbers from 1"),
    ({"view_size": 1}, r"view_size 1; legal: whole numbers from 3"),
    ({"view_size": 8}, r"view_size 8 is even; legal: odd numbers from 3"),
    ({"reward": "shaped"}, r"unknown reward 'shaped'; legal: 'sparse', 'dense'"),
    ({"render_mode": "svg"}, r"unknown render_mode 'svg'; legal: None, .*'rgb_array'"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    for make in (GridEnv, GridVectorEnv):
        with pytest.raises(ValueError, match=message):
            make(**{"task": "iron", **options})


def test_bad_options_are_refused_through_gymnasium() -> None:
    with pytest.raises(ValueError, match="unknown keyword 'colour'; legal keywords"):
        gymnasium.make("hal/Treasure-v0", colour="red")
    with pytest.raises(ValueError, match="unknown keyword 'colour'; legal keywords"):
        gymnasium.make_vec("hal/Treasure-v0", num_envs=2, colour="red")


def test_bad_numbers_of_lanes_and_modes() -> None:
    with pytest.raises(ValueError, match="num_envs 0; legal: whole numbers from 1"):
        GridVectorEnv("iron", 0)
    with pytest.raises(ValueError, match=r"unknown autoreset_mode 'never'; legal: .*'SameStep'"):
        GridVectorEnv("iron", 2, autoreset_mode="never")


@pytest.mark.parametrize("action", [-1, 11, 2.0, "mine"])
def test_bad_actions_are_refused(action: Any) -> None:
    env = GridEnv("iron")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=rf"action {action!r}; legal actions: 0 to 10"):
        env.step(action)


def test_bad_action_arrays_are_refused() -> None:
    env = GridVectorEnv("iron", 3)
    with pytest.raises(RuntimeError, match="before the first reset"):
        env.step(np.zeros(3, dtype=np.int64))
    env.reset(seed=0)
    before = env.state.tobytes()
    for actions, message in (
        ([0, 11, 0], "action 11; legal actions: 0 to 10"),
        ([0, 0, -2], "action -2; legal actions: 0 to 10"),
        ([0, 0], r"shape \(2,\).*legal: \(3,\) integers"),
        ([0.0, 0.0, 0.0], r"type float64; legal: \(3,\) integers"),
    ):
        with pytest.raises(ValueError, match=message):
            env.step(np.array(actions))
    assert env.state.tobytes() == before
    env.step(np.array([0, 1, 2], dtype=np.uint8))


@pytest.mark.parametrize("seed", [-1, 1.5, "12", True, [1, -1], [1, "2"]])
def test_bad_seeds_are_refused(seed: Any) -> None:
    with pytest.raises(ValueError, match=r"seed .*; legal: whole numbers from 0"):
        GridVectorEnv("iron", 2).reset(seed=seed)
    if not isinstance(seed, list):
        with pytest.raises(ValueError, match=r"seed .*; legal: whole numbers from 0"):
            GridEnv("iron").reset(seed=seed)


def test_unknown_options_of_reset_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown option 'reset_msk' of reset; legal: reset_mask"):
        GridVectorEnv("iron", 2).reset(options={"reset_msk": np.array([True, False])})
    with pytest.raises(ValueError, match="unknown option 'start' of reset; legal: none"):
        GridEnv("iron").reset(options={"start": 1})


def test_milestone_sets_are_put_in_order() -> None:
    env = GridEnv("stone", milestones=["stone", "log", "stick"])
    assert env.milestones == ("log", "stick", "stone")
    _, info = env.reset(seed=0)
    assert info["affordances"].shape == (3,)
    assert GridEnv("stone").milestones == CRAFTING.milestones[:6]


def test_view_size() -> None:
    env = gymnasium.make("hal/Crafting-Iron-v0", view_size=7)
    obs, _ = env.reset(seed=0)
    assert obs["image"].shape == (7, 7)
    large, _ = gymnasium.make("hal/Crafting-Iron-v0").reset(seed=0)
    np.testing.assert_array_equal(obs["image"], large["image"][2:9, 2:9])
    assert hal.__version__
