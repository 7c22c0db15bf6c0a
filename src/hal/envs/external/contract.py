"""The milestone contract: what an environment must do for an agent to learn in it.

An environment says `milestones`, a tuple of names, and `info["milestones"]`, (K,) bool, at every
reset and step. It may say `final_milestone`, one of the names (the last by default) or None where
there is no task, and `info["affordances"]`, (K,) bool.
"""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from hal.envs.external.blame import blaming, forgiving
from hal.envs.external.milestones import check_names
from hal.errors import ContractError

LONGEST_LINE = 300  # arrays are endless
ATTRIBUTES = ("milestones", "final_milestone")
SIGNALS = ("milestones", "affordances")  # what an agent reads of info


def milestones_told(name: str, told: Mapping[str, Any]) -> tuple[tuple[str, ...], str | None]:
    """Return the milestones and the final one, None if there is no task, or say what is wrong.

    Args:
        name: of the environment.
        told: its attributes of the names in `ATTRIBUTES`, as far as it has them.
    """
    if "milestones" not in told:
        raise ContractError(f"{name} has no milestones; legal: an attribute with their names")
    with blaming(name, "milestones"):
        milestones = check_names(told["milestones"])
    final: str | None = told.get("final_milestone", milestones[-1])
    if final is not None and final not in milestones:
        legal = ", ".join(milestones)
        raise ContractError(f"final_milestone {final!r}; legal: None, {legal}")
    return milestones, final


class Contract(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Checks every step of an environment; a breach is a ContractError of one line."""

    def __init__(self, env: gymnasium.Env[Any, Any], name: str) -> None:
        super().__init__(env)
        self.name = name
        told = {key: env.get_wrapper_attr(key) for key in ATTRIBUTES if env.has_wrapper_attr(key)}
        self.milestones, self.final_milestone = milestones_told(name, told)
        # The environment's own attribute may change; what it said first holds.
        self.observation_space = env.observation_space
        if not isinstance(env.action_space, spaces.Discrete):
            raise ContractError(f"{name}: actions are {env.action_space}; legal: Discrete")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        with blaming(self.name, "reset"):
            obs, info = self.env.reset(seed=seed, options=options)
        return obs, self._checked("reset", obs, info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step."""
        with blaming(self.name, "step"):
            obs, reward, terminated, truncated, info = self.env.step(action)
            reward = float(reward)
        if not np.isfinite(reward):
            raise ContractError(f"{self.name}: step's reward is {reward}; legal: finite numbers")
        return obs, reward, bool(terminated), bool(truncated), self._checked("step", obs, info)

    def close(self) -> None:
        """Close it; all that was wanted of it was had."""
        with forgiving(self.name, "close"):
            self.env.close()

    def _checked(self, what: str, obs: Any, info: dict[str, Any]) -> dict[str, Any]:
        """Return the part of info that an agent reads."""
        if not self.observation_space.contains(obs):
            breach = " ".join(find_breach(self.observation_space, obs, "observation").split())
            raise ContractError(f"{self.name}: {what}'s {breach[:LONGEST_LINE]}")
        return checked_signals(self.name, what, info, (len(self.milestones),))


def checked_signals(
    name: str, what: str, info: dict[str, Any], shape: tuple[int, ...]
) -> dict[str, Any]:
    """Return milestones and affordances of an info, or say what is wrong with them."""
    if "milestones" not in info:
        raise ContractError(f'{name}: {what}\'s info has no "milestones"; legal: {shape} bool')
    signals = {}
    for key in SIGNALS:
        if key in info:
            values = np.asarray(info[key])
            if values.shape != shape or values.dtype != np.bool_:
                got = f"{values.shape} {values.dtype}"
                raise ContractError(
                    f'{name}: {what}\'s info["{key}"] is {got}; legal: {shape} bool'
                )
            signals[key] = values
    return signals


def find_breach(space: spaces.Space[Any], obs: Any, path: str) -> str:
    """Return how an observation differs from its space, in words."""
    if isinstance(space, spaces.Dict) and isinstance(obs, dict):
        if obs.keys() != space.keys():
            return f"{path} has the parts {', '.join(obs)}; its space has {', '.join(space)}"
        bad = next(key for key, inner in space.items() if not inner.contains(obs[key]))
        return find_breach(space[bad], obs[bad], f"{path} {bad!r}")
    if not isinstance(space, spaces.Box):
        return f"{path} is {obs!r}, which is not in {space}"
    values = np.asarray(obs)
    if values.shape != space.shape:
        return f"{path} has shape {values.shape}; its space says {space.shape}"
    if not np.can_cast(values.dtype, space.dtype):
        return f"{path} has type {values.dtype}; its space says {space.dtype}"
    if not np.isfinite(values).all():
        return f"{path} has values that are not finite numbers"
    return f"{path} goes from {values.min()} to {values.max()}, out of its space, {space}"
