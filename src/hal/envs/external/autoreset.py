"""When an episode ends: wrappers that make all of Gymnasium's ways one, a step that resets."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

from hal.envs.external.contract import SIGNALS
from hal.envs.observations import Obs, Step, flat, parts_of
from hal.errors import ContractError


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
