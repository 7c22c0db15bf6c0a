"""The training loop: env.step -> agent.observe -> agent.update -> log."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from hal.agent.convolution import PlaneEncoder
from hal.agent.embedding import BagEncoder
from hal.agent.hierarchical import HierarchicalAgent
from hal.agent.rainbow import RainbowAgent
from hal.config import MOST_LANES, Config
from hal.envs import GridVectorEnv

Agent = HierarchicalAgent | RainbowAgent
Report = Callable[[dict[str, Any], Agent], None]


def background_of(image: np.ndarray) -> int:
    """Return the code that most cells of some images have."""
    return int(np.bincount(image.ravel()).argmax())


def make_agent(config: Config, env: GridVectorEnv, background: int) -> Agent:
    """Return a new agent for an environment in which most cells have the background's code."""
    space, action_space = env.single_observation_space, env.single_action_space
    assert isinstance(space, spaces.Dict)
    assert isinstance(action_space, spaces.Discrete)
    cells, counts = space["image"], space["inventory"]
    assert isinstance(cells, spaces.Box)
    assert isinstance(counts, spaces.Box)
    kind_of_encoder = {"embedding": BagEncoder, "convolution": PlaneEncoder}[config.torso]
    num_codes = int(cells.high.max()) + 1
    encoder = kind_of_encoder(cells.shape, num_codes, counts.shape[0], background)
    kind = RainbowAgent if config.is_flat else HierarchicalAgent
    return kind(config, encoder, int(action_space.n), env.milestones)


def train(config: Config, report: Report, report_every: int = 50_000) -> Agent:
    """Train an agent; report metrics and the agent every so many environment steps."""
    torch.set_num_threads(1)
    env = GridVectorEnv(num_envs=config.num_lanes, **asdict(config.env_options()))
    obs, info = env.reset(seed=config.seed * MOST_LANES)
    agent = make_agent(config, env, background_of(obs["image"]))
    seconds, start, next_report = 0.0, time.process_time(), report_every
    while agent.num_steps < config.steps:
        actions = agent.act(obs, info)
        obs, reward, terminated, truncated, info = env.step(actions)
        agent.observe(obs, reward, terminated, truncated, info)
        agent.update()
        if agent.num_steps >= next_report or agent.num_steps >= config.steps:
            next_report += report_every
            seconds += time.process_time() - start  # reporting and evaluating do not count
            report(
                {
                    "steps": agent.num_steps,
                    "cpu_seconds": round(seconds, 3),
                    "steps_per_second": round(agent.num_steps / seconds),
                    "updates_per_second": round(agent.num_updates / seconds, 1),
                    **agent.tally.take(),
                },
                agent,
            )
            start = time.process_time()
    return agent
