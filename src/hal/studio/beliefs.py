"""What an agent believes of many states at once: affordances, values, what its actions are worth.

`episode.py` has the states; `pack.py` sends the answers to the page.
"""

from typing import NamedTuple

import numpy as np
import torch

from hal.agent.hal import HierarchicalAgent
from hal.agent.protocol import Agent
from hal.envs.observations import Obs


class Beliefs(NamedTuple):
    """Of n states; None where the method has no such thing."""

    probability: np.ndarray | None  # (n, K) f(s), of learned affordances
    afforded: np.ndarray | None  # (n, K) bool, what the mask keeps
    values: np.ndarray | None  # (n, K) the meta-controller's
    actions: np.ndarray  # (n, actions) the controller's, for the present subtask


def believe(agent: Agent, obs: Obs, subtask: np.ndarray, truth: np.ndarray | None) -> Beliefs:
    """Return what an agent believes where (n,) subtasks are pursued and (n, K) is the truth."""
    actions = action_values(agent, obs, subtask)
    if not isinstance(agent, HierarchicalAgent):
        return Beliefs(None, None, None, actions)
    probability = None if agent.affordances is None else agent.affordances.probabilities(obs)
    has_mask = agent.config.affordances.mask != "none"
    afforded = agent.afforded(obs, truth) if has_mask else None
    # Without a task, nobody has learned what subtasks are worth.
    values = None if agent.config.options.is_agnostic else agent.meta.values(obs)
    return Beliefs(probability, afforded, values, actions)


@torch.no_grad()
def action_values(agent: Agent, obs: Obs, subtask: np.ndarray) -> np.ndarray:
    """Return what actions are worth for these subtasks, (n, actions)."""
    controller = agent.controller
    features = controller.encoder(obs, agent.controller.device)
    task = agent.task if isinstance(agent, HierarchicalAgent) else None
    goals = np.minimum(subtask, len(agent.milestones) - 1) if task else subtask
    values: np.ndarray = controller.judged(features, torch.from_numpy(goals)).numpy()
    if task is not None:
        whole = task.controller.judged(features, torch.zeros(len(goals), dtype=torch.int64))
        at_task = subtask == len(agent.milestones)
        values = np.where(at_task[:, np.newaxis], whole.numpy(), values)
    return values
