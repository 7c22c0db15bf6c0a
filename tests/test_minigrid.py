"""MiniGrid's tasks, played through with a search for the way."""

import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from hal.envs.external.adapters import minigrid

pytest.importorskip("minigrid")

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE = range(6)
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))
Cell = Any
Place = tuple[int, int]


class Walk:
    """An episode whose every step must signal exactly what it should."""

    def __init__(self, name: str, seed: int) -> None:
        self.env = minigrid.make(name)
        self.world: Any = self.env.unwrapped
        self.names: tuple[str, ...] = self.env.get_wrapper_attr("milestones")
        _, info = self.env.reset(seed=seed)
        assert not info["milestones"].any()
        self.reward, self.is_over = 0.0, False

    def act(self, action: int, expected: str | None = None) -> None:
        """Take a step that signals one milestone, or none."""
        assert not self.is_over
        obs, reward, terminated, truncated, info = self.env.step(action)
        assert self.env.observation_space.contains(obs)
        assert info["milestones"].dtype == np.bool_
        assert info["milestones"].tolist() == [name == expected for name in self.names]
        assert not truncated
        self.reward, self.is_over = float(reward), terminated

    def face(self, is_wanted: Callable[[Cell, Place], bool]) -> bool:
        """Go where the nearest such cell is in front; return whether there is a way."""
        place: Place = (int(self.world.agent_pos[0]), int(self.world.agent_pos[1]))
        start = (place, int(self.world.agent_dir))
        queue: deque[tuple[tuple[Place, int], list[int]]] = deque([(start, [])])
        seen = {start}
        while queue:
            (place, heading), actions = queue.popleft()
            front = (place[0] + STEPS[heading][0], place[1] + STEPS[heading][1])
            cell = self.world.grid.get(*front)
            if is_wanted(cell, front):
                for action in actions:
                    self.act(action)
                return True
            nexts = {LEFT: (place, (heading - 1) % 4), RIGHT: (place, (heading + 1) % 4)}
            if cell is None or cell.can_overlap():
                nexts[FORWARD] = (front, heading)
            for action, there in nexts.items():
                if there not in seen:
                    seen.add(there)
                    queue.append((there, [*actions, action]))
        return False

    def face_kind(self, kind: str) -> bool:
        return self.face(lambda cell, _: cell is not None and cell.type == kind)

    def face_closed_door(self, is_locked: bool) -> bool:
        return self.face(
            lambda cell, _: (
                cell is not None
                and cell.type == "door"
                and not cell.is_open
                and cell.is_locked == is_locked
            )
        )

    def take(self, kind: str) -> None:
        assert self.face_kind(kind)
        self.act(PICK_UP, kind)

    def put_down(self) -> None:
        """Drop what is carried, elsewhere than right in front, where it was in the way."""
        in_front = tuple(self.world.front_pos)
        assert self.face(lambda cell, place: cell is None and place != in_front)
        self.act(DROP, "drop")

    def unlock(self) -> None:
        assert self.face_closed_door(is_locked=True)
        self.act(TOGGLE, "unlock")

    def check_success(self) -> None:
        assert self.is_over
        assert 0 < self.reward <= 1


SEEDS = pytest.mark.parametrize("seed", range(3))


@SEEDS
def test_unlock(seed: int) -> None:
    walk = Walk("Unlock", seed)
    walk.take("key")
    walk.unlock()
    walk.check_success()


@SEEDS
def test_unlock_pickup(seed: int) -> None:
    walk = Walk("UnlockPickup", seed)
    walk.face_closed_door(is_locked=True)
    walk.act(TOGGLE)
    walk.take("key")
    walk.act(PICK_UP)
    walk.act(DROP, "drop")
    walk.act(DROP)
    walk.act(PICK_UP, "key")
    walk.unlock()
    walk.act(TOGGLE)
    walk.act(TOGGLE)
    walk.act(FORWARD)
    walk.act(FORWARD)
    assert walk.face_kind("box")
    walk.act(PICK_UP)
    walk.put_down()
    walk.take("box")
    walk.check_success()


@SEEDS
def test_blocked_unlock_pickup(seed: int) -> None:
    walk = Walk("BlockedUnlockPickup", seed)
    assert not walk.face_closed_door(is_locked=True), "the ball is in the way"
    walk.take("ball")
    walk.act(DROP)  # the door is barred again
    walk.act(PICK_UP, "ball")
    walk.put_down()
    walk.take("key")
    walk.unlock()
    walk.put_down()
    walk.take("box")
    walk.check_success()


@SEEDS
@pytest.mark.parametrize("size", ["S3R1", "S3R2", "S3R3", "S4R3", "S6R3"])
def test_key_corridor(size: str, seed: int) -> None:
    walk = Walk(f"KeyCorridor{size}", seed)
    while not walk.face_kind("key"):
        assert walk.face_closed_door(is_locked=False)
        walk.act(TOGGLE, "door")
    walk.take("key")
    walk.unlock()
    walk.put_down()
    walk.take("ball")
    walk.check_success()


@SEEDS
@pytest.mark.parametrize("size", ["5x5", "8x8"])
def test_door_key(size: str, seed: int) -> None:
    walk = Walk(f"DoorKey-{size}", seed)
    walk.take("key")
    walk.unlock()
    assert walk.face_kind("goal")
    walk.act(FORWARD, "goal")
    walk.check_success()


def test_a_door_counts_once() -> None:
    walk = Walk("KeyCorridorS3R3", 0)
    assert walk.face_closed_door(is_locked=False)
    walk.act(TOGGLE, "door")
    for _ in range(4):
        walk.act(TOGGLE)
    assert walk.face_closed_door(is_locked=False)
    walk.act(TOGGLE, "door")


def test_a_new_episode_has_new_doors() -> None:
    walk = Walk("KeyCorridorS3R3", 0)
    for seed in (1, None):
        assert walk.face_closed_door(is_locked=False)
        walk.act(TOGGLE, "door")
        _, info = walk.env.reset(seed=seed)
        assert not info["milestones"].any()


@pytest.mark.parametrize("name", minigrid.NAMES)
def test_the_mission_says_no_more_than_the_view(name: str) -> None:
    env = minigrid.make(name)
    world: Any = env.unwrapped
    final = env.get_wrapper_attr("final_milestone")
    assert final == env.get_wrapper_attr("milestones")[-1]
    for seed in range(5):
        env.reset(seed=seed)
        kinds = [cell.type for cell in world.grid.grid if cell is not None]
        target = {"unlock": "door"}.get(final, final)
        assert kinds.count(target) == 1
        assert kinds.count("key") == 1
        assert target in world.mission


@pytest.mark.parametrize("name", minigrid.NAMES)
def test_observations_are_in_their_space(name: str) -> None:
    env = minigrid.make(name)
    image = env.observation_space["image"]  # type: ignore[index]
    assert image.high[0, 0].tolist() == [8, 5, 2]
    assert env.action_space == spaces.Discrete(6)
    obs, _ = env.reset(seed=0)
    for action in np.random.default_rng(0).integers(6, size=100):
        assert env.observation_space.contains(obs)
        obs, *_, truncated, _ = env.step(action)
        if truncated:
            obs, _ = env.reset()


def test_the_action_left_out_does_nothing() -> None:
    world: Any = minigrid.make("UnlockPickup").unwrapped
    assert [world.actions(action).name for action in (5, 6)] == ["toggle", "done"]
    assert len(world.actions) == 7


def episode(seed: int) -> list[Any]:
    env = minigrid.make("KeyCorridorS3R3")
    told = [env.reset(seed=seed)[0]]
    told += [env.step(action)[0] for action in np.random.default_rng(7).integers(6, size=100)]
    return [(obs["image"].tolist(), int(obs["direction"])) for obs in told]


def test_a_seed_is_an_episode() -> None:
    assert episode(3) == episode(3)
    assert episode(3) != episode(4)


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
def test_gymnasiums_contract() -> None:
    check_env(minigrid.make("BlockedUnlockPickup"), skip_render_check=True)


def test_pictures_are_minigrids_own() -> None:
    env: gymnasium.Env[Any, Any] = minigrid.make("Unlock", render_mode="rgb_array")
    env.reset(seed=0)
    picture: Any = env.render()
    assert picture.shape == (6 * 32, 11 * 32, 3)
    assert picture.std() > 0
    assert minigrid.make("Unlock").render_mode is None


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown MiniGrid task 'Nope'; legal: 'UnlockPickup', "):
        minigrid.make("Nope")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(
        ValueError, match=r"^minigrid is not installed; pip install 'hal-rl\[minigrid\]'$"
    ):
        minigrid.make("Unlock")
