"""What agents ask of an environment: lanes with milestones."""

from typing import Any, ClassVar, Protocol

import numpy as np
from gymnasium import spaces

from hal.envs.observations import Obs, Step


class Lanes(Protocol):
    """Many environments stepped together, each of which takes a step to reset (next-step).

    `info` has the arrays `milestones`, (lanes, K) bool, what was just collected, and where it is
    told `affordances`, likewise, what is possible now.
    """

    KEPT: ClassVar[tuple[str, ...]]  # what a run keeps to go on exactly; nothing: it begins anew
    metadata: dict[str, Any]
    milestones: tuple[str, ...]
    final_milestone: str | None  # the task; None if there is none
    columns: tuple[int, ...]  # where each milestone is among the environment's own

    @property
    def num_envs(self) -> int:
        """How many lanes there are."""

    @property
    def single_observation_space(self) -> spaces.Space[Any]:
        """What one lane shows."""

    @property
    def single_action_space(self) -> spaces.Space[Any]:
        """What can be done on one lane."""

    @property
    def unwrapped(self) -> Any:
        """The innermost environment."""

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Begin new episodes on all lanes."""

    def step(self, actions: np.ndarray, /) -> Step:
        """Step all lanes."""

    def close(self) -> None:
        """Give back what the environments hold."""
