"""A tea house: fetch water and leaves, boil, brew, and serve the guest."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

Obs = dict[str, Any]
Info = dict[str, Any]

SIZE = 5  # cells a side
VIEW = 2 * SIZE - 1  # from any cell, every other one is in view
MAX_STEPS = 100
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right
USE = len(MOVES)  # the last action
COLOURS = {
    "wall": (60, 60, 60),
    "floor": (220, 200, 160),
    "tap": (80, 140, 210),
    "stove": (210, 90, 60),
    "shelf": (80, 150, 90),
    "teapot": (130, 80, 160),
    "guest": (240, 180, 50),
}
THINGS = tuple(COLOURS)
WALL, FLOOR = 0, 1
TILE = 24  # pixels a side
GOODS = ("cold water", "hot water", "leaves", "tea")

# Each milestone: where it is done, what it takes, what it gives.
RULES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "water": ("tap", (), ("cold water",)),
    "boil": ("stove", ("cold water",), ("hot water",)),
    "leaves": ("shelf", (), ("leaves",)),
    "brew": ("teapot", ("hot water", "leaves"), ("tea",)),
    "serve": ("guest", ("tea",), ()),
}


class TeaHouse(gymnasium.Env[Obs, Any]):
    """A cook who carries up to one of each good, and a guest who waits."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012
    milestones = tuple(RULES)  # the last one is the task
    action_space = spaces.Discrete(USE + 1)
    observation_space = spaces.Dict(
        {
            "view": spaces.Box(0, len(THINGS) - 1, (VIEW, VIEW), np.uint8),
            "goods": spaces.MultiBinary(len(GOODS)),
        }
    )

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, Info]:
        """Furnish a new room, with walls so thick that no view ends outside."""
        super().reset(seed=seed)
        self.ground = np.full((3 * SIZE, 3 * SIZE), WALL, dtype=np.uint8)
        room = self.ground[SIZE:-SIZE, SIZE:-SIZE]
        room[:] = FLOOR
        *places, start = self.np_random.choice(room.size, len(RULES) + 1, replace=False)
        room.flat[places] = [THINGS.index(thing) for thing, _, _ in RULES.values()]
        self.row, self.column = SIZE + int(start) // SIZE, SIZE + int(start) % SIZE
        self.goods: set[str] = set()
        self.num_steps = 0
        return self.observed(), self.told(None)

    def step(self, action: Any) -> tuple[Obs, float, bool, bool, Info]:
        """Walk to the next cell, or use what is underfoot."""
        milestone = self.use() if action == USE else None
        if action != USE:
            down, right = MOVES[action]
            if self.ground[self.row + down, self.column + right] != WALL:
                self.row, self.column = self.row + down, self.column + right
        self.num_steps += 1
        is_done = milestone == "serve"
        is_late = self.num_steps == MAX_STEPS and not is_done
        return self.observed(), float(is_done), is_done, is_late, self.told(milestone)

    def use(self) -> str | None:
        """Do what can be done here, and return its milestone."""
        here = THINGS[self.ground[self.row, self.column]]
        for milestone, (thing, takes, gives) in RULES.items():
            if thing == here and self.can(takes, gives):
                self.goods = self.goods.difference(takes).union(gives)
                return milestone
        return None

    def can(self, takes: tuple[str, ...], gives: tuple[str, ...]) -> bool:
        """Tell whether the cook has all that it takes, and nothing yet of what it gives."""
        return self.goods.issuperset(takes) and self.goods.isdisjoint(gives)

    def observed(self) -> Obs:
        """Return the room as seen by the cook, who is in the middle, and what is carried."""
        top, left = self.row - SIZE + 1, self.column - SIZE + 1
        view = self.ground[top : top + VIEW, left : left + VIEW].copy()
        return {"view": view, "goods": np.array([good in self.goods for good in GOODS], np.int8)}

    def told(self, milestone: str | None) -> Info:
        """Return the signals: which milestone this step has brought, if any."""
        return {"milestones": np.array([name == milestone for name in self.milestones])}

    def render(self) -> Any:
        """Return a picture: a colour for each thing, a white square for the cook."""
        if self.render_mode is None:
            return None
        inside = slice(SIZE - 1, 1 - SIZE)  # one cell of wall is enough
        cells = np.array([*COLOURS.values()], np.uint8)[self.ground[inside, inside]]
        picture = cells.repeat(TILE, axis=0).repeat(TILE, axis=1)
        top, left = (TILE * (i - SIZE + 1) + TILE // 4 for i in (self.row, self.column))
        picture[top : top + TILE // 2, left : left + TILE // 2] = 255
        return picture


def make(render_mode: str | None = None) -> TeaHouse:
    """Return a tea house; this is what `hal` is given the name of."""
    return TeaHouse(render_mode)


class OpenTeaHouse(TeaHouse):
    """A tea house that also tells what is possible."""

    def told(self, milestone: str | None) -> Info:
        """Return the signals, with what could be done next: all places can be reached."""
        possible = [self.can(takes, gives) for _, takes, gives in RULES.values()]
        return {**super().told(milestone), "affordances": np.array(possible)}


def make_open(render_mode: str | None = None) -> TeaHouse:
    """Return a tea house that tells what is possible."""
    return OpenTeaHouse(render_mode)
