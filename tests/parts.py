"""Parts of observations for tests: a grid of codes and some counts."""

from typing import Any

import numpy as np
from gymnasium import spaces

from hal.agent.build import background_of, make_agent
from hal.agent.hal import HierarchicalAgent
from hal.agent.options import EndedOptions
from hal.config.presets import make_config
from hal.envs.grid.vector import GridVectorEnv
from hal.envs.observations import Obs, Part, parts_of


def grid_parts(view: tuple[int, int], num_codes: int, num_counts: int) -> tuple[Part, ...]:
    """Return the parts of observations with a view and counts."""
    return parts_of(
        spaces.Dict(
            image=spaces.Box(0, num_codes - 1, view, np.uint8),
            inventory=spaces.Box(0, 999, (num_counts,), np.int16),
        )
    )


def states(codes: list[int]) -> Obs:
    """Return images of one cell that tell the state, and empty inventories."""
    image = np.array(codes, np.uint8).reshape(-1, 1, 1)
    return {"image": image, "inventory": np.zeros((len(codes), 1), np.int16)}


def ended_options(
    subtask: list[int], collected: list[int], steps: int = 1, reward: float = 0.0
) -> EndedOptions:
    """Return options that have ended, one on each of the first lanes."""
    num = len(subtask)
    return EndedOptions(
        np.arange(num),
        np.array(subtask),
        np.array(collected),
        np.full(num, steps),
        np.full(num, reward),
    )


TINY: dict[str, Any] = {  # settings of agents that take seconds
    "num_lanes": 16,
    "steps": 3_000,
    "warmup_steps": 500,
    "replay_steps": 8_000,
    "width": 16,
    "meta_width": 16,
    "context_width": 16,
    "knn_n": 20,
    "filter_every": 500,
    "update_every": 16,
    "meta_every": 16,
    "context_every": 32,
    "batch_windows": 4,
    "horizon": 100,
}


def tiny_agent(method: str = "hal", **overrides: Any) -> tuple[HierarchicalAgent, GridVectorEnv]:
    """Return an agent without experience, and the environment it is for."""
    config = make_config("stick", method, **{**TINY, **overrides})
    env = GridVectorEnv("stick", config.environment.num_envs, max_steps=config.environment.horizon)
    obs, _ = env.reset(seed=0)
    agent = make_agent(config, env, background_of(env, obs))
    assert isinstance(agent, HierarchicalAgent)
    return agent, env


def blank_obs(size: int) -> Obs:
    """Return empty observations of the grid environments."""
    return {"image": np.zeros((size, 11, 11), np.uint8), "inventory": np.zeros((size, 12))}
