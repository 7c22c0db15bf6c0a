"""Worlds that can be left and returned to: our games by their state, others by the way there."""

from dataclasses import asdict
from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium.vector import AutoresetMode

from hal.config.settings import Config, grid_settings
from hal.envs.external.find import is_external
from hal.envs.grid.edits import Edit, apply
from hal.envs.grid.lanes import afford
from hal.envs.grid.vector import GridVectorEnv
from hal.envs.observations import Obs, as_batch
from hal.pictures.frame import Shown
from hal.viewer.watch import ExternalEnv

State = Any  # what a world needs to return to


class Seen(NamedTuple):
    """What a world shows at a moment; observations and signals have a leading axis of 1."""

    obs: Obs
    signals: dict[str, np.ndarray]  # milestones and, where they are told, affordances
    shown: Shown
    state: State
    is_over: bool


class World(Protocol):
    """One lane of an environment."""

    actions: tuple[str, ...]
    can_edit: bool

    def reset(self, seed: int) -> Seen:
        """Begin an episode."""

    def step(self, action: int) -> Seen:
        """Do an action, counted from 0."""

    def go_back(self, state: State) -> None:
        """Return to a moment."""

    def edit(self, edit: Edit) -> Seen:
        """Change the present state."""

    def close(self) -> None:
        """Give back what the environment holds."""


class GridWorld:
    """A world of this package's games."""

    can_edit = True

    def __init__(self, config: Config) -> None:
        settings = grid_settings(config, to_play=True)
        self._lanes = GridVectorEnv(autoreset_mode=AutoresetMode.DISABLED, **asdict(settings))
        self._for_kernels = settings.for_kernels()
        self.game = self._lanes.game
        self.actions = self.game.actions

    def reset(self, seed: int) -> Seen:
        """Begin an episode."""
        return self._seen(*self._lanes.reset(seed=seed))

    def step(self, action: int) -> Seen:
        """Do an action, counted from 0."""
        obs, _, _, _, info = self._lanes.step(np.array([action]))
        return self._seen(obs, info)

    def go_back(self, state: State) -> None:
        """Return to a moment."""
        self._lanes.state[0] = state

    def edit(self, edit: Edit) -> Seen:
        """Change the present state; what it affords follows from the rules."""
        lane = self._lanes.state[0]
        apply(edit, self.game, lane)
        lane.is_done = False
        afford(self._for_kernels, lane)
        return self._seen(*self._lanes.reset(options={"reset_mask": np.zeros(1, np.bool_)}))

    def close(self) -> None:
        """Give back what the environment holds."""
        self._lanes.close()

    def _seen(self, obs: Obs, info: dict[str, Any]) -> Seen:
        lane = self._lanes.state[0]
        return Seen(obs, info, self._lanes.frame(), lane.copy(), bool(lane.is_done))


class ExternalWorld:
    """A world of somebody else's environment, whose state is the seed and the actions so far."""

    can_edit = False

    def __init__(self, config: Config) -> None:
        self._env = ExternalEnv(config)
        self.actions = tuple(map(str, self._env.action_numbers))
        self._seed = 0
        self._done: tuple[int, ...] = ()

    def reset(self, seed: int) -> Seen:
        """Begin an episode."""
        self._seed, self._done = seed, ()
        return self._seen(*self._env.reset(seed=seed), is_over=False)

    def step(self, action: int) -> Seen:
        """Do an action, counted from 0."""
        obs, _, terminated, truncated, info = self._env.step(action)
        self._done = (*self._done, action)
        return self._seen(obs, info, terminated or truncated)

    def go_back(self, state: State) -> None:
        """Return to a moment by the same way; refuse where that leads elsewhere."""
        seed, actions, before = state
        if (seed, actions) == (self._seed, self._done):
            return
        seen = self.reset(seed)
        for action in actions:
            seen = self.step(action)
        if any(not np.array_equal(values, before[name]) for name, values in seen.obs.items()):
            raise ValueError("this environment does not repeat itself; legal: the last step")

    def edit(self, edit: Edit) -> Seen:
        """Refuse: nobody knows this environment's state."""
        raise ValueError("the state of this environment is not known; legal: this package's games")

    def close(self) -> None:
        """Give back what the environment holds."""
        self._env.close()

    def _seen(self, obs: Any, info: dict[str, Any], is_over: bool) -> Seen:
        batch = as_batch(obs)
        state = (self._seed, self._done, batch)
        return Seen(batch, as_batch(info), self._env.frame(), state, is_over)


def make_world(config: Config) -> World:
    """Return a world of a config's environment, to its full length."""
    return ExternalWorld(config) if is_external(config.task) else GridWorld(config)
