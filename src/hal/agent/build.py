"""Agents from a config and an environment: the encoder its observations ask for, and the kind."""

import numpy as np
from gymnasium import spaces

from hal.agent.convolution import PlaneEncoder
from hal.agent.embedding import BagEncoder
from hal.agent.hierarchical import HierarchicalAgent
from hal.agent.rainbow import RainbowAgent
from hal.config import Config
from hal.envs import GridVectorEnv

Agent = HierarchicalAgent | RainbowAgent


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
