"""Learners on probes small enough that their values are known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from hal.agent.controller import Controller, subtask_lessons
from hal.agent.meta_controller import MetaController
from hal.agent.networks.embedding import BagEncoder
from hal.agent.options import NONE
from hal.agent.replay.steps import CONTINUES, CUT, ENDS, Replay
from hal.agent.replay.transitions import MetaReplay
from hal.agent.schedules import Progress
from hal.config.presets import make_config
from hal.config.settings import Config
from tests.parts import ended_options, grid_parts, states

CPU = torch.device("cpu")
ENCODER = BagEncoder(grid_parts((1, 1), num_codes=6, num_counts=1), background=np.array([0]))


def probe_config(**overrides: Any) -> Config:
    small: dict[str, Any] = {
        "num_lanes": 8,
        "width": 32,
        "meta_width": 32,
        "window": 5,
        "steps": 500,
        "trained_steps": 5,
    }
    return make_config("wood", "hal", **{**small, "target_rate": 0.1, **overrides})


def corridor(num_rows: int = 400) -> Replay:
    """Random walks along states 1 to 3: action 1 advances, and from the last is the milestone.

    An option is cut after six steps wherever it is; the walk goes on.
    """
    rng = np.random.default_rng(0)
    replay = Replay(num_rows, 8, ENCODER.layout, 2, rng)
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


def learned_values(config: Config, num_updates: int) -> np.ndarray:
    """Learn from random walks, without hindsight; return the values of states 1 to 3."""
    settings = config.controller
    assert settings.discount == 0.9
    torch.manual_seed(0)
    controller = Controller(settings, config.networks, ENCODER, (2, 2), settings.discount, CPU)
    replay = corridor()
    for i in range(num_updates):
        windows = replay.draw(config.replay, beta=1.0)
        lessons = subtask_lessons(windows, replace(settings, use_hindsight=False), 2)
        controller.update(windows, lessons, Progress(i, config.steps))
    with torch.no_grad():
        features = ENCODER(states([1, 2, 3]), CPU)
        values = controller.learner.network(features, torch.zeros(3, dtype=torch.int64))
    return np.asarray(values)


@pytest.mark.parametrize("double_q", [False, True])
def test_controller_bootstraps_at_cuts_and_not_at_milestones(double_q: bool) -> None:
    config = probe_config(trace=0.0, double_q=double_q, learning_rate=2e-3)
    values = learned_values(config, 600)
    # Staying costs one discount; the last state's milestone is worth 1 and no more.
    expected = np.array([[0.9**3, 0.9**2], [0.9**2, 0.9], [0.9, 1.0]])
    np.testing.assert_allclose(values, expected, atol=0.06)


def test_lessons_reward_what_was_pursued_and_punish_what_was_not() -> None:
    settings = probe_config(step_penalty=0.25, stray_penalty=0.5).controller
    replay = Replay(3, 1, ENCODER.layout, 2, np.random.default_rng(0))
    for milestone in (NONE, 1, 0):
        replay.add(
            states([1]),
            subtask=np.array([0]),
            milestone=np.array([milestone]),
            end=np.array([CONTINUES if milestone == NONE else ENDS]),
            is_valid=np.array([True]),
        )
    replay.mark(ended_options([0], [1], steps=3), starts=np.array([0]))
    replay.hindsight[2] = 0
    windows = replay.draw_windows(1, length=2, event_share=0.0)
    pursued, in_hindsight = subtask_lessons(windows, settings, 2)
    np.testing.assert_allclose(pursued.reward, [[-0.25, -0.75]])
    np.testing.assert_allclose(in_hindsight.reward, [[-0.25, 0.75]])
    assert in_hindsight.where.all()
    assert len(subtask_lessons(windows, replace(settings, use_hindsight=False), 2)) == 1


def test_n_step_returns_of_the_first_step_learn_the_same_order() -> None:
    config = probe_config(trace=1.0, trained_steps=1, batch_windows=64, learning_rate=2e-3)
    values = learned_values(config, 400)
    assert (values[:, 1] > values[:, 0]).all()
    assert (np.diff(values[:, 1]) > 0).all()


# --- the meta-controller --------------------------------------------------------------------


def make_meta(config: Config, num_milestones: int) -> MetaController:
    """Return one that has seen nothing; the last milestone is the final one."""
    replay = MetaReplay(config.meta.capacity, ENCODER.layout, num_milestones)
    sizes = (config.environment.num_envs, num_milestones, num_milestones - 1)
    rng = np.random.default_rng(0)
    return MetaController(config.meta, config.networks, ENCODER, replay, sizes, rng, CPU)


def meta_probe(is_pruned: bool, mask_target: bool = True) -> np.ndarray:
    """Option 0 leads from state 1 to state 2, where option 1 wins 1 and option 0 wins 3."""
    torch.manual_seed(0)
    settings = {"meta_batch": 64, "meta_learning_rate": 2e-3, "mask_target": mask_target}
    config = probe_config(**settings)
    meta = make_meta(config, 2)
    for state, subtask, reward, has_future in ((1, 0, 0.0, 1), (2, 1, 1.0, 0), (2, 0, 3.0, 0)):
        meta.replay.add(
            states([state]),
            states([2]),
            next_mask=np.array([[not is_pruned, True]]),
            subtask=np.array([subtask]),
            reward=np.array([reward]),
            discount=np.array([config.meta.discount * has_future]),
        )
    for i in range(500):
        meta.update(Progress(i, config.steps), beta=1.0)
    return meta.values(states([1, 2]))


@pytest.mark.parametrize(
    ("is_pruned", "mask_target", "best"),
    [(False, True, 3.0), (True, True, 1.0), (True, False, 3.0)],
)
def test_the_meta_controller_looks_for_the_future_within_the_mask_or_everywhere(
    is_pruned: bool, mask_target: bool, best: float
) -> None:
    values = meta_probe(is_pruned, mask_target)
    assert values[0, 0] == pytest.approx(0.95 * best, abs=0.1)
    np.testing.assert_allclose(values[1], [3.0, 1.0], atol=0.1)


def one_option(config: Config, subtask: int, collected: int) -> MetaController:
    """A lane's option that ended at state 2, stored."""
    meta = make_meta(config, 3)
    ended = ended_options([subtask], [collected], reward=0.25)
    mask, has_future = np.ones((1, 3), np.bool_), np.array([True])
    meta.store(ended, states([1]), states([2]), mask, has_future)
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
    ended = ended_options([2], [2], reward=1.0)
    mask, has_future = np.ones((1, 3), np.bool_), np.array([False])
    meta.store(ended, states([2]), states([2]), mask, has_future)
    meta.finish_episode(0, is_success=True)
    expected = [0.25 + 0.95 * 1.0, 0.25 + 0.95 * 1.0, 1.0]
    assert meta.replay.lower_bound[:3].tolist() == pytest.approx(expected)
