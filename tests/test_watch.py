"""Watching agents in environments of others: their own picture, the agent's view of milestones."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import SyncVectorEnv, VectorEnv
from PIL import Image

from hal.agent.build import background_of, make_agent
from hal.cli.commands import watch
from hal.config.presets import make_config
from hal.errors import ContractError
from hal.pictures.frame import Scene, Shown
from hal.pictures.render import PANEL, draw
from hal.pictures.text import to_text
from hal.runs.lanes import make_lanes
from hal.runs.policy import Policy
from hal.runs.training import train
from hal.viewer.play import show_episode
from hal.viewer.watch import ExternalEnv, env_of, episode

LENGTH, FIRST_ACTION = 6, 5
COLLECTED = {2: "key", 4: "door", 6: "goal"}  # by step
PLAYED = ("key", "door", "goal")  # the agent's order, the final one last
TINY: dict[str, Any] = {
    "num_lanes": 4,
    "steps": 400,
    "warmup_steps": 50,
    "replay_steps": 4_000,
    "width": 16,
    "meta_width": 16,
    "context_width": 16,
    "batch_windows": 4,
}


def picture_of(step: int) -> np.ndarray:
    return np.random.default_rng(step).integers(256, size=(24, 32, 3), dtype=np.uint8)


class Toy(gymnasium.Env[Any, Any]):
    """Collects a milestone after every other step, whatever is done."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 8}  # noqa: RUF012
    milestones = ("goal", "key", "door")
    final_milestone = "goal"

    def __init__(self, render_mode: str | None = None, is_telling: bool = False) -> None:
        self.render_mode, self.is_telling = render_mode, is_telling
        self.observation_space = spaces.Discrete(LENGTH + 1)
        self.action_space = spaces.Discrete(3, start=FIRST_ACTION)
        self.buffer = np.zeros((24, 32, 3), dtype=np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.now = 0
        return self.now, self.told()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.now += 1
        is_over = self.now == LENGTH
        return self.now, float(is_over), is_over, False, self.told()

    def told(self) -> dict[str, Any]:
        def are(name: str | None) -> np.ndarray:
            return np.array([milestone == name for milestone in self.milestones])

        told = {"milestones": are(COLLECTED.get(self.now))}
        following = COLLECTED.get(self.now + 2 - self.now % 2)
        return told | ({"affordances": are(following)} if self.is_telling else {})

    def render(self) -> Any:
        self.buffer[:] = picture_of(self.now)  # the same array at every step, as many do it
        return self.buffer


class UnseenToy(Toy):
    def render(self) -> Any:
        raise NotImplementedError


class BrokenToy(Toy):
    def render(self) -> Any:
        raise OSError("no screen")


class GreyToy(Toy):
    def render(self) -> Any:
        return super().render().mean(axis=2)


class BusyToy(Toy):
    def told(self) -> dict[str, Any]:
        return {"milestones": np.full(3, self.now > 0)}


def make_telling(render_mode: str | None = None) -> Toy:
    return Toy(render_mode, is_telling=True)


def make_without_mode() -> Toy:
    return Toy()


def make_refusing(render_mode: str | None = None) -> Toy:
    if render_mode is not None:
        raise TypeError("what mode?")
    return Toy()


def make_many(num_envs: int) -> VectorEnv[Any, Any, Any]:
    return SyncVectorEnv([Toy] * num_envs)


def make_limited(render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    spec = EnvSpec("Toy-v0", "tests.test_watch:Toy", max_episode_steps=5, disable_env_checker=True)
    return gymnasium.make(spec, render_mode=render_mode)


def untrained(make: str, method: str = "hal", **settings: Any) -> Policy:
    config = make_config(f"tests.test_watch:{make}", method, **(TINY | settings))
    lanes = make_lanes(config, 4)
    obs, _ = lanes.reset(seed=0)
    return Policy(make_agent(config, lanes, background_of(lanes, obs)))


def watched(policy: Policy, max_steps: int = 100) -> list[Shown]:
    return [*episode(policy, env_of(policy), seed=0, max_steps=max_steps)]


def test_an_episode_shows_the_environments_pictures_and_the_agents_milestones() -> None:
    policy = train(make_config("tests.test_watch:Toy", **TINY))
    moments = watched(policy)
    assert [moment.step for moment in moments] == [*range(LENGTH + 1)]
    for step, moment in enumerate(moments):
        assert isinstance(moment, Scene)
        np.testing.assert_array_equal(moment.picture, picture_of(step))
        assert moment.title == "tests.test_watch:Toy"
        assert moment.milestones == policy.milestones == PLAYED
        assert moment.collected == COLLECTED.get(step)
        assert moment.action in ("5", "6", "7") if step else moment.action is None
        assert moment.subtask in PLAYED
        assert moment.affordances is None
        assert moment.predicted is not None
        assert moment.predicted.shape == (3,)
        assert moment.values is not None
        np.testing.assert_allclose(moment.values, policy.q_subtasks(step), rtol=1e-5)
    assert [moment.step for moment in watched(policy, max_steps=3)] == [0, 1, 2, 3]


def test_truth_and_subtasks_are_in_the_agents_order() -> None:
    moments = watched(untrained("make_telling", "oracle"))
    following = ["key", "key", "door", "door", "goal", "goal"]
    assert [moment.subtask for moment in moments[:-1]] == following, "the oracle does what it can"
    for moment, name in zip(moments, following, strict=False):
        assert moment.affordances is not None
        assert moment.affordances.tolist() == [milestone == name for milestone in PLAYED]
        assert moment.predicted is None


def test_only_chosen_milestones_are_shown() -> None:
    moments = watched(untrained("Toy", milestones=("goal", "door")))
    assert {moment.milestones for moment in moments} == {("door", "goal")}
    assert [moment.collected for moment in moments][::2] == [None, None, "door", "goal"]


def test_of_several_milestones_the_final_one_is_told() -> None:
    moments = watched(untrained("BusyToy"))
    assert [moment.collected for moment in moments] == [None] + LENGTH * ["goal"]


def test_agents_without_subtasks_or_without_a_task_say_less() -> None:
    for moment in watched(untrained("Toy", "rainbow")):
        assert (moment.subtask, moment.predicted, moment.values) == (None, None, None)
        assert draw(moment).shape[2] == 3
        assert "milestones\n  key\n  door\n  goal" in to_text(moment, color=False)
    for moment in watched(untrained("Toy", is_agnostic=True)):
        assert moment.subtask in PLAYED
        assert moment.predicted is not None
        assert moment.values is None, "they were never trained"


@pytest.mark.parametrize("make", ["make_without_mode", "make_refusing", "UnseenToy", "make_many"])
def test_an_environment_without_pictures_is_watched_all_the_same(make: str) -> None:
    moments = watched(untrained(make))
    assert [moment.collected for moment in moments][::2] == [None, "key", "door", "goal"]
    for moment in moments:
        assert isinstance(moment, Scene)
        assert moment.picture is None
        assert to_text(moment).startswith(f"tests.test_watch:{make}  step {moment.step}\n")
        assert (draw(moment)[:, :2] == PANEL).all()


def test_wrong_pictures_are_told() -> None:
    with pytest.raises(ContractError, match="BrokenToy: render raised OSError: no screen"):
        watched(untrained("BrokenToy"))
    with pytest.raises(
        ContractError, match=r"GreyToy: render gave float64 \(24, 32\); legal: uint"
    ):
        watched(untrained("GreyToy"))


def test_the_length_of_an_episode_is_the_environments_own_if_it_says_so() -> None:
    for horizon, length in ((1_000, 5), (3, 3)):
        moments = watched(untrained("make_limited", horizon=horizon))
        assert {moment.max_steps for moment in moments} == {length}
        assert moments[-1].progress == f"step {length} / {length}"
    assert watched(untrained("Toy"))[3].progress == "step 3"


def test_a_film_of_an_episode(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy, gif = untrained("Toy"), tmp_path / "toy.gif"
    last = show_episode(episode(policy, env_of(policy), seed=0, max_steps=100), gif=gif)
    assert last.collected == "goal"
    told = capsys.readouterr().out.splitlines()
    assert told == [f"step {step:4d}  {name}" for step, name in COLLECTED.items()]
    with Image.open(gif) as image:
        assert getattr(image, "n_frames", 1) == LENGTH + 1
        assert image.size == draw(last).shape[1::-1]


def test_the_environment_is_closed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []
    monkeypatch.setattr(Toy, "close", lambda env, **_: closed.append(env))
    monkeypatch.setattr("hal.runs.checkpoint.load_by_name", lambda run, *_: untrained("Toy"))
    watch("toy", gif=tmp_path / "toy.gif", seed=0)
    assert len(closed) == 1
    assert f"took {LENGTH} steps" in capsys.readouterr().out


def test_new_episodes_begin_anew() -> None:
    env = ExternalEnv(untrained("Toy").config)
    for seed in (None, 0, None):
        env.reset(seed=seed)
        assert (env.frame().step, env.frame().action, env.frame().collected) == (0, None, None)
        env.step(0)
        assert env.frame().action == "5"
        for _ in range(LENGTH - 1):
            *_, terminated, truncated, info = env.step(2)
        assert (terminated, truncated) == (True, False)
        assert info["milestones"].tolist() == [False, False, True]
