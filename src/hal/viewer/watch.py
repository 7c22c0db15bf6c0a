"""Episodes of a trained agent, moment by moment, with what it believes."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from hal.config.settings import Config, grid_settings
from hal.envs.external.blame import blaming
from hal.envs.external.find import is_external
from hal.envs.grid.single import GridEnv
from hal.envs.lanes import Lanes
from hal.envs.observations import as_batch, pick
from hal.errors import ContractError
from hal.pictures.frame import Scene, Shown, to_png
from hal.runs.lanes import make_lanes
from hal.runs.policy import Policy

ONE_LANE = np.arange(1)


class ExternalEnv:
    """One lane of an environment that is not of this package, to be watched as `GridEnv` is.

    Args:
        config: of the agent that is watched.
    """

    def __init__(self, config: Config) -> None:
        self.title = config.task
        self._lane = _lane_of(config)
        self._max_steps = _limit_of(_single_of(self._lane), config.environment.horizon)
        actions = self._lane.single_action_space
        assert isinstance(actions, spaces.Discrete)
        self.action_numbers = range(int(actions.start), int(actions.start + actions.n))  # its own

    def reset(self, *, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        obs, info = self._lane.reset(seed=seed)
        self._info, self._step = pick(info, 0), 0
        self._action: str | None = None
        return pick(obs, 0), self._info

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Do one action, counted from 0 as agents do."""
        obs, reward, terminated, truncated, info = self._lane.step(np.array([action]))
        self._info, self._step = pick(info, 0), self._step + 1
        self._action = str(self.action_numbers[action])
        return pick(obs, 0), float(reward[0]), bool(terminated[0]), bool(truncated[0]), self._info

    def frame(self) -> Scene:
        """Return the present moment, as the renderers take it."""
        milestones = self._lane.milestones
        collected = np.flatnonzero(self._info["milestones"])
        return Scene(
            title=self.title,
            png=_picture_of(self._lane.unwrapped, self.title),
            milestones=milestones,
            affordances=self._info.get("affordances"),
            step=self._step,
            max_steps=self._max_steps,
            action=self._action,
            # Of several in one step the last is shown: the final one, if it is there.
            collected=milestones[collected[-1]] if collected.size else None,
        )

    def close(self) -> None:
        """Give back what the environment holds."""
        self._lane.close()


def env_of(policy: Policy) -> GridEnv | ExternalEnv:
    """Return the environment an agent was trained for, with the game's full length."""
    if is_external(policy.config.task):
        return ExternalEnv(policy.config)
    return GridEnv(**asdict(grid_settings(policy.config, to_play=True)))


def episode(
    policy: Policy, env: GridEnv | ExternalEnv, seed: int | None, max_steps: int
) -> Iterator[Shown]:
    """Yield the moments of one greedy episode, no more than so many steps."""
    obs, info = env.reset(seed=seed)
    policy.reset()
    is_over = False
    while True:
        (action,), _ = policy.decide(ONE_LANE, as_batch(obs), as_batch(info))
        frame = with_beliefs(env.frame(), policy, obs)
        yield frame
        if is_over or frame.step >= max_steps:
            return
        obs, _, terminated, truncated, info = env.step(int(action))
        is_over = terminated or truncated


def with_beliefs(frame: Shown, policy: Policy, obs: Any) -> Shown:
    """Return a moment with what the agent pursues, holds possible, and expects."""
    config = policy.config
    if config.options.is_flat:
        return frame
    return replace(
        frame,
        subtask=policy.subtasks[0],
        predicted=policy.affordances(obs) if config.has_mask else None,
        # Without a task, nobody has learned what subtasks are worth.
        values=None if config.options.is_agnostic else policy.q_subtasks(obs),
    )


def _lane_of(config: Config) -> Lanes:
    """Return a lane with the signals as the agent knows them, with pictures if it has any."""
    try:
        return make_lanes(config, 1, to_play=True, render_mode="rgb_array")
    except ContractError:  # if it was not for the pictures, the same is raised again
        return make_lanes(config, 1, to_play=True)


def _single_of(lane: Lanes) -> gymnasium.Env[Any, Any] | None:
    """Return a lane's environment; None where somebody else made lanes of it."""
    envs = lane.unwrapped.envs if isinstance(lane.unwrapped, SyncVectorEnv) else [None]
    return envs[0] if isinstance(envs[0], TimeLimit) else None


def _limit_of(single: Any, horizon: int) -> int | None:
    """Return how long an episode can be, if the environment says so itself."""
    # The outermost wrapper is left out: it only keeps to the horizon, mostly far beyond the end.
    spec = None if single is None else single.env.spec
    limit = None if spec is None else spec.max_episode_steps
    return None if limit is None else min(limit, horizon)


def _picture_of(lanes: Any, name: str) -> bytes | None:
    """Return the picture of the only lane, if there is any."""
    if lanes.render_mode != "rgb_array":
        return None
    picture: Any = None
    with blaming(name, "render"), suppress(NotImplementedError):
        (picture,) = lanes.render()
    if picture is None:
        return None
    pixels = np.asarray(picture)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
        got = f"{pixels.dtype} {pixels.shape}"
        raise ContractError(f"{name}: render gave {got}; legal: uint8 (height, width, 3)")
    return to_png(pixels)
