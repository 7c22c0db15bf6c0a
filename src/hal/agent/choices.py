"""How the next subtask is chosen: what an agent believes, the mask, epsilon^2-greedy choice.

The paper's Sect. 6, "Method overview", and Alg. 1, lines 15 to 21.
"""

from typing import NamedTuple

import numpy as np

from hal.agent.schedules import Exploration
from hal.config.settings import OptionSettings


class Beliefs(NamedTuple):
    """What an agent holds true where it chooses subtasks, (choices, K) each."""

    afforded: np.ndarray  # bool
    mask: np.ndarray  # bool, what is considered: what is afforded or, where nothing is, everything
    values: np.ndarray

    @classmethod
    def of(cls, afforded: np.ndarray, values: np.ndarray) -> "Beliefs":
        """Return them with the mask that follows."""
        return cls(afforded, mask_of(afforded), values)


class Choice(NamedTuple):
    """Subtasks that were chosen, an entry each."""

    lanes: np.ndarray
    subtask: np.ndarray
    beliefs: Beliefs | None  # what it rests on; None for a flat agent, which has no choice


def mask_of(afforded: np.ndarray, otherwise: np.ndarray | bool = True) -> np.ndarray:
    """Return which subtasks are considered, (batch, K) bool; never none."""
    return np.where(afforded.any(axis=1, keepdims=True), afforded, otherwise)


def rarity(counts: np.ndarray, kind: str) -> np.ndarray:
    """Return how much a random choice prefers each milestone, by how often each was collected."""
    if kind == "inverse":
        return (counts.max() + 1.0) / (counts + 1.0)
    if kind == "difference":
        return counts.max() - counts + 1.0
    return np.ones(counts.size)


def choose(
    beliefs: Beliefs,
    failed: np.ndarray,
    preference: np.ndarray,
    settings: OptionSettings,
    is_masked_fully: bool,
    explore: Exploration,
    rng: np.random.Generator,
) -> np.ndarray:
    """Choose subtasks epsilon^2-greedily (lines 17 to 21): within the mask, among all, or the best.

    Args:
        beliefs: (choices, K) each.
        failed: (choices, K), what has timed out since the last milestone.
        preference: (K,) weights of random choices.
        settings: how to choose.
        is_masked_fully: whether the mask is the truth: then nothing else is explored.
        explore: shares of random choices.
        rng: draws them.
    """
    avoided = failed & settings.avoid_failed
    considered = beliefs.mask
    if settings.is_agnostic:  # nothing else would have it leave what it fails at
        considered = mask_of(beliefs.mask & ~avoided, otherwise=beliefs.mask)
    within = weighted_choice(considered * preference, rng)
    if settings.explore_rare:
        anything = weighted_choice(np.tile(preference, (len(beliefs.mask), 1)), rng)
    else:
        anything = rng.integers(preference.size, size=len(beliefs.mask))
    greedy: np.ndarray = within
    if not settings.is_agnostic:
        greedy = greedy_choice(beliefs.values, beliefs.mask, avoided)
    return epsilon2_choice(greedy, within, within if is_masked_fully else anything, explore, rng)


def greedy_choice(values: np.ndarray, mask: np.ndarray, avoided: np.ndarray) -> np.ndarray:
    """Return the best subtask within the mask, not an avoided one if there is another (line 18).

    Where all of the mask is to be avoided, the mask is wrong: the others are considered.
    """
    preferred = mask & ~avoided
    none_left = ~preferred.any(axis=1)
    preferred[none_left] = ~avoided[none_left]
    return np.where(preferred, values, -np.inf).argmax(axis=1)


def weighted_choice(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one column of each row, in proportion to its weights."""
    ticket = rng.random(len(weights)) * weights.sum(axis=1)
    return (weights.cumsum(axis=1) <= ticket[:, np.newaxis]).sum(axis=1)


def epsilon2_choice(
    greedy: np.ndarray,
    within: np.ndarray,
    anything: np.ndarray,
    explore: Exploration,
    rng: np.random.Generator,
) -> np.ndarray:
    """Choose epsilon^2-greedily (line 21): within the mask, anything, or else the greedy one."""
    draw = rng.random(greedy.size)
    others = np.where(draw < explore.mask + explore.meta, anything, greedy)
    return np.where(draw < explore.mask, within, others)
