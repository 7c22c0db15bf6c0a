"""The method's equations against numbers worked out another way."""

import numpy as np
import pytest
import torch
from scipy import stats

from hal.agent.losses import (
    classifier_loss,
    lambda_returns,
    nearest_distances,
    q_loss,
    tolerance_bound,
    triplet_loss,
)
from hal.agent.replay.steps import CONTINUES, CUT, ENDS


def brute_force_return(
    reward: np.ndarray, end: np.ndarray, value: np.ndarray, discount: float, trace: float
) -> float:
    """Mix the n-step returns of a window's first step with weights (1 - trace) trace^(n - 1)."""
    total, weight_left = 0.0, 1.0
    for n in range(1, reward.size + 1):
        n_step = sum(discount**k * reward[k] for k in range(n))
        is_last = n == reward.size or end[n - 1] != CONTINUES
        if end[n - 1] != ENDS:
            n_step += discount**n * value[n - 1]
        weight = weight_left if is_last else (1 - trace) * weight_left
        total += weight * n_step
        weight_left -= weight
        if is_last:
            break
    return total


@pytest.mark.parametrize("trace", [0.0, 0.5, 0.9, 1.0])
def test_lambda_returns_mix_n_step_returns(trace: float) -> None:
    rng = np.random.default_rng(0)
    size, length = 50, 9
    reward, value = rng.normal(size=(2, size, length))
    end = rng.choice([CONTINUES, CONTINUES, CONTINUES, ENDS, CUT], size=(size, length))
    returns = lambda_returns(reward, end == CONTINUES, end != ENDS, value, 0.9, trace)
    for i in range(size):
        for start in range(length):
            expected = brute_force_return(
                reward[i, start:], end[i, start:], value[i, start:], 0.9, trace
            )
            assert returns[i, start] == pytest.approx(expected)


def test_a_milestone_ends_the_return_and_a_cut_does_not() -> None:
    reward = np.array([[-0.01, 0.99], [-0.01, -0.01]])
    value = np.array([[5.0, 7.0], [5.0, 7.0]])
    end = np.array([[CONTINUES, ENDS], [CONTINUES, CUT]])
    returns = lambda_returns(
        reward, end == CONTINUES, end != ENDS, value, discount=0.5, td_lambda=1.0
    )
    np.testing.assert_allclose(returns[0], [-0.01 + 0.5 * 0.99, 0.99])
    np.testing.assert_allclose(returns[1], [-0.01 + 0.5 * (-0.01 + 0.5 * 7), -0.01 + 0.5 * 7])


def test_q_loss_is_the_mean_huber_loss() -> None:
    values, returns = torch.tensor([0.0, 0.5, 3.0]), torch.tensor([0.0, 0.0, 0.0])
    loss = q_loss(values, returns, torch.ones(3))
    assert loss.item() == pytest.approx((0 + 0.5 * 0.25 + 2.5) / 3)
    loss = q_loss(values, returns, torch.tensor([1.0, 0.2, 0.4]))
    assert loss.item() == pytest.approx((0 + 0.2 * 0.5 * 0.25 + 0.4 * 2.5) / 3)


def test_triplet_loss_takes_the_hardest_negative() -> None:
    anchor, positive = torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0]])
    negatives = torch.tensor([[[3.0, 0.0], [0.0, 1.5], [9.0, 9.0]]])
    assert triplet_loss(anchor, positive, negatives, 2.0).item() == pytest.approx(1 - 2.25 + 2)
    assert triplet_loss(anchor, positive, negatives, 1.0).item() == 0.0


def test_classifier_loss_ignores_what_has_no_weight() -> None:
    logits, labels = torch.tensor([0.0, 2.0, -3.0]), torch.tensor([1.0, 0.0, 1.0])
    loss = classifier_loss(logits, labels, torch.tensor([1.0, 1.0, 0.0]))
    assert loss.item() == pytest.approx((np.log(2) + np.log1p(np.exp(2))) / 2)


@pytest.mark.parametrize("k", [1, 3])
def test_nearest_distances_against_all_pairs(k: int) -> None:
    rng = np.random.default_rng(1)
    queries, population = rng.normal(size=(20, 4)), rng.normal(size=(30, 4))
    distances = np.linalg.norm(queries[:, None] - population, axis=2)
    expected = np.sort(distances, axis=1)[:, :k].mean(axis=1)
    actual = nearest_distances(torch.from_numpy(queries), torch.from_numpy(population), k)
    np.testing.assert_allclose(actual.numpy(), expected)


def test_tolerance_bound_keeps_its_promise() -> None:
    rng = np.random.default_rng(2)
    covered = [
        stats.norm.cdf(tolerance_bound(rng.normal(size=20), 0.9, 0.95)) >= 0.9 for _ in range(2000)
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.015)


def test_tolerance_bound_against_published_factors() -> None:
    # One-sided factors for 90% coverage at 95% confidence: 2.355 for n = 10, 1.646 for n = 50.
    for count, factor in ((10, 2.355), (50, 1.646)):
        sample = np.random.default_rng(count).normal(size=count)
        bound = tolerance_bound(sample, 0.9, 0.95)
        assert (bound - sample.mean()) / sample.std(ddof=1) == pytest.approx(factor, abs=2e-3)


def test_tolerance_bound_of_hardly_any_distances_filters_nothing() -> None:
    assert tolerance_bound(np.zeros(5), 0.9, 0.95) == 0.0
