"""The method's equations as pure functions, in the paper's order.

The paper numbers one equation, Eq. 1; the others are named by their section and paragraph.
"""

import numpy as np
import torch
from scipy import special
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (the field's habit)


def lambda_returns(
    reward: np.ndarray,
    continues: np.ndarray,
    has_future: np.ndarray,
    next_value: np.ndarray,
    discount: float,
    td_lambda: float,
) -> np.ndarray:
    """Return Peng's lambda returns along windows, (batch, length) all: the targets of Eq. 1.

    A step that ends its option for good has no future; a cut one has the value of what follows, and
    so has the last step of a window.
    """
    returns = np.empty_like(reward)
    future = next_value[:, -1]
    for i in range(reward.shape[1] - 1, -1, -1):
        blend = (1 - td_lambda) * next_value[:, i] + td_lambda * future
        following = np.where(continues[:, i], blend, next_value[:, i])
        future = returns[:, i] = reward[:, i] + discount * has_future[:, i] * following
    return returns


def q_loss(values: Tensor, returns: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted mean Huber loss of chosen values (Eq. 1, with its square bounded)."""
    return (F.smooth_l1_loss(values, returns, reduction="none") * weights).mean()


def triplet_loss(anchor: Tensor, positive: Tensor, negatives: Tensor, margin: float) -> Tensor:
    """Return the contrastive loss L_psi of contexts (Sect. 6, "Context learning").

    Of each anchor's negatives the hardest counts. Shapes (n, d), (n, d), (n, m, d).
    """
    near = (anchor - positive).square().sum(dim=1)
    far = (anchor[:, None] - negatives).square().sum(dim=2).min(dim=1).values
    return F.relu(near - far + margin).mean()


def classifier_loss(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Return the binary cross-entropy of affordances, over what has weight (Alg. 1, line 42)."""
    losses = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return (losses * weights).sum() / weights.sum().clamp(min=1.0)


def nearest_distances(queries: Tensor, population: Tensor, k: int) -> Tensor:
    """Return each query's mean distance to its k nearest points of the population.

    That is d_q^k of negatives and d_p^k of positives (Sect. 6, "False negative filtering").
    """
    distances = torch.cdist(queries, population)
    return distances.topk(min(k, population.shape[0]), dim=1, largest=False).values.mean(dim=1)


def tolerance_bound(distances: np.ndarray, percentile: float, confidence: float) -> float:
    """Return the upper one-sided tolerance bound of a normal fit to reference distances.

    With this confidence, this share of the distribution lies below it: rho (Sect. 6, "False
    negative filtering").
    """
    distinct = np.unique(distances)
    count = distinct.size
    if count < 2:
        return 0.0
    shift = special.ndtri(percentile) * np.sqrt(count)
    factor = special.nctdtrit(count - 1, shift, confidence) / np.sqrt(count)
    return float(distances.mean() + factor * distances.std(ddof=1))
