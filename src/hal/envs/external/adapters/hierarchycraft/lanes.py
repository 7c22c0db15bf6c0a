"""Lanes of MineHcraft."""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from hal.checks import check_choice, checked_seeds
from hal.envs.external.adapters.hierarchycraft.kernels import step_lanes, tell_afforded
from hal.envs.external.adapters.hierarchycraft.needs import NONE, milestones_of
from hal.envs.external.adapters.hierarchycraft.picture import Painter
from hal.envs.external.adapters.hierarchycraft.rules import Rules
from hal.envs.observations import Obs, Step
from hal.envs.patience import announced

MAX_STEPS = 500  # of an episode; the way to the diamond takes some 60


class MineHcraftLanes(VectorEnv[Any, Any, Any]):
    """Lanes that are stepped together, each of which takes a step to reset.

    Args:
        world: HierarchyCraft's, of which pictures are made.
        rules: of that world.
        task: the item that ends an episode, if there is a task.
        num_envs: how many lanes.
        render_mode: "rgb_array" or nothing.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own form)
        "render_modes": ["rgb_array"],
        "render_fps": 4,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self, world: Any, rules: Rules, task: str | None, num_envs: int, render_mode: str | None
    ) -> None:
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.num_envs, self.render_mode = num_envs, render_mode
        self.milestones, self._milestone_of = milestones_of(rules, task)
        self.final_milestone = task
        self._world, self._rules = world, rules
        num_things = len(rules.things)
        self.single_observation_space = spaces.Dict(
            {
                "held": _counts(len(rules.items)),
                "zone": spaces.Discrete(len(rules.zones)),
                "standing_here": _counts(num_things),
                "standing": _counts(len(rules.zones) * num_things),
                "collected": spaces.MultiBinary(len(self.milestones)),
            }
        )
        self.single_action_space = spaces.Discrete(len(rules.actions))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._first_afforded = np.zeros(len(self.milestones), dtype=np.bool_)
        with announced("HierarchyCraft"):
            tell_afforded(
                rules.arrays,
                rules.start,
                rules.start_zone,
                self._milestone_of,
                self._first_afforded,
            )
        self._counts = np.tile(rules.start, (num_envs, 1))
        self._zones = np.full(num_envs, rules.start_zone)
        self._num_steps = np.zeros(num_envs, dtype=np.int64)
        self._is_resetting = np.zeros(num_envs, dtype=np.bool_)
        self._afforded = np.zeros((num_envs, len(self.milestones)), dtype=np.bool_)
        self._collected = np.zeros_like(self._afforded)
        with announced("HierarchyCraft"):
            beginning = rules.arrays, rules.start, rules.start_zone
            tell_afforded(*beginning, self._milestone_of, self._first_afforded)
            self._advance(np.full(num_envs, NONE))

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Begin new episodes on all lanes, all alike: nothing is left to chance."""
        super().reset(seed=checked_seeds(seed, self.num_envs)[0])
        self._begin(np.ones(self.num_envs, dtype=np.bool_))
        return self._observed(), self._told(np.zeros_like(self._collected))

    def step(self, actions: np.ndarray) -> Step:
        """Take a step on all lanes; those whose episodes had ended begin new ones instead."""
        is_first = self._is_resetting
        milestones = self._advance(np.where(is_first, NONE, actions))
        self._begin(is_first)
        self._num_steps[~is_first] += 1
        is_won = np.zeros(self.num_envs, dtype=np.bool_)
        if self.final_milestone is None:
            rewards = (milestones & ~self._collected).sum(axis=1, dtype=np.float64)
        else:
            is_won = milestones[:, -1]
            rewards = is_won.astype(np.float64)
        self._collected |= milestones
        is_up = (self._num_steps >= MAX_STEPS) & ~is_won
        self._is_resetting = is_won | is_up
        return self._observed(), rewards, is_won, is_up, self._told(milestones)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return a picture of each lane."""
        if self.render_mode != "rgb_array":
            return None
        paint = Painter(self._world, self._rules)
        return tuple(map(paint, self._counts, self._zones))

    def _begin(self, lanes: np.ndarray) -> None:
        self._counts[lanes], self._zones[lanes] = self._rules.start, self._rules.start_zone
        self._afforded[lanes] = self._first_afforded
        self._collected[lanes] = False
        self._num_steps[lanes] = 0
        self._is_resetting = np.zeros(self.num_envs, dtype=np.bool_)

    def _advance(self, actions: np.ndarray) -> np.ndarray:
        """Step those lanes that have an action; return the milestones of that step."""
        milestones = np.zeros_like(self._collected)
        state = self._counts, self._zones
        told = milestones, self._afforded
        step_lanes(self._rules.arrays, *state, actions, self._milestone_of, *told)
        return milestones

    def _told(self, milestones: np.ndarray) -> dict[str, Any]:
        return {"milestones": milestones, "affordances": self._afforded.copy()}

    def _observed(self) -> Obs:
        held, standing = np.split(self._counts, [len(self._rules.items)], axis=1)
        by_zone = standing.reshape(self.num_envs, len(self._rules.zones), -1)
        return {
            "held": held.copy(),
            "zone": self._zones.copy(),
            "standing_here": by_zone[np.arange(self.num_envs), self._zones],
            "standing": standing.copy(),
            "collected": self._collected.astype(np.int8),
        }


def _counts(size: int) -> spaces.Box:
    return spaces.Box(0, np.iinfo(np.int32).max, (size,), np.int32)
