"""Affordances on probes small enough that what is possible is known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from hal.agent.affordances import Affordances
from hal.agent.filter import ToleranceFilter
from hal.agent.metrics import Tally
from hal.agent.networks.embedding import BagEncoder
from hal.agent.options import NONE
from hal.agent.replay.steps import Replay
from hal.agent.schedules import Progress
from hal.config.presets import make_config
from tests.parts import ended_options, grid_parts, states

CPU = torch.device("cpu")
ENCODER = BagEncoder(grid_parts((1, 1), num_codes=6, num_counts=1), background=np.array([0]))


def affordances_of(
    label: Callable[[int], bool], success_rate: float | None = None, **overrides: Any
) -> Affordances:
    """Options of head 0 in states 1 to 5, which got it or did not."""
    torch.manual_seed(0)
    small: dict[str, Any] = {"context_width": 32, "context_learning_rate": 1e-2, "knn_n": 50}
    config = make_config("wood", "hal", steps=500, **small, **overrides)
    affordances = Affordances(
        config.affordances,
        config.networks,
        ENCODER,
        ("only", "other"),
        np.random.default_rng(0),
        CPU,
    )
    rng = np.random.default_rng(1)
    replay = Replay(64, 8, ENCODER.layout, 2, rng)
    for _ in range(60):
        codes = rng.integers(1, 6, size=8)
        start = replay.num_rows
        replay.add(
            states(codes.tolist()),
            milestone=np.full(8, NONE),
            truth=np.zeros((8, 2)),
            is_valid=np.ones(8, np.bool_),
        )
        collected = [0 if label(int(code)) else NONE for code in codes]
        affordances.add(replay, ended_options([0] * 8, collected), np.full(8, start))
    if success_rate is not None:
        affordances.success_rate[0] = success_rate
    for i in range(200):
        affordances.update(replay, Progress(i, config.steps), Tally())
    return affordances


def filter_of(affordances: Affordances) -> ToleranceFilter:
    assert isinstance(affordances.filter, ToleranceFilter)
    return affordances.filter


def test_the_success_rate_follows_the_options() -> None:
    affordances = affordances_of(lambda code: code <= 2)
    successes, failures = affordances.positives.counts[0], affordances.negatives.counts[0]
    assert successes + failures == 480
    drift = (successes - failures) * 0.5 / 1000  # from a rate of one half
    assert affordances.success_rate[0] == pytest.approx(0.5 + drift, rel=0.05)
    assert affordances.success_rate[1] == 0.5, "no option was for it"


@pytest.mark.parametrize(
    ("weigh_failures", "success_rate", "expected"),
    [(True, 0.9, 0.9), (True, 0.1, 0.5), (False, 0.9, 0.5)],
)
def test_failures_count_as_often_as_they_happen(
    weigh_failures: bool, success_rate: float, expected: float
) -> None:
    luck = np.random.default_rng(2)
    affordances = affordances_of(
        lambda code: bool(luck.random() < 0.5),
        success_rate,
        weigh_failures=weigh_failures,
        filter="none",
        use_contrast=False,
        classifier_batch=256,
    )
    probabilities = affordances.probabilities(states([1, 2, 3, 4, 5]))[:, 0]
    assert probabilities.mean() == pytest.approx(expected, abs=0.07)


def test_the_classifier_learns_where_a_milestone_is_possible() -> None:
    affordances = affordances_of(lambda code: code <= 2, filter="none", use_contrast=False)
    probabilities = affordances.probabilities(states([1, 2, 3, 4, 5]))[:, 0]
    assert (probabilities[:2] > 0.9).all()
    assert (probabilities[2:] < 0.1).all()
    assert affordances.afforded(states([1, 5])).tolist() == [[True, False], [False, False]]


@pytest.mark.parametrize("switch", ["classify_context", "tune_context"])
def test_ablations_of_the_classifier_learn_too(switch: str) -> None:
    affordances = affordances_of(
        lambda code: code <= 2, filter="none", use_contrast=False, **{switch: False}
    )
    probabilities = affordances.probabilities(states([1, 2, 3, 4, 5]))[:, 0]
    assert (probabilities[:2] > 0.6).all()
    assert (probabilities[2:] < 0.4).all()


def test_population_and_reference_come_from_disjoint_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    affordances = affordances_of(lambda code: code <= 2)
    drawn: list[np.ndarray] = []
    contexts_of = affordances._contexts_of

    def spy(head: int, at: np.ndarray) -> torch.Tensor:
        drawn.append(affordances.positives.parity[head, at])
        return contexts_of(head, at)

    monkeypatch.setattr(affordances, "_contexts_of", spy)
    tally = Tally()
    affordances.refresh_filter(tally)
    population, reference = drawn
    judge = filter_of(affordances)
    assert (population == 0).all()
    assert (reference == 1).all()
    assert judge.has_population[0]
    assert judge.populations[0].shape[0] == 50
    assert tally.take()["filter/margin/only"] == judge.margins[0]


def test_the_filter_flags_negatives_that_look_like_positives() -> None:
    affordances = affordances_of(lambda code: code <= 2)
    affordances.refresh_filter(Tally())
    with torch.no_grad():
        contexts = affordances.context(ENCODER(states([1, 2, 3, 4, 5]), CPU))
    # States are few, so that the positives' distances are all zero: a bound above rounding.
    filter_of(affordances).margins[0] = 0.05
    flagged = filter_of(affordances).is_false(np.zeros(5, np.int64), contexts)
    assert flagged.tolist() == [True, True, False, False, False]
