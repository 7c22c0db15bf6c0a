"""Crafter behind Gymnasium's interface: its rules are its own, so what is put around them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from hal.envs.external.adapters import crafter

package = pytest.importorskip("crafter")

ACTIONS = {name: code for code, name in enumerate(package.constants.actions)}
MATERIALS = package.constants.materials
NAMES = (None, *MATERIALS, *crafter.SPRITES)  # of the codes of cells
DUSK, MIDNIGHT = 150, 210  # steps

Env = gymnasium.Env[Any, Any]


def begin(name: str = "symbolic", seed: int = 0, render_mode: str | None = None) -> tuple[Env, Any]:
    """Return an environment at the beginning of an episode, and its game."""
    env = crafter.make(name, render_mode)
    _, info = env.reset(seed=seed)
    assert info["milestones"].tolist() == [False] * 22
    return env, env.unwrapped._game  # type: ignore[attr-defined]


def alone(game: Any) -> None:
    """Remove all creatures but the player."""
    for creature in game._world.objects[1:]:
        game._world.remove(creature)


def night(seed: int, name: str = "symbolic", *, is_watched: bool = False) -> list[Any]:
    """Return what happens in a night that is survived: creatures come, and go at dawn."""
    env, game = begin(name, seed, "rgb_array")
    game._step = DUSK
    told = []
    for action in np.random.default_rng(seed).integers(len(ACTIONS), size=200):
        game._player.health = 9
        _, reward, *_, info = env.step(action)
        if is_watched and game._step % 20 == 0:
            env.render()
        creatures = [(c.texture, *map(int, c.pos)) for c in game._world.objects]
        told.append((creatures, reward, info["milestones"].tolist()))
    return told


def test_a_seed_is_an_episode() -> None:
    assert night(0) == night(0)
    assert night(0) != night(1)


def test_a_seed_is_an_episode_in_every_process() -> None:
    code = "from tests.test_crafter import night; print(night(2))"
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parents[1],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(told) == 1


def test_looking_changes_nothing() -> None:
    assert night(3, "pixels", is_watched=True) == night(3)


def test_the_next_world_follows_from_the_seed() -> None:
    maps = []
    for _ in range(2):
        env, game = begin(seed=5)
        first = game._world._mat_map.copy()
        env.reset()
        maps.append(game._world._mat_map.copy())
        assert (first != maps[-1]).any()
        env.reset(seed=5)
        assert (first == game._world._mat_map).all()
    assert (maps[0] == maps[1]).all()


def test_achievements_are_signalled_each_time() -> None:
    env, game = begin()
    alone(game)
    player, world = game._player, game._world
    names = env.get_wrapper_attr("milestones")
    assert names == tuple(package.constants.achievements)
    assert env.get_wrapper_attr("final_milestone") is None
    front = (player.pos[0], player.pos[1] + 1)
    seen = set()
    for cell, action, expected in [
        ("grass", "place_table", None),
        *[("tree", "do", "collect_wood")] * 6,
        ("grass", "place_table", "place_table"),
        (None, "make_wood_pickaxe", "make_wood_pickaxe"),
        (None, "make_wood_sword", "make_wood_sword"),
        (None, "make_stone_pickaxe", None),
        *[("stone", "do", "collect_stone")] * 2,
        ("water", "place_stone", "place_stone"),
        ("water", "do", "collect_drink"),
        ("iron", "do", None),
        ("table", "make_stone_pickaxe", "make_stone_pickaxe"),
        ("iron", "do", "collect_iron"),
        ("diamond", "do", None),
        ("grass", "noop", None),
    ]:
        if cell:
            world[front] = cell
        is_first = expected is not None and expected not in seen
        obs, reward, *_, info = env.step(ACTIONS[action])
        assert info["milestones"].tolist() == [name == expected for name in names], action
        seen.add(expected)
        assert obs["collected"].tolist() == [name in seen for name in names]
        assert reward == pytest.approx(float(is_first)), action


def test_waking_up_is_signalled() -> None:
    env, game = begin()
    alone(game)
    game._player.inventory["energy"] = 8
    obs, *_ = env.step(ACTIONS["sleep"])
    assert NAMES[obs["image"][3, 4]] == "player-sleep"
    for _ in range(20):
        obs, *_, info = env.step(ACTIONS["noop"])
        if info["milestones"].any():
            break
    woken = env.get_wrapper_attr("milestones").index("wake_up")
    assert info["milestones"].nonzero()[0].tolist() == [woken]
    assert NAMES[obs["image"][3, 4]] == "player-down"


def test_death_terminates_and_length_truncates() -> None:
    env, game = begin()
    alone(game)
    for step, expected in ((9_997, (False, False)), (9_999, (False, True))):
        game._step = step
        assert env.step(0)[2:4] == expected
    for step in (0, 9_999):
        env.reset(seed=0)
        alone(game)
        game._step = step
        x, y = game._player.pos
        game._world[x + 1, y] = "lava"
        assert env.step(ACTIONS["move_right"])[2:4] == (True, False)


KINDS = ("player", "cow", "zombie", "skeleton", "arrow", "plant")
SEMANTIC = (None, *MATERIALS, *KINDS)  # what Crafter's own map of the world tells apart


def semantic_map(game: Any) -> np.ndarray:
    """Return Crafter's own map, rows first."""
    kinds = [getattr(package.objects, kind.title()) for kind in KINDS]
    codes: np.ndarray = package.engine.SemanticView(game._world, kinds)()
    return codes.T


@pytest.mark.parametrize("seed", [0, 1])
def test_the_view_is_a_part_of_the_semantic_map(seed: int) -> None:
    env, game = begin(seed=seed)
    places = [0, 1, 2, 3, 4, 5, 20, 33, 45, 58, 59, 60, 61, 62, 63]
    kinds = [name and name.split("-")[0] for name in NAMES]
    to_semantic = np.array([SEMANTIC.index(kind) for kind in kinds])
    num_creatures = 0
    for place in ((x, y) for x in places for y in places):
        if game._world[place][1] is not None:
            continue
        game._world.move(game._player, place)
        game._player.health = 9
        obs, *_ = env.step(ACTIONS["noop"])
        assert env.observation_space.contains(obs)
        padded = np.pad(semantic_map(game), 10)
        expected = padded[place[1] + 7 : place[1] + 14, place[0] + 6 : place[0] + 15]
        found = to_semantic[obs["image"]]
        assert (found == expected).all()
        num_creatures += (found > SEMANTIC.index("player")).sum()
    assert num_creatures > 50


def test_the_view_shows_what_the_picture_shows() -> None:
    env, game = begin()
    alone(game)
    x, y = game._player.pos
    plant = package.objects.Plant(game._world, (x + 1, y))
    game._world.add(plant)
    obs, *_ = env.step(ACTIONS["move_right"])
    assert [NAMES[code] for code in obs["image"][3, 4:6]] == ["player-right", "plant"]
    assert NAMES[obs["front"]] == "plant"
    plant.grown = 300
    obs, *_ = env.step(ACTIONS["noop"])
    assert NAMES[obs["image"][3, 5]] == NAMES[obs["front"]] == "plant-ripe"
    game._world[x, y - 1] = "table"
    obs, *_ = env.step(ACTIONS["move_up"])
    assert NAMES[obs["front"]] == "table"
    game._world.add(package.objects.Arrow(game._world, (x - 2, y), (0, -1)))
    obs, *_ = env.step(ACTIONS["noop"])
    assert NAMES[obs["image"][2, 2]] == "arrow-up"
    assert obs["inventory"].tolist() == list(game._player.inventory.values())
    assert obs["daylight"][0] == pytest.approx(game._world.daylight)
    assert sorted(NAMES[1:]) == sorted({*MATERIALS, *textures()})


def textures() -> set[str]:
    """Return the names of Crafter's pictures of creatures."""
    names = {path.stem for path in (package.constants.root / "assets").glob("*.png")}
    unused = {"player", "plant-young"}
    return {name for name in names if name.split("-")[0] in KINDS} - unused


def test_pixels_are_crafters_own_picture() -> None:
    env, game = begin("pixels", render_mode="rgb_array")
    assert env.observation_space == spaces.Box(0, 255, (64, 64, 3), np.uint8)
    obs, *_ = env.step(0)
    assert (obs == game.render()).all(), "there is no noise by day"
    game._step = MIDNIGHT
    dark, *_ = env.step(0)
    darker, *_ = env.step(0)
    assert (dark != darker).mean() > 0.5, "its noise is new in every step"
    picture: Any = env.render()
    again: Any = env.render()
    assert picture.shape == (576, 576, 3)
    assert (picture == again).all()


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.parametrize("name", crafter.NAMES)
def test_gymnasiums_contract(name: str) -> None:
    check_env(crafter.make(name), skip_render_check=True)


def test_score() -> None:
    assert crafter.score(np.zeros(22)) == 0
    assert crafter.score(np.ones(22)) == pytest.approx(100)
    # 101 to the power of 1/22 is 1.23341.
    assert crafter.score([1] + [0] * 21) == pytest.approx(0.23341, abs=1e-5)
    # A random agent wakes up, finds saplings, and little else; its published score is 1.6.
    random = [0.94, 0.57, 0.5, 0.18, 0.11, 0.024, 0.008, 0.004, 0.004, 0.002] + [0] * 12
    assert crafter.score(random) == pytest.approx(1.6, abs=0.15)
    with pytest.raises(ValueError, match="legal: 22 from 0 to 1"):
        crafter.score([50] * 22)
    with pytest.raises(ValueError, match="legal: 22 from 0 to 1"):
        crafter.score([0.5] * 21)


def test_what_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ValueError, match="unknown kind of Crafter 'x'; legal: 'symbolic', 'pixels'"
    ):
        crafter.make("x")
    with pytest.raises(ValueError, match="unknown render_mode 'human'; legal: None, 'rgb_array'"):
        crafter.make("symbolic", "human")
    monkeypatch.setitem(sys.modules, "crafter", None)
    with pytest.raises(
        ValueError, match=r"^crafter is not installed; pip install 'hal-rl\[crafter\]'$"
    ):
        crafter.make("symbolic")
