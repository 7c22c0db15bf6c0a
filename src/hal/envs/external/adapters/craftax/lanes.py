"""Lanes of Craftax, stepped together in compiled batches.

A batch has a fixed number of lanes, so that a process compiles each game once, whatever asks for
lanes, and a lane does not depend on how many there are: its worlds are drawn by its own seed and
the number of its episode, and a world's chances are in its state. Craftax's own automatic resets
would make a new world for every lane on every step; here one is made where an episode has ended.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from hal.checks import check_choice, checked_seeds
from hal.envs.external.adapters.craftax.chance import quick_choices
from hal.envs.external.adapters.craftax.picture import make_painter
from hal.envs.observations import Obs, Step
from hal.envs.patience import announced

BATCH = 32  # lanes
CACHE = Path.home() / ".cache" / "hal" / "jax"


class Compiled(NamedTuple):
    """A game's functions; what they are given as `states`, of a batch of lanes, is used up."""

    begin: Callable[[np.ndarray], Any]  # a key -> a lane's state
    put: Callable[[Any, int, Any], Any]  # states, which lane, its new state -> states
    step: Callable[[Any, np.ndarray], Any]  # states, actions -> states, achieved, ended twice
    observe: Callable[[Any], Any]  # states (which are kept) -> observations


@cache
def compiled(game: ModuleType) -> Compiled:
    """Return a game's functions, compiled or found in the cache of an earlier process."""
    if jax.config.jax_compilation_cache_dir is None:
        jax.config.update("jax_compilation_cache_dir", str(CACHE))

    def begin(key: Any) -> Any:
        # Some numbers of a new world are weakly typed, and none later: both would be compiled.
        return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.result_type(leaf)), game.begin(key))

    def put(states: Any, lane: Any, state: Any) -> Any:
        return jax.tree.map(lambda leaves, leaf: leaves.at[lane].set(leaf), states, state)

    def step(states: Any, actions: Any) -> Any:
        with quick_choices():
            states, achieved = jax.vmap(game.step)(states, actions)
        return states, achieved, *jax.vmap(game.ending)(states)

    functions = Compiled(
        jax.jit(begin),
        jax.jit(put, donate_argnums=0),
        jax.jit(step, donate_argnums=0),
        jax.jit(jax.vmap(game.observe)),
    )
    with announced("Craftax"):
        state = functions.begin(new_key(0, 0))
        states = functions.put(batch_of(state), 0, state)
        states, *_ = functions.step(states, np.zeros(BATCH, dtype=np.int32))
        functions.observe(states)
    return functions


def new_key(seed: int, num_episodes: int) -> np.ndarray:
    """Return what draws the world of a lane's next episode."""
    return np.random.SeedSequence((seed, num_episodes)).generate_state(2)


def batch_of(state: Any) -> Any:
    """Return the states of a batch of lanes that are all alike."""
    return jax.tree.map(lambda leaf: jnp.stack([leaf] * BATCH), state)


class CraftaxLanes(VectorEnv[Any, Any, Any]):
    """Lanes of a game, each of which takes a step to reset.

    Args:
        game: `classic` or `full`, the module.
        num_envs: how many lanes.
        render_mode: "rgb_array" or nothing.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own form)
        "render_modes": ["rgb_array"],
        "render_fps": 8,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    final_milestone = None

    def __init__(self, game: ModuleType, num_envs: int, render_mode: str | None = None) -> None:
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.num_envs, self.render_mode = num_envs, render_mode
        self.milestones: tuple[str, ...] = game.ACHIEVEMENTS
        collected = spaces.MultiBinary(len(self.milestones))
        self.single_observation_space = spaces.Dict({**game.SPACE.spaces, "collected": collected})
        self.single_action_space = spaces.Discrete(game.NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._game, self._compiled = game, compiled(game)
        self._batches: list[Any] = []  # states
        self._seeds = [0] * num_envs
        self._num_episodes = np.zeros(num_envs, dtype=np.int64)
        self._is_resetting = np.zeros(num_envs, dtype=np.bool_)
        self._collected = np.zeros((num_envs, len(self.milestones)), dtype=np.bool_)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Begin new episodes on all lanes: a number seeds lane i with seed + i."""
        seeds = checked_seeds(seed, self.num_envs)
        super().reset(seed=seeds[0])
        draw = self.np_random.integers
        self._seeds = [int(draw(2**31)) if seed is None else seed for seed in seeds]
        self._num_episodes[:] = 0
        self._is_resetting[:] = self._collected[:] = False
        self._batches = []
        for lane in range(self.num_envs):
            state = self._new_world(lane)
            if lane % BATCH == 0:
                # Lanes too many, which nobody sees, have the first one's world.
                self._batches.append(batch_of(state))
            self._put(lane, state)
        return self._observed(), {"milestones": np.zeros_like(self._collected)}

    def step(self, actions: np.ndarray) -> Step:
        """Take a step on all lanes; those whose episodes had ended begin new ones instead."""
        is_first = self._is_resetting
        achieved, is_terminated, is_up = self._advance(np.asarray(actions))
        for lane in np.flatnonzero(is_first).tolist():
            self._put(lane, self._new_world(lane))
        self._collected[is_first] = False
        milestones = achieved & ~is_first[:, np.newaxis]
        rewards = (milestones & ~self._collected) @ self._game.REWARDS
        self._collected |= milestones
        terminated = is_terminated & ~is_first
        truncated = is_up & ~is_terminated & ~is_first
        self._is_resetting = terminated | truncated
        return self._observed(), rewards, terminated, truncated, {"milestones": milestones}

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return the game's picture of each lane."""
        if self.render_mode != "rgb_array":
            return None
        paint = make_painter(self._game)
        states = [self._batches[lane // BATCH] for lane in range(self.num_envs)]
        return tuple(paint(state, lane % BATCH) for lane, state in enumerate(states))

    def _new_world(self, lane: int) -> Any:
        """Return the state at the beginning of a lane's next episode."""
        key = new_key(self._seeds[lane], int(self._num_episodes[lane]))
        self._num_episodes[lane] += 1
        return self._compiled.begin(key)

    def _put(self, lane: int, state: Any) -> None:
        batch, place = divmod(lane, BATCH)
        self._batches[batch] = self._compiled.put(self._batches[batch], place, state)

    def _advance(self, actions: np.ndarray) -> list[np.ndarray]:
        """Step all batches; return what was achieved, and which episodes ended in which way."""
        padded = np.zeros(len(self._batches) * BATCH, dtype=np.int32)
        padded[: self.num_envs] = actions
        told = []
        for i, states in enumerate(self._batches):
            own = padded[i * BATCH : (i + 1) * BATCH]
            self._batches[i], *signals = self._compiled.step(states, own)
            told.append(signals)
        return [self._joined(arrays) for arrays in zip(*told, strict=True)]

    def _observed(self) -> Obs:
        shown = [self._compiled.observe(states) for states in self._batches]
        obs = {name: self._joined([one[name] for one in shown]) for name in shown[0]}
        return {**obs, "collected": self._collected.astype(np.int8)}

    def _joined(self, arrays: Any) -> np.ndarray:
        """Return an array of all lanes, from one for each batch."""
        return np.concatenate([np.asarray(array) for array in arrays])[: self.num_envs]
