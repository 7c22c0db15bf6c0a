"""States as points in two dimensions: the contexts z(s) of an episode and of the examples.

Where a method learns no context, what its meta-controller reads states by is shown instead, and of
a flat agent the values of its actions.
"""

from typing import NamedTuple

import numpy as np
import torch

from hal.agent.affordances import Affordances
from hal.agent.options import NONE
from hal.checks import check_choice
from hal.envs.observations import Obs, pick
from hal.studio.beliefs import action_values
from hal.studio.episode import Episode
from hal.studio.why import contexts_of

MOST_POINTS = 3_000
OF_EPISODE, OF_EXAMPLES = "episode", "examples"


class Points(NamedTuple):
    """States of an episode or of the examples, an entry each."""

    what: str  # the space that they are points of
    places: np.ndarray  # (n, 2)
    shares: np.ndarray  # (2,) of the variance, that each axis shows
    milestone: np.ndarray  # (n,) which comes next in the episode, or which it is an example of
    label: np.ndarray  # (n,) 1 a positive, 0 a negative; in an episode 1
    truth: np.ndarray | None  # (n,) of the milestone asked about
    obs: Obs


def pca(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors (n, d) in their two main directions, and the shares of variance these have."""
    centred = vectors - vectors.mean(axis=0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    shares = sizes**2 / max(float((sizes**2).sum()), 1e-12)
    places = centred @ directions[:2].T
    missing = 2 - places.shape[1]
    return np.pad(places, ((0, 0), (0, missing))), np.pad(shares, (0, 2))[:2]


def points_of(episode: Episode, of: str, milestone: int) -> Points:
    """Return the points of an episode, or of the agent's examples."""
    check_choice("points", of, (OF_EPISODE, OF_EXAMPLES))
    if of == OF_EPISODE:
        return _points_of_episode(episode, milestone)
    affordances = episode.player.examples
    if affordances is None:
        method = episode.player.config.method
        raise ValueError(f"{method} keeps no examples of affordances; legal: {OF_EPISODE}")
    return _points_of_examples(episode, affordances, milestone)


def _points_of_episode(episode: Episode, milestone: int) -> Points:
    obs, records = episode.obs(), episode.records
    what, vectors = vectors_of(episode, obs)
    places, shares = pca(vectors)
    got = [np.flatnonzero(record.seen.signals["milestones"][0]) for record in records]
    coming, later = np.full(len(records), NONE), NONE
    for step in range(len(records) - 1, -1, -1):
        coming[step] = later
        later = int(got[step][-1]) if got[step].size else later
    truth = None
    if all("affordances" in record.seen.signals for record in records):
        truth = np.array([r.seen.signals["affordances"][0, milestone] for r in records])
    return Points(what, places, shares, coming, np.ones(len(records), np.int64), truth, obs)


def _points_of_examples(episode: Episode, affordances: Affordances, milestone: int) -> Points:
    """Draw examples of all milestones, as many of each label; the asked one's truth is told."""
    rng = np.random.default_rng(0)
    most = MOST_POINTS // (2 * len(affordances.milestones))
    found: list[tuple[Obs, int, int, np.ndarray]] = []
    for label, examples in ((1, affordances.positives), (0, affordances.negatives)):
        for head, size in enumerate(examples.sizes):
            at = rng.permutation(int(size))[:most]
            found.append((pick(examples.obs, head, at), head, label, examples.truth[head, at]))
    sizes = [len(truth) for *_, truth in found]
    if not sum(sizes):
        raise ValueError("there are no examples yet; legal: episode")
    obs = {name: np.concatenate([one[0][name] for one in found]) for name in found[0][0]}
    what, vectors = vectors_of(episode, obs)
    places, shares = pca(vectors)
    heads = np.repeat([head for _, head, _, _ in found], sizes)
    labels = np.repeat([label for _, _, label, _ in found], sizes)
    # Of an example the truth is known of its own milestone alone: -1 elsewhere.
    own = np.concatenate([truth for *_, truth in found]).astype(np.int64)
    truth = np.where(heads == milestone, own, -1) if affordances.has_truth else None
    return Points(what, places, shares, heads, labels, truth, obs)


@torch.no_grad()
def vectors_of(episode: Episode, obs: Obs) -> tuple[str, np.ndarray]:
    """Return what states are to the agent, (n, d), and what that is called."""
    agent = episode.player.hierarchical
    if agent is None:
        subtask = np.zeros(len(next(iter(obs.values()))), dtype=np.int64)
        return "values of actions", action_values(episode.player.agent, obs, subtask)
    if agent.affordances is not None:
        return "contexts z(s)", contexts_of(agent.affordances, obs).numpy()
    torso = agent.meta.learner.network.torso
    assert isinstance(torso, torch.nn.Module)
    features = torso(agent.meta.encoder(obs, agent.meta.device))
    return "the meta-controller's features", features.numpy()
