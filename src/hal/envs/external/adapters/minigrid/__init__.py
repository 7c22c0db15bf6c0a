"""MiniGrid's tasks with a key, a locked door and something behind it.

Observation: the view, the direction, and which milestones the episode has had. The view is turned
with the agent, so the direction adds a compass, which tells a corridor's two ends apart. It forgets
what is behind, so without the third part agents carry things to and fro. The mission is dropped: it
names the colour of the target, which is the only object of its type. Actions: MiniGrid's without
the last, `done`, which does nothing in these tasks.

Milestones:

key, ball, box  it was picked up
drop            what was carried was put down: only free hands can pick up; not beside the locked
                door, or the quickest way would be to put back the ball that bars it
door            a door without a lock was opened for the first time, so that opening and closing the
                same one brings nothing
unlock          the locked door was unlocked, which opens it too
goal            the goal was reached

The last milestone of a task ends it with MiniGrid's reward.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import TransformObservation

from hal.checks import check_choice
from hal.envs.external.adapters import load
from hal.envs.external.adapters.minigrid.view import View
from hal.envs.external.milestones import RememberedMilestones, RisingMilestones

MILESTONES = {
    "UnlockPickup": ("key", "unlock", "drop", "box"),
    "BlockedUnlockPickup": ("ball", "drop", "key", "unlock", "box"),
    **{
        f"KeyCorridor{size}": ("door", "key", "unlock", "drop", "ball")
        for size in ("S3R1", "S3R2", "S3R3", "S4R3", "S5R3", "S6R3")
    },
    "Unlock": ("key", "unlock"),
    **{f"DoorKey-{size}": ("key", "unlock", "goal") for size in ("5x5", "6x6", "8x8", "16x16")},
}
NAMES = tuple(MILESTONES)
THINGS = ("key", "ball", "box")  # what can be carried
NUM_ACTIONS = 6  # all but the last


def make(name: str, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Return a task of MiniGrid; `name` is its id without `MiniGrid-` and the version."""
    check_choice("MiniGrid task", name, NAMES)
    codes = load("minigrid").core.constants
    env = gymnasium.make(f"MiniGrid-{name}-v0", render_mode=render_mode)
    world: Any = env.unwrapped
    world.gen_obs = View(world).observe
    # What comes after the goal among the objects, lava and the agent, is in none of the views.
    high = (codes.OBJECT_TO_IDX["goal"], len(codes.COLOR_TO_IDX) - 1, len(codes.STATE_TO_IDX) - 1)
    view = spaces.Box(0, np.tile(np.array(high, dtype=np.uint8), (7, 7, 1)), dtype=np.uint8)
    space = spaces.Dict({"image": view, "direction": spaces.Discrete(4)})
    env = TransformObservation(env, _without_mission, space)
    return RememberedMilestones(MiniGridMilestones(env, MILESTONES[name]))


def _without_mission(obs: dict[str, Any]) -> dict[str, Any]:
    return {"image": obs["image"], "direction": obs["direction"]}


class MiniGridMilestones(RisingMilestones):
    """Signals what happens to MiniGrid's objects and doors.

    Args:
        env: the environment.
        names: of the milestones, of those that this module explains; the last is the final one.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], names: Sequence[str]) -> None:
        RecordConstructorArgs.__init__(self, names=names)
        super().__init__(env, names)
        self.final_milestone = names[-1]
        self.action_space = spaces.Discrete(NUM_ACTIONS)
        self._unopened: list[Any] = []

    def levels(self, obs: Any, info: dict[str, Any]) -> Sequence[float]:
        """Return how far each milestone has come."""
        world: Any = self.unwrapped
        if world.step_count == 0:
            self._unopened = [cell for cell in world.grid.grid if _is("door", cell)]
        self._unopened = [door for door in self._unopened if not door.is_open]
        locked = [door for door in self._unopened if door.is_locked]
        is_free = world.carrying is None
        level = {
            **{kind: _is(kind, world.carrying) for kind in THINGS},
            "drop": is_free and not any(_is_barred(door, world.grid) for door in locked),
            "unlock": -len(locked),
            "door": len(locked) - len(self._unopened),
            "goal": _is("goal", world.grid.get(*world.agent_pos)),
        }
        return [level[name] for name in self.milestones]


def _is(kind: str, cell: Any) -> bool:
    return cell is not None and cell.type == kind


def _is_barred(door: Any, grid: Any) -> bool:
    x, y = door.cur_pos
    beside = [grid.get(x + dx, y + dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    return any(_is(kind, cell) for kind in THINGS for cell in beside)
