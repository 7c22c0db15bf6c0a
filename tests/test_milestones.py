"""Wrappers that signal milestones of environments that have none."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from hal.envs.external.milestones import (
    InfoCounterMilestones,
    InventoryMilestones,
    MilestoneWrapper,
    RememberedMilestones,
)


class Mine(gymnasium.Env[Any, Any]):
    """Action 1 finds ore, action 2 turns two ores into a bar; counts where they are asked for."""

    observation_space: Any = spaces.Dict({"items": spaces.Box(0, 99, (2,), np.int64)})
    action_space: Any = spaces.Discrete(3)

    def _told(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        ore, bar = self.counts
        held = {"ore": int(ore), "bar": int(bar)}
        return {"items": self.counts.copy()}, {"held": held, "done": dict(self.done)}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.counts = np.array([1, 0])
        self.done = {"find": 0, "smelt": 0}
        return self._told()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if action == 1:
            self.counts[0] += 1
            self.done["find"] += 1
        if action == 2 and self.counts[0] >= 2:
            self.counts += (-2, 1)
            self.done["smelt"] += 1
        obs, info = self._told()
        return obs, 0.0, False, False, info


ACTIONS = [0, 1, 1, 0, 2, 2, 1, 1, 2]


def signals(env: gymnasium.Env[Any, Any]) -> list[list[str]]:
    """Return the milestones that each of ACTIONS signals."""
    _, info = env.reset(seed=0)
    assert not info["milestones"].any()
    names, found = env.get_wrapper_attr("milestones"), []
    for action in ACTIONS:
        *_, info = env.step(action)
        assert info["milestones"].dtype == np.bool_
        found.append(
            [name for name, is_new in zip(names, info["milestones"], strict=True) if is_new]
        )
    return found


def test_counters_signal_each_time() -> None:
    env = InfoCounterMilestones(Mine(), "done")
    assert env.milestones == ("find", "smelt")
    expected: list[list[str]] = [
        [],
        ["find"],
        ["find"],
        [],
        ["smelt"],
        [],
        ["find"],
        ["find"],
        ["smelt"],
    ]
    assert signals(env) == expected
    assert signals(env) == expected, "an episode begins anew"
    assert signals(InfoCounterMilestones(Mine(), "done", ["smelt"])) == [
        [name for name in names if name == "smelt"] for names in expected
    ]


@pytest.mark.parametrize(("key", "names"), [("held", None), ("items", ["ore", "bar"])])
def test_items_signal_when_their_count_rises(key: str, names: list[str] | None) -> None:
    env = InventoryMilestones(Mine(), key, names)
    assert env.milestones == ("ore", "bar")
    assert signals(env) == [[], ["ore"], ["ore"], [], ["bar"], [], ["ore"], ["ore"], ["bar"]]


def test_predicates_signal_when_they_become_true() -> None:
    env = MilestoneWrapper(
        Mine(),
        {
            "rich": lambda obs, info, env: obs["items"][0] >= 2,
            "poor": lambda obs, info, env: info["held"]["ore"] == 1,
            "skilled": lambda obs, info, env: env.done["smelt"] == 2,
        },
    )
    # It begins poor, which is no event.
    assert signals(env) == [[], ["rich"], [], [], ["poor"], [], ["rich"], [], ["poor", "skilled"]]


def test_what_an_episode_has_had_is_remembered() -> None:
    env = RememberedMilestones(InfoCounterMilestones(Mine(), "done"))
    expected = [[0, 0]] * 2 + [[1, 0]] * 3 + [[1, 1]] * 5
    for _ in range(2):
        obs, _ = env.reset(seed=0)
        seen = [obs] + [env.step(action)[0] for action in ACTIONS]
        assert [obs["collected"].tolist() for obs in seen] == expected
        assert seen[-1]["items"].tolist() == [1, 2], "the rest is as it was"


def test_vector_environments_tell_the_milestones_of_all_lanes() -> None:
    lanes = gymnasium.vector.SyncVectorEnv([lambda: InfoCounterMilestones(Mine(), "done")] * 2)
    _, info = lanes.reset(seed=0)
    assert info["milestones"].shape == (2, 2)
    *_, info = lanes.step(np.array([1, 0]))
    assert info["milestones"].tolist() == [[True, False], [False, False]]
    lanes.close()


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
def test_wrapped_environments_keep_gymnasiums_contract() -> None:
    rich = {"rich": lambda obs, *_: obs["items"][0] > 1}
    check_env(MilestoneWrapper(Mine(), rich), skip_render_check=True)
    check_env(InfoCounterMilestones(Mine(), "done"), skip_render_check=True)
    check_env(InventoryMilestones(Mine(), "held"), skip_render_check=True)
    remembered = RememberedMilestones(InfoCounterMilestones(Mine(), "done"))
    check_env(remembered, skip_render_check=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MilestoneWrapper(Mine(), {}), "there are no milestones; legal: one or more"),
        (lambda: MilestoneWrapper(Mine(), {"a/b": lambda *_: True}), "'a/b'; legal: names without"),
        (lambda: InfoCounterMilestones(Mine(), "done", ["a", "b", "a"]), "'a' is there twice"),
        (lambda: InfoCounterMilestones(Mine(), "done", "find"), "'find'; legal: a tuple of names"),
        (lambda: InfoCounterMilestones(Mine(), "no"), "info has no 'no' at a reset"),
        (lambda: InventoryMilestones(Mine(), "no"), "neither the observation nor info has 'no'"),
        (lambda: InventoryMilestones(Mine(), "items"), "'items' have no names; legal: name them"),
        (lambda: InventoryMilestones(Mine(), "items", ["a"]), "1 names for the 2 items of 'items'"),
        (
            lambda: RememberedMilestones(RememberedMilestones(InventoryMilestones(Mine(), "held"))),
            "legal: a Dict without 'collected'",
        ),
    ],
)
def test_what_cannot_be_milestones_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_counters_that_are_missing_after_a_step_are_refused() -> None:
    env = InfoCounterMilestones(Mine(), "dome", ["find"])
    env.reset(seed=0)
    with pytest.raises(ValueError, match="a step's info has no 'dome'; legal: the counters"):
        env.step(1)
