"""Lanes of environments that this package did not write, as agents take them.

All differences end here: between one environment and many, between Gymnasium's ways to begin the
next episode, between infos.
"""

import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from multiprocessing import parent_process
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper

from hal.envs.contract import SIGNALS, blaming, checked_signals, final_of
from hal.envs.milestones import check_names
from hal.errors import ContractError
from hal.observations import Obs, flat, has_text, parts_of

Step = tuple[Obs, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]


def vectorised(
    make: Callable[[], gymnasium.Env[Any, Any]], num_envs: int, use_processes: bool
) -> VectorEnv[Any, Any, Any]:
    """Return many lanes of an environment, by Gymnasium's own means."""
    if use_processes:
        gymnasium.logger.min_level = gymnasium.logger.ERROR + 1  # faults are told in one line
        with closing(make()) as one:
            can_share = not has_text(one.observation_space)
        return AsyncVectorEnv(
            [partial(_in_a_process, make)] * num_envs,
            shared_memory=can_share,
            autoreset_mode=AutoresetMode.NEXT_STEP,
        )
    return SyncVectorEnv([make] * num_envs, autoreset_mode=AutoresetMode.NEXT_STEP)


def _in_a_process(make: Callable[[], gymnasium.Env[Any, Any]]) -> gymnasium.Env[Any, Any]:
    """Make an environment in a process of its own, which leaves it to its parent to be stopped."""
    if parent_process() is not None:
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    return make()


class OneEpisode(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Stands still after an episode, until a reset with a seed: nobody looks at it any more.

    Lanes of which some are done would otherwise go on with all: a few that take long cost more than
    all the others.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self._is_over = False
        self._last: tuple[Any, dict[str, Any]] = (None, {})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode if there is a seed, or none has been played."""
        if seed is None and self._is_over:
            return self._last
        self._is_over = False
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step, unless the episode is over."""
        if self._is_over:
            obs, info = self._last
            return obs, 0.0, False, False, info
        obs, reward, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            self._is_over = True
            self._last = obs, {**info, "milestones": np.zeros_like(info["milestones"])}
        return obs, reward, terminated, truncated, info


class NextStep(VectorWrapper[Any, Any, Any]):
    """Makes lanes that reset at once, or never by themselves, take a step for it.

    Where an episode ends, the step returns its last observation. The next step of that lane, which
    an agent does not count, is the first of the new episode.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self._resets_itself = env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        self.metadata = {**env.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}
        self._is_resetting = np.zeros(env.num_envs, dtype=np.bool_)
        self._parts = parts_of(env.single_observation_space)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Begin new episodes."""
        self._is_resetting[:] = False
        obs, info = self.env.reset(seed=seed, options=options)
        return flat(obs, self._parts), info

    def step(self, actions: Any) -> Step:
        """Take a step."""
        obs, reward, terminated, truncated, info = self.env.step(actions)
        obs = {name: values.copy() for name, values in flat(obs, self._parts).items()}
        is_first = self._is_resetting
        has_ended = terminated | truncated
        self._is_resetting = has_ended & ~is_first
        if self._resets_itself and self._is_resetting.any():
            info = self._bring_back(obs, info, self._is_resetting)
        elif has_ended.any() and not self._resets_itself:
            new, _ = self.env.reset(options={"reset_mask": has_ended})
            for name, values in flat(new, self._parts).items():
                obs[name][has_ended & is_first] = values[has_ended & is_first]
        return obs, reward, terminated & ~is_first, truncated & ~is_first, info

    def _bring_back(self, obs: Obs, info: dict[str, Any], has_ended: np.ndarray) -> dict[str, Any]:
        """Set observations to the last ones of ended episodes; return info with their signals."""
        final_obs, final_info = info["final_obs"], info["final_info"]
        if "milestones" not in final_info:
            raise ContractError(
                'step\'s info["final_info"] has no "milestones"; legal: the last step\'s'
            )
        for lane in np.flatnonzero(has_ended):
            is_batch = isinstance(final_obs, Mapping)
            last = flat(final_obs if is_batch else final_obs[lane], self._parts)
            for name, values in last.items():
                obs[name][lane] = values[lane] if is_batch else values
        signals = {
            key: np.where(has_ended[:, np.newaxis], final_info[key], info[key])
            for key in SIGNALS
            if key in info
        }
        return info | signals


class ForeignLanes(VectorWrapper[Any, Any, Any]):
    """Lanes with their parts of observations, the chosen milestones, the final one as the last.

    Args:
        env: the lanes.
        name: what to call them where something is wrong.
        chosen: milestones to signal; all of them if empty.
        is_dense: whether to add 1/K to the reward at each milestone's first time in an episode.
    """

    KEPT = ()  # nobody knows how to keep their state: who resumes a run begins new episodes

    def __init__(
        self, env: VectorEnv[Any, Any, Any], name: str, chosen: Sequence[str], is_dense: bool
    ) -> None:
        super().__init__(env)
        self.name = name
        names, self.final_milestone = _milestones_of(env, name)
        self.milestones = _in_order(names, self.final_milestone, chosen)
        self.columns = [names.index(milestone) for milestone in self.milestones]
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
        return {key: values[:, self.columns] for key, values in signals.items()}


def _milestones_of(env: VectorEnv[Any, Any, Any], name: str) -> tuple[tuple[str, ...], str | None]:
    """Return the milestones and the final one that lanes tell, or their environments."""
    while isinstance(env, VectorWrapper) and not hasattr(env, "milestones"):
        env = env.env
    owner: Any = env
    if isinstance(env, SyncVectorEnv | AsyncVectorEnv):
        keys = ("milestones", "final_milestone")
        told = [key for key in keys if env.call("has_wrapper_attr", key)[0]]
        owner = SimpleNamespace(**{key: env.get_attr(key)[0] for key in told})
    if not hasattr(owner, "milestones"):
        raise ContractError(f"{name} has no milestones; legal: an attribute with their names")
    with blaming(name, "milestones"):
        names = check_names(owner.milestones)
    return names, final_of(owner, names)


def _in_order(names: tuple[str, ...], final: str | None, chosen: Sequence[str]) -> tuple[str, ...]:
    for name in chosen:
        if name not in names:
            raise ValueError(f"unknown milestone {name!r}; legal: {', '.join(names)}")
    if chosen and final is not None and final not in chosen:
        raise ValueError(f"the milestones {list(chosen)} lack the final one, {final!r}")
    kept = [name for name in chosen or names if name != final]
    return (*kept, final) if final is not None else tuple(kept)
