"""Learners on probes small enough that their values are known."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from hal.agent.affordances import Affordances
from hal.agent.base import EnvFacts
from hal.agent.controller import Controller, subtask_lessons
from hal.agent.networks.embedding import BagEncoder
from hal.agent.meta_controller import MetaController
from hal.agent.replay.steps import CONTINUES, CUT, ENDS, NONE, Replay
from hal.config.settings import Config
from hal.agent.metrics import Tally
from hal.envs.observations import Obs
from hal.config.presets import make_config
from tests.parts import grid_parts

CPU = torch.device("cpu")
ENCODER = BagEncoder(grid_parts((1, 1), num_codes=6, num_counts=1), background=np.array([0]))


def states(codes: list[int]) -> Obs:
    """Return images of one cell that tell the state, and empty inventories."""
    image = np.array(codes, np.uint8).reshape(-1, 1, 1)
    return {"image": image, "inventory": np.zeros((len(codes), 1), np.int16)}


def facts(num_milestones: int) -> EnvFacts:
    """Return those of an environment with so many milestones, the last of them the final one."""
    names = tuple(f"milestone {k}" for k in range(num_milestones))
    columns = tuple(range(num_milestones))
    return EnvFacts(2, milestones=names, final=num_milestones - 1, columns=columns)


def probe_config(**overrides: Any) -> Config:
    small: dict[str, Any] = {
        "num_lanes": 8,
        "width": 32,
        "meta_width": 32,
        "context_width": 32,
        "window": 5,
        "steps": 500,
        "trained_steps": 5,
    }
    return make_config("wood", "hal", **{**small, "target_rate": 0.1, **overrides})


def corridor(config: Config, num_rows: int = 400) -> Replay:
    """Random walks along states 1 to 3: action 1 advances, and from the last is the milestone.

    An option is cut after six steps wherever it is; the walk goes on.
    """
    rng = np.random.default_rng(0)
    replay = Replay(num_rows, 8, ENCODER, 2, rng)
    place, age = np.ones(8, np.int64), np.zeros(8, np.int64)
    for _ in range(num_rows):
        action = rng.integers(2, size=8)
        is_goal = (place == 3) & (action == 1)
        age += 1
        end = np.where(is_goal, ENDS, np.where(age == 6, CUT, CONTINUES))
        replay.add(
            states(place.tolist()),
            action=action,
            subtask=np.zeros(8, np.int64),
            milestone=np.where(is_goal, 0, NONE),
            end=end,
            is_valid=np.ones(8, np.bool_),
        )
        place = np.where(is_goal, 1, place + action)
        age[end != CONTINUES] = 0
    return replay


def learned_values(controller: Controller, replay: Replay, num_updates: int) -> np.ndarray:
    config = controller.config

    for i in range(num_updates):
        controller.update(
            replay,
            lambda windows: subtask_lessons(windows, replace(config, use_hindsight=False)),
            i,
        )
    with torch.no_grad():
        features = ENCODER(states([1, 2, 3]), CPU)
        values = controller.learner.network(features, torch.zeros(3, dtype=torch.int64))
    assert config.discount == 0.9
    return np.asarray(values)


@pytest.mark.parametrize("double_q", [False, True])
def test_controller_bootstraps_at_cuts_and_not_at_milestones(double_q: bool) -> None:
    torch.manual_seed(0)
    config = probe_config(trace=0.0, double_q=double_q, learning_rate=2e-3)
    controller = Controller(config, ENCODER, 2, 2, config.discount, CPU)
    values = learned_values(controller, corridor(config), 600)
    # Staying costs one discount; the last state's milestone is worth 1 and no more.
    expected = np.array([[0.9**3, 0.9**2], [0.9**2, 0.9], [0.9, 1.0]])
    np.testing.assert_allclose(values, expected, atol=0.06)


def test_lessons_reward_what_was_pursued_and_punish_what_was_not() -> None:
    config = probe_config(step_penalty=0.25, stray_penalty=0.5)
    replay = Replay(3, 1, ENCODER, 2, np.random.default_rng(0))
    for milestone in (NONE, 1, 0):
        replay.add(
            states([1]),
            subtask=np.array([0]),
            milestone=np.array([milestone]),
            end=np.array([CONTINUES if milestone == NONE else ENDS]),
            is_valid=np.array([True]),
        )
    replay.mark(np.array([0]), np.array([0]), np.array([1]))
    replay.hindsight[2] = 0
    windows = replay.draw_windows(1, length=2, event_share=0.0)
    pursued, in_hindsight = subtask_lessons(windows, config)
    np.testing.assert_allclose(pursued.reward, [[-0.25, -0.75]])
    np.testing.assert_allclose(in_hindsight.reward, [[-0.25, 0.75]])
    assert in_hindsight.where.all()
    assert len(subtask_lessons(windows, replace(config, use_hindsight=False))) == 1


def test_n_step_returns_of_the_first_step_learn_the_same_order() -> None:
    torch.manual_seed(0)
    config = probe_config(trace=1.0, trained_steps=1, batch_windows=64, learning_rate=2e-3)
    controller = Controller(config, ENCODER, 2, 2, config.discount, CPU)
    values = learned_values(controller, corridor(config), 400)
    assert (values[:, 1] > values[:, 0]).all()
    assert (np.diff(values[:, 1]) > 0).all()


# --- the meta-controller --------------------------------------------------------------------


def meta_probe(is_pruned: bool) -> np.ndarray:
    """Option 0 leads from state 1 to state 2, where option 1 wins 1 and option 0 wins 3."""
    torch.manual_seed(0)
    config = probe_config(meta_batch=64, meta_learning_rate=2e-3)
    meta = MetaController(config, ENCODER, facts(2), np.random.default_rng(0), CPU)
    for state, subtask, reward, has_future in ((1, 0, 0.0, 1), (2, 1, 1.0, 0), (2, 0, 3.0, 0)):
        meta.replay.add(
            states([state]),
            states([2]),
            next_mask=np.array([[not is_pruned, True]]),
            subtask=np.array([subtask]),
            reward=np.array([reward]),
            discount=np.array([config.meta_discount * has_future]),
        )
    for i in range(500):
        meta.update(i)
    return meta.values(states([1, 2]))


@pytest.mark.parametrize(("is_pruned", "best"), [(False, 3.0), (True, 1.0)])
def test_the_meta_controller_looks_for_the_future_within_the_mask(
    is_pruned: bool, best: float
) -> None:
    values = meta_probe(is_pruned)
    assert values[0, 0] == pytest.approx(0.95 * best, abs=0.1)
    np.testing.assert_allclose(values[1], [3.0, 1.0], atol=0.1)


def one_option(config: Config, subtask: int, collected: int) -> MetaController:
    """A lane's option that ended at state 2, stored."""
    meta = MetaController(config, ENCODER, facts(3), np.random.default_rng(0), CPU)
    lanes = np.array([0])
    for state, stores in ((1, False), (2, True)):
        obs = states([state] * 8)
        if stores:
            meta.store(lanes, obs, np.ones((1, 3), np.bool_))
        else:
            meta.begin(lanes, obs)
            meta.reward[lanes] = 0.25
            meta.end(lanes, np.array([subtask]), np.array([collected]))
    return meta


@pytest.mark.parametrize(
    ("subtask", "collected", "stored"),
    [
        (0, 0, [0]),
        (0, NONE, [0]),
        (0, 1, [0, 1]),  # as chosen and, in hindsight, as collected
        (0, 2, [2]),  # the final milestone: as if it had been intended
    ],
)
def test_options_are_stored_as_chosen_and_as_collected(
    subtask: int, collected: int, stored: list[int]
) -> None:
    meta = one_option(probe_config(), subtask, collected)
    assert meta.replay.subtask[: len(meta.replay)].tolist() == stored
    assert meta.replay.obs["image"][: len(meta.replay)].ravel().tolist() == [1] * len(stored)
    assert meta.replay.next_obs["image"][: len(meta.replay)].ravel().tolist() == [2] * len(stored)
    without = one_option(probe_config(meta_hindsight=False), subtask, collected)
    assert without.replay.subtask[: len(without.replay)].tolist() == stored[:1]


def test_a_success_bounds_every_copy_by_the_return_that_was_had() -> None:
    meta = one_option(probe_config(), 0, 1)
    obs = states([2] * 8)
    meta.begin(np.array([0]), obs)
    meta.reward[0] = 1.0
    meta.end(np.array([0]), np.array([2]), np.array([2]))
    meta.store(np.array([0]), obs, np.ones((1, 3), np.bool_), has_future=False)
    meta.finish_episode(0, is_success=True)
    expected = [0.25 + 0.95 * 1.0, 0.25 + 0.95 * 1.0, 1.0]
    assert meta.replay.lower_bound[:3].tolist() == pytest.approx(expected)


# --- affordances ----------------------------------------------------------------------------


def affordances_of(
    label: Callable[[int], bool], success_rate: float | None = None, **overrides: Any
) -> Affordances:
    """Options of head 0 in states 1 to 5, which got it or did not."""
    torch.manual_seed(0)
    config = probe_config(knn_n=50, context_learning_rate=1e-2, **overrides)
    affordances = Affordances(config, ENCODER, ("only", "other"), np.random.default_rng(0), CPU)
    rng = np.random.default_rng(1)
    replay = Replay(64, 8, ENCODER, 2, rng)
    for _ in range(60):
        codes = rng.integers(1, 6, size=8)
        start = replay.num_rows
        replay.add(
            states(codes.tolist()),
            milestone=np.full(8, NONE),
            truth=np.zeros((8, 2)),
            is_valid=np.ones(8, np.bool_),
        )
        collected = np.array([0 if label(int(code)) else NONE for code in codes])
        affordances.add(replay, np.arange(8), np.full(8, start), np.zeros(8, np.int64), collected)
    if success_rate is not None:
        affordances.success_rate[0] = success_rate
    for i in range(200):
        affordances.update(replay, i, Tally())
    return affordances


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
        use_filter=False,
        use_contrast=False,
        classifier_batch=256,
    )
    probabilities = affordances.probabilities(states([1, 2, 3, 4, 5]))[:, 0]
    assert probabilities.mean() == pytest.approx(expected, abs=0.07)


def test_the_classifier_learns_where_a_milestone_is_possible() -> None:
    affordances = affordances_of(lambda code: code <= 2, use_filter=False, use_contrast=False)
    probabilities = affordances.probabilities(states([1, 2, 3, 4, 5]))[:, 0]
    assert (probabilities[:2] > 0.9).all()
    assert (probabilities[2:] < 0.1).all()
    assert affordances.afforded(states([1, 5])).tolist() == [[True, False], [False, False]]


@pytest.mark.parametrize("switch", ["classify_context", "tune_context"])
def test_ablations_of_the_classifier_learn_too(switch: str) -> None:
    affordances = affordances_of(
        lambda code: code <= 2, use_filter=False, use_contrast=False, **{switch: False}
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
    assert (population == 0).all()
    assert (reference == 1).all()
    assert affordances.has_population[0]
    assert affordances.populations[0].shape[0] == 50
    assert tally.take()["filter/margin/only"] == affordances.margins[0]


def test_the_filter_flags_negatives_that_look_like_positives() -> None:
    affordances = affordances_of(lambda code: code <= 2)
    affordances.refresh_filter(Tally())
    with torch.no_grad():
        contexts = affordances.context(ENCODER(states([1, 2, 3, 4, 5]), CPU))
    # States are few, so that the positives' distances are all zero: a bound above rounding.
    affordances.margins[0] = 0.05
    flagged = affordances._is_false_negative(np.array([0]), 5, contexts)
    assert flagged.tolist() == [True, True, False, False, False]
