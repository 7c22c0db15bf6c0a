"""Agents from a config and an environment: the encoder its observations ask for, and the kind."""

import numpy as np
from gymnasium import spaces

from hal.agent.base import EnvFacts
from hal.agent.convolution import PlaneEncoder
from hal.agent.embedding import BagEncoder
from hal.agent.hierarchical import HierarchicalAgent
from hal.agent.rainbow import RainbowAgent
from hal.agent.replay import NONE
from hal.config import WITHOUT_TASK, Config
from hal.envs.foreign import ForeignLanes
from hal.make import Lanes
from hal.observations import Cells, Obs, Part, parts_of

GB = 10**9
MOST_BYTES = 8 * GB  # of observations that an agent keeps

Agent = HierarchicalAgent | RainbowAgent


def background_of(env: Lanes, obs: Obs) -> np.ndarray:
    """Return the code that most cells have in a batch of observations, by channel."""
    return Cells(parts_of(env.single_observation_space)).background(obs)


def check_memory(config: Config, parts: tuple[Part, ...], num_milestones: int) -> None:
    """Refuse to keep more observations than a machine has room for; pictures are large."""
    bytes_each = sum(part.size * part.dtype.itemsize for part in parts)
    num_kept = config.replay_steps
    if not config.is_flat:
        num_kept += 2 * config.meta_replay + 2 * config.examples * num_milestones
    total = num_kept * bytes_each
    if total > MOST_BYTES:
        what = f"{num_kept:,} observations of {bytes_each:,} bytes are {total / GB:.0f} GB"
        fields = "replay_steps, meta_replay and examples"
        raise ValueError(f"{what}; legal: up to {MOST_BYTES // GB} GB, by smaller {fields}")


def make_agent(config: Config, env: Lanes, background: np.ndarray) -> Agent:
    """Return a new agent for an environment in which most cells have the background's codes."""
    parts = parts_of(env.single_observation_space)
    check_memory(config, parts, len(env.milestones))
    kind_of_encoder = {"embedding": BagEncoder, "convolution": PlaneEncoder}[config.torso]
    action_space = env.single_action_space
    assert isinstance(action_space, spaces.Discrete)
    final = NONE if env.final_milestone is None else env.milestones.index(env.final_milestone)
    needs_success = config.meta_waits or config.anneals_by_success
    if final == NONE and needs_success and not (config.is_agnostic or config.is_flat):
        what = f"{config.task} has no final milestone, so {config.method} has no task"
        raise ValueError(f"{what}; legal: {WITHOUT_TASK}")
    kind = RainbowAgent if config.is_flat else HierarchicalAgent
    columns = env.columns if isinstance(env, ForeignLanes) else range(len(env.milestones))
    num_actions, first_action = int(action_space.n), int(action_space.start)
    facts = EnvFacts(num_actions, env.milestones, final, tuple(columns), first_action)
    return kind(config, kind_of_encoder(parts, background), facts)
