"""Crafter, an open world whose 22 achievements are the milestones; there is no task among them.

An agent that is told of achievements has external knowledge, as Crafter's scoreboard calls it.

`pixels` is Crafter's picture, 64 x 64. `symbolic` says what that shows: the cells around the
player, each by what is on top (creatures and plants hide the ground), the one in front again, the
inventory and the daylight. It is easier to read than the picture: no darkness or noise hides
anything at night or in sleep. And it says which achievements the episode has had, as Crafter's
reward is for first times.

The same seed is the same episode, of both and in every process. Crafter by itself is not
reproducible: a chunk's creatures, one of which may vanish, are in an order of their addresses in
memory. Here they are in order of arrival. And Crafter draws the picture's noise at night from the
world's generator; here it has its own, so that looking changes nothing.
"""

from collections import defaultdict
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike

from hal.checks import check_choice
from hal.envs.external.adapters import load
from hal.envs.external.milestones import InfoCounterMilestones, RememberedMilestones

NAMES = ("symbolic", "pixels")
NUM_ACHIEVEMENTS = 22
VIEW = (9, 7)  # cells that the picture shows, across and down
PICTURE = (576, 576)  # pixels of what is rendered to be watched
DIRECTIONS = ("left", "right", "up", "down")
SPRITES = (
    *(f"player-{how}" for how in (*DIRECTIONS, "sleep")),
    *("cow", "zombie", "skeleton"),
    *(f"arrow-{direction}" for direction in DIRECTIONS),
    *("plant", "plant-ripe"),
)


def make(name: str, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Return Crafter with one of the two kinds of observations."""
    check_choice("kind of Crafter", name, NAMES)
    is_symbolic = name == "symbolic"
    env = CrafterEnv(is_symbolic, render_mode)
    achieved = Achievements(env, "achievements", env.achievements)
    return RememberedMilestones(achieved) if is_symbolic else achieved


def score(success_rates: ArrayLike) -> float:
    """Return Crafter's score in percent, of the shares of episodes with each achievement."""
    rates = np.asarray(success_rates, dtype=float)
    if rates.shape != (NUM_ACHIEVEMENTS,) or not ((rates >= 0) & (rates <= 1)).all():
        raise ValueError(f"success rates {rates}; legal: {NUM_ACHIEVEMENTS} from 0 to 1")
    return float(np.expm1(np.log1p(100 * rates).mean()))


class Achievements(InfoCounterMilestones):
    """Signals an achievement each time that it is made, not only the first time."""

    final_milestone = None


class Crowd(list[Any]):
    """A set of creatures in order of arrival."""

    add = list.append


class CrafterEnv(gymnasium.Env[Any, Any]):
    """Crafter behind Gymnasium's interface.

    Args:
        is_symbolic: whether observations are symbols rather than pixels.
        render_mode: "rgb_array" or nothing.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own form)
        "render_modes": ["rgb_array"],
        "render_fps": 8,
    }

    def __init__(self, is_symbolic: bool, render_mode: str | None = None) -> None:
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        crafter = load("crafter")
        self.render_mode = render_mode
        self._game = crafter.Env(seed=0)
        # It would draw a picture and a map of the whole world at every step.
        self._game._obs = self._game._sem_view = _nothing
        self._observe = self._symbols if is_symbolic else self._picture
        self.achievements: tuple[str, ...] = tuple(crafter.constants.achievements)
        materials = crafter.constants.materials
        # Crafter's own codes of materials begin with 1; 0 is out of the world.
        self._codes = {name: 1 + code for code, name in enumerate((*materials, *SPRITES))}
        self.action_space = spaces.Discrete(len(crafter.constants.actions))
        most = max(item["max"] for item in crafter.constants.items.values())
        symbols: dict[str, spaces.Space[Any]] = {
            "image": spaces.Box(0, len(self._codes), VIEW[::-1], np.uint8),
            "front": spaces.Discrete(1 + len(self._codes)),
            "inventory": spaces.Box(0, most, (len(crafter.constants.items),), np.int32),
            "daylight": spaces.Box(0, 1, (1,), np.float32),
        }
        pixels = spaces.Box(0, 255, (64, 64, 3), np.uint8)
        self.observation_space = spaces.Dict(symbols) if is_symbolic else pixels

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in a new world."""
        super().reset(seed=seed)
        game = self._game
        # Crafter makes a world of its seed and of how many there were before.
        game._seed, game._episode = int(self.np_random.integers(2**31)), 0
        game.reset()
        chunks: defaultdict[Any, Crowd] = defaultdict(Crowd)
        for creature in game._world.objects:
            chunks[game._world.chunk_key(creature.pos)].add(creature)
        game._world._chunks = chunks
        return self._observe(), {"achievements": dict(game._player.achievements)}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a step; death terminates an episode, its length truncates it."""
        _, reward, is_over, info = self._game.step(action)
        is_dead = info["discount"] == 0
        told = {"achievements": info["achievements"]}
        return self._observe(), float(reward), is_dead, bool(is_over) and not is_dead, told

    def render(self) -> Any:
        """Return Crafter's picture, larger than the agent's."""
        return self._picture(PICTURE) if self.render_mode == "rgb_array" else None

    def _picture(self, size: tuple[int, int] | None = None) -> np.ndarray:
        game, world = self._game, self._game._world
        generator = world.random
        world.random = np.random.default_rng((game._seed, game._step))
        picture: np.ndarray = game.render(size)
        world.random = generator
        return picture

    def _symbols(self) -> dict[str, Any]:
        game = self._game
        inventory = np.array(list(game._player.inventory.values()), dtype=np.int32)
        daylight = np.array([game._world.daylight], dtype=np.float32)
        view = self._view()
        x, y = game._player.facing
        front = np.int64(view[VIEW[1] // 2 + y, VIEW[0] // 2 + x])
        return {"image": view, "front": front, "inventory": inventory, "daylight": daylight}

    def _view(self) -> np.ndarray:
        world = self._game._world
        x, y = self._game._player.pos
        left, top = x - VIEW[0] // 2, y - VIEW[1] // 2
        inside = np.s_[max(left, 0) : left + VIEW[0], max(top, 0) : top + VIEW[1]]
        cells, creatures = world._mat_map[inside].copy(), world._obj_map[inside]
        for at in zip(*creatures.nonzero(), strict=True):
            cells[at] = self._codes[world._objects[creatures[at]].texture]
        view = np.zeros(VIEW, dtype=np.uint8)
        (width, height), x, y = cells.shape, max(-left, 0), max(-top, 0)
        view[x : x + width, y : y + height] = cells
        return view.T.copy()


def _nothing() -> None:
    return None
