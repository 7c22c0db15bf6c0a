"""Craftax: Crafter's open world on JAX, whose achievements are the milestones; there is no task.

`classic` has Crafter's rules and 22 achievements; `full` adds eight floors below the ground, magic
and a last enemy, 67 achievements in all. Both show symbols: the cells around the player by what
they are and who stands on them, the one in front again, what is carried and needed, and which
achievements the episode has had. The reward is for first times: 1 each, in `full` 1, 3, 5 or 8 by
how hard they are. (Craftax's own also counts a tenth of each point of health.)

A game's module, `classic.py` or `full.py`, says what one lane does; `lanes.py` makes lanes of it.
Both need JAX, which takes seconds to import, and are imported when lanes are made.
"""

from importlib import import_module
from typing import Any

from gymnasium.vector import VectorEnv

from hal.checks import check_choice
from hal.envs.external.adapters import load

NAMES = ("classic", "full")


def make(name: str, num_envs: int, render_mode: str | None = None) -> VectorEnv[Any, Any, Any]:
    """Return lanes of one of the two games."""
    check_choice("Craftax game", name, NAMES)
    load("craftax")
    game = import_module(f"{__name__}.{name}")
    lanes: VectorEnv[Any, Any, Any] = import_module(f"{__name__}.lanes").CraftaxLanes(
        game, num_envs, render_mode
    )
    return lanes
