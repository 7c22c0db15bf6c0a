"""Lanes of environments that this package did not write, as agents take them.

All differences end here: what `vectorising.py` made is checked at every step, and has the parts of
observations and the signals that agents know.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv, VectorWrapper

from hal.envs.external.blame import blaming, forgiving
from hal.envs.external.contract import ATTRIBUTES, checked_signals, milestones_told
from hal.envs.observations import Obs, Step, flat, parts_of
from hal.errors import ContractError


class ExternalLanes(VectorWrapper[Any, Any, Any]):
    """Lanes with their parts of observations, the chosen milestones, the final one as the last.

    Args:
        env: the lanes.
        name: what to call them where something is wrong.
        chosen: milestones to signal; all of them if empty.
        is_dense: whether to add 1/K to the reward at each milestone's first time in an episode.
    """

    KEPT: ClassVar[
        tuple[str, ...]
    ] = ()  # nobody knows how to keep their state: who resumes a run begins new episodes

    def __init__(
        self, env: VectorEnv[Any, Any, Any], name: str, chosen: Sequence[str], is_dense: bool
    ) -> None:
        super().__init__(env)
        self.name = name
        names, self.final_milestone = _milestones_of(env, name)
        self.milestones = _in_order(names, self.final_milestone, chosen)
        self.columns = tuple(names.index(milestone) for milestone in self.milestones)
        self._num_signals = len(names)
        self._parts = parts_of(env.single_observation_space)
        self._is_dense = is_dense
        self._is_achieved = np.zeros((env.num_envs, len(self.milestones)), dtype=np.bool_)
        self._is_resetting = np.zeros(env.num_envs, dtype=np.bool_)
        if not isinstance(env.single_action_space, spaces.Discrete):
            raise ContractError(f"{name}: actions are {env.single_action_space}; legal: Discrete")
        self._first_action = int(env.single_action_space.start)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Begin new episodes on all lanes."""
        self._is_achieved[:] = self._is_resetting[:] = False
        with blaming(self.name, "reset"):
            obs, info = self.env.reset(seed=seed, options=options)
        return self._observed("reset", obs), self._signals("reset", info)

    def step(self, actions: np.ndarray) -> Step:
        """Step all lanes."""
        with blaming(self.name, "step"):
            obs, reward, terminated, truncated, info = self.env.step(actions + self._first_action)
        signals = self._signals("step", info)
        reward = self._checked("reward", reward, np.number)
        terminated = self._checked("terminated", terminated, np.bool_)
        truncated = self._checked("truncated", truncated, np.bool_)
        if self._is_dense:
            reward = reward + self._first_times(signals["milestones"])
        self._is_resetting = (terminated | truncated) & ~self._is_resetting
        return self._observed("step", obs), reward, terminated, truncated, signals

    def close(self, **kwargs: Any) -> None:
        """Close all lanes; all that was wanted of them was had."""
        try:
            with forgiving(self.name, "close"):
                self.env.close(**kwargs)
        finally:
            self.env.closed = True  # or it is tried again when nobody can stop it any more

    def _checked(self, what: str, values: Any, kind: Any) -> np.ndarray:
        """Return one number for each lane, or say what is wrong with them."""
        values = np.asarray(values)
        is_right = values.shape == (self.num_envs,) and np.issubdtype(values.dtype, kind)
        if not is_right or not np.isfinite(values).all():
            got = f"{values.shape} {values.dtype}"
            legal = f"({self.num_envs},) finite {kind.__name__}"
            raise ContractError(f"{self.name}: step's {what} is {got}; legal: {legal}")
        return values

    def _first_times(self, collected: np.ndarray) -> np.ndarray:
        """Return the share of the milestones that each lane has collected for the first time."""
        self._is_achieved[self._is_resetting] = False
        is_first: np.ndarray = collected & ~self._is_achieved & ~self._is_resetting[:, np.newaxis]
        self._is_achieved |= is_first
        return is_first.mean(axis=1)

    def _observed(self, what: str, obs: Any) -> Obs:
        """Return copies of an observation's parts: an environment may write to its own again."""
        parts = flat(obs, self._parts)
        for part in self._parts:
            values, shape = parts[part.name], (self.num_envs, *part.shape)
            fault = ""
            if values.shape != shape or not np.can_cast(values.dtype, part.dtype, "same_kind"):
                fault = f"is {values.shape} {values.dtype}; its space says {shape} {part.dtype}"
            # Beyond these, codes would be other cells' and numbers would spoil all weights.
            elif not part.is_legal(values):
                fault = f"goes from {values.min()} to {values.max()}, out of its space"
            if fault:
                raise ContractError(f"{self.name}: {what}'s observation {part.name} {fault}")
            parts[part.name] = values.astype(part.dtype)
        return parts

    def _signals(self, what: str, info: dict[str, Any]) -> dict[str, Any]:
        shape = (self.num_envs, self._num_signals)
        signals = checked_signals(self.name, what, info, shape)
        return {key: values[:, list(self.columns)] for key, values in signals.items()}


def _milestones_of(env: VectorEnv[Any, Any, Any], name: str) -> tuple[tuple[str, ...], str | None]:
    """Return the milestones and the final one that lanes tell, or their environments."""
    while isinstance(env, VectorWrapper) and not hasattr(env, "milestones"):
        env = env.env
    if isinstance(env, SyncVectorEnv | AsyncVectorEnv):
        keys = [key for key in ATTRIBUTES if env.call("has_wrapper_attr", key)[0]]
        return milestones_told(name, {key: env.get_attr(key)[0] for key in keys})
    return milestones_told(
        name, {key: getattr(env, key) for key in ATTRIBUTES if hasattr(env, key)}
    )


def _in_order(names: tuple[str, ...], final: str | None, chosen: Sequence[str]) -> tuple[str, ...]:
    for name in chosen:
        if name not in names:
            raise ValueError(f"unknown milestone {name!r}; legal: {', '.join(names)}")
    if chosen and final is not None and final not in chosen:
        raise ValueError(f"the milestones {list(chosen)} lack the final one, {final!r}")
    kept = [name for name in chosen or names if name != final]
    return (*kept, final) if final is not None else tuple(kept)
