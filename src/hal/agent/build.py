"""Agents from a config and an environment: the encoder its observations ask for, and the kind."""

import numpy as np
import torch
from gymnasium import spaces

from hal.agent.base import EnvFacts
from hal.agent.hal import HierarchicalAgent
from hal.agent.memory import check_memory
from hal.agent.networks.cells import Cells
from hal.agent.networks.convolution import PlaneEncoder
from hal.agent.networks.embedding import BagEncoder
from hal.agent.networks.encoder import Encoder
from hal.agent.options import NONE
from hal.agent.protocol import Agent
from hal.agent.rainbow import RainbowAgent
from hal.config.presets import WITHOUT_TASK
from hal.config.settings import Config, NetworkSettings
from hal.envs.lanes import Lanes
from hal.envs.observations import Obs, Part, parts_of


def background_of(env: Lanes, obs: Obs) -> np.ndarray:
    """Return the code that most cells have in a batch of observations, by channel."""
    return Cells(parts_of(env.single_observation_space)).background(obs)


def make_encoder(
    networks: NetworkSettings, parts: tuple[Part, ...], background: np.ndarray
) -> Encoder:
    """Return the encoder of a kind of networks."""
    if networks.torso == "convolution":
        return PlaneEncoder(parts, background)
    return BagEncoder(parts, background, networks.num_interests)


def make_agent(config: Config, env: Lanes, background: np.ndarray) -> Agent:
    """Return a new agent for an environment in which most cells have the background's codes."""
    # So small networks lose more by threads that wait for each other than they gain, on a busy
    # machine a hundredfold.
    torch.set_num_threads(1)
    parts = parts_of(env.single_observation_space)
    check_memory(config, parts, len(env.milestones))
    facts = facts_of(env)
    needs_success = config.meta.waits or config.anneals_by_success
    has_choice = not (config.options.is_agnostic or config.options.is_flat)
    if facts.final == NONE and needs_success and has_choice:
        what = f"{config.task} has no final milestone, so {config.method} has no task"
        raise ValueError(f"{what}; legal: {WITHOUT_TASK}")
    encoder = make_encoder(config.networks, parts, background)
    kind = RainbowAgent if config.options.is_flat else HierarchicalAgent
    return kind(config, encoder, facts)


def facts_of(env: Lanes) -> EnvFacts:
    """Return what an agent knows of an environment."""
    actions = env.single_action_space
    assert isinstance(actions, spaces.Discrete)
    final = NONE if env.final_milestone is None else env.milestones.index(env.final_milestone)
    return EnvFacts(int(actions.n), env.milestones, final, env.columns, int(actions.start))
