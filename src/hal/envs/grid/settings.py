"""What a user can choose about an environment, checked before anything is made."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from hal.checks import check_choice, check_whole_number
from hal.envs.grid.rules import (
    CRAFTING_CODE,
    GAMES,
    NOTHING,
    NUM_INTERACTIONS,
    NUM_PRODUCTIONS,
    Game,
    game_of_task,
)

REWARDS = ("sparse", "dense")


class KernelSettings(NamedTuple):
    """What stays the same for the life of an environment, as the kernels take it."""

    game: int
    chosen: np.ndarray  # (K,) row of each milestone in the game's table of all
    column: np.ndarray  # (rows,) its column among the chosen ones, else NOTHING
    is_milestone: np.ndarray  # (rows,) bool, chosen or not
    final: int  # row of the milestone that ends the episode
    max_steps: int
    disappear_rate: float
    is_dense: bool


@dataclass(frozen=True)
class GridSettings:
    """The keyword arguments of every environment of this package."""

    task: str  # the final milestone: any of Crafting's, or "treasure" or "green_door"
    milestones: Sequence[str] | None = None  # a subset that keeps the final one; None for all
    disappear_rate: float = 0.0  # chance per step that a unit of a held item disappears
    max_steps: int | None = None  # steps until an episode is truncated; None for the game's own
    view_size: int = 11  # side of the egocentric view, odd
    reward: str = "sparse"  # "sparse": 1 at the final milestone; "dense": 1/K at each, once

    @classmethod
    def checked(cls, keywords: dict[str, Any]) -> "GridSettings":
        """Return the settings of a caller's keyword arguments, or say which one is unknown."""
        legal = [field.name for field in fields(cls)]
        for keyword in keywords:
            if keyword not in legal:
                raise ValueError(f"unknown keyword {keyword!r}; legal keywords: {', '.join(legal)}")
        return cls(**keywords)

    def __post_init__(self) -> None:
        """Refuse illegal values, and put the milestones into the game's order."""
        code = game_of_task(self.task)
        if self.max_steps is None:
            object.__setattr__(self, "max_steps", GAMES[code].max_steps)
        check_whole_number("max_steps", self.max_steps, 1)
        check_whole_number("view_size", self.view_size, 3)
        if self.view_size % 2 == 0:
            raise ValueError(f"view_size {self.view_size} is even; legal: odd numbers from 3")
        check_choice("reward", self.reward, REWARDS)
        most = 1.0 if code == CRAFTING_CODE else 0.0
        rate = self.disappear_rate
        if isinstance(rate, bool | str) or not 0.0 <= rate <= most:
            legal = f"0 to {most:g} in {GAMES[code].name}"
            raise ValueError(f"disappear_rate {rate!r}; legal: {legal}")
        object.__setattr__(self, "milestones", self._ordered_milestones())

    def _ordered_milestones(self) -> tuple[str, ...]:
        legal = self.game.milestones[: self.game.milestones.index(self.task) + 1]
        if isinstance(self.milestones, str):
            raise ValueError(f"milestones {self.milestones!r}; legal: a sequence of names")
        chosen = legal if self.milestones is None else tuple(self.milestones)
        for name in chosen:
            if name not in legal:
                raise ValueError(f"unknown milestone {name!r}; legal ones: {', '.join(legal)}")
        if self.task not in chosen:
            raise ValueError(f"the milestones {list(chosen)} lack the final one, {self.task!r}")
        return tuple(name for name in legal if name in chosen)

    @property
    def game(self) -> Game:
        """The game that has this task."""
        return GAMES[game_of_task(self.task)]

    def for_kernels(self) -> KernelSettings:
        """Return the settings as the kernels take them."""
        code = game_of_task(self.task)
        assert self.milestones is not None
        assert self.max_steps is not None
        num_rows = NUM_PRODUCTIONS if code == CRAFTING_CODE else NUM_INTERACTIONS
        chosen = np.array([self.game.milestones.index(name) for name in self.milestones])
        column = np.full(num_rows, NOTHING)
        column[chosen] = np.arange(chosen.size)
        return KernelSettings(
            game=code,
            chosen=chosen,
            column=column,
            is_milestone=column != NOTHING,
            final=self.game.milestones.index(self.task),
            max_steps=self.max_steps,
            disappear_rate=float(self.disappear_rate),
            is_dense=self.reward == "dense",
        )


def check_reset_options(options: dict[str, Any] | None, legal: tuple[str, ...]) -> None:
    """Refuse options of `reset` that would have no effect."""
    for name in options or {}:
        if name not in legal:
            raise ValueError(
                f"unknown option {name!r} of reset; legal: {', '.join(legal) or 'none'}"
            )
