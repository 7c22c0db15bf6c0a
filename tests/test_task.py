"""The whole task as a subtask: when it is chosen, who leads, and what is learned of it."""

import numpy as np
import pytest

from hal.agent.hal import HierarchicalAgent
from hal.agent.options import NONE, OptionTracker, main_milestone
from hal.agent.replay.steps import CONTINUES, CUT, ENDS
from hal.agent.schedules import GREEDY
from hal.agent.task import (
    FLAT,
    LATELY,
    META,
    PRIOR,
    SETTLED,
    STINT,
    TRAILING_EVERY,
    TaskOption,
)
from tests.parts import blank_obs, ended_options, tiny_agent

TASK = 3  # of an agent with three milestones


def agent_with_task() -> tuple[HierarchicalAgent, TaskOption]:
    agent, _ = tiny_agent("halo")
    assert agent.task is not None
    return agent, agent.task


def chosen(agent: HierarchicalAgent, leader: int | None, failed: list[bool]) -> int:
    leaders = None if leader is None else np.array([leader])
    rng, lanes = np.random.default_rng(0), np.zeros(1, dtype=np.int64)
    choice = agent.choose(blank_obs(1), {}, np.array([failed]), lanes, GREEDY, rng, leaders)
    return int(choice.subtask[0])


def test_leaders_decide_whether_the_task_is_pursued_or_a_milestone() -> None:
    agent, _ = agent_with_task()
    assert chosen(agent, FLAT, [False] * 3) == TASK
    assert chosen(agent, FLAT, [True] * 3) == TASK
    assert chosen(agent, META, [False] * 3) != TASK
    assert chosen(agent, META, [True] * 3) != TASK


def known(task: TaskOption, returns: list[float], spread: list[float]) -> None:
    """Let this be known of the two leaders' stints."""
    task.num_stints[:] = LATELY
    task.returns[:], task.spread[:] = returns, spread


def test_without_leaders_the_better_one_leads() -> None:
    agent, task = agent_with_task()
    known(task, [1.0, 2.0], [0.1, 0.1])
    assert chosen(agent, None, [False] * 3) == TASK
    known(task, [2.0, 1.0], [0.1, 0.1])
    assert chosen(agent, None, [False] * 3) != TASK


@pytest.mark.parametrize(("errors", "share"), [(0, 0.25), (1, 0.639), (2, 0.9), (-1, 0.1)])
def test_each_leads_as_often_as_it_is_likely_to_be_the_better_one(
    errors: int, share: float
) -> None:
    _, task = agent_with_task()
    error = (8.0 / (2 * LATELY)) ** 0.5
    known(task, [10.0, 10.0 + errors * error], [2.0, 6.0])
    assert np.mean(task._draw(10_000) == FLAT) == pytest.approx(share, abs=0.02)
    task.num_stints[FLAT] = LATELY - 1
    assert np.mean(task._draw(10_000) == FLAT) == pytest.approx(PRIOR, abs=0.02), (
        "too early to tell"
    )


def test_what_is_known_of_the_leaders_is_kept_with_the_weights() -> None:
    agent, task = agent_with_task()
    known(task, [1.0, 2.0], [0.1, 0.1])
    other, its = agent_with_task()
    assert its.better == META
    other.load_weights(agent.weights())
    assert its.better == FLAT


def test_the_flat_policy_learns_by_the_reward_and_by_first_milestones() -> None:
    agent, task = agent_with_task()
    lanes = agent.replay.num_lanes
    collected = np.zeros((lanes, TASK), dtype=np.bool_)
    collected[0, :2] = collected[1, 0] = True
    is_valid = np.ones(lanes, np.bool_)
    is_valid[1] = False
    agent.episodes.present[0, 3 + 1] = 1.0  # it has had the second
    is_first = agent.episodes.are_first(collected, is_valid)
    assert np.argwhere(is_first).tolist() == [[0, 0]]
    assert task.dense(np.ones(lanes), is_first)[:2].tolist() == [pytest.approx(4 / 3), 1.0]


def test_who_brings_more_leads_most_stints() -> None:
    _, task = agent_with_task()
    lanes = task.leader.size
    nobody, everybody = np.zeros(lanes, np.bool_), np.ones(lanes, np.bool_)
    for step in range(80 * LATELY // lanes):
        is_last = step % 2 == 1
        reward = np.where(task.leader == FLAT, 1.0, 0.25) - 5.0 * (not is_last)
        task.observe(reward, everybody, everybody if is_last else nobody)
    assert task.returns.tolist() == [pytest.approx(0.25), pytest.approx(1.0)], "penalties are none"
    drawn = np.concatenate([task._draw(1000) for _ in range(10)])
    assert np.mean(drawn == FLAT) == pytest.approx(1 - task.settings.trailing_share, abs=0.02)


def test_who_trails_learns_less_often_once_it_is_known_who_does() -> None:
    agent, task = agent_with_task()
    lanes = task.leader.size
    everybody = np.ones(lanes, np.bool_)
    known(task, [1.0, 2.0], [0.1, 0.1])
    task.leader[:] = FLAT
    for num_stints in range(0, SETTLED, lanes):
        assert (task.pace(META), task.pace(FLAT)) == (1, 1), num_stints
        task.observe(np.full(lanes, 2.0), everybody, everybody)
        task.leader[:] = FLAT
    assert (task.pace(META), task.pace(FLAT)) == (TRAILING_EVERY, 1)
    every = agent.config.controller.every // agent.replay.num_lanes
    agent.can_learn = lambda: True  # type: ignore[method-assign]
    trained: list[int] = []
    task.update = lambda *_: trained.append(FLAT) or {}  # type: ignore[method-assign,func-returns-value]
    agent.draw_windows = lambda: None  # type: ignore[method-assign,return-value,assignment]
    agent.train_controller = lambda teach: trained.append(META)  # type: ignore[method-assign]
    agent.affordances = None
    for step in range(every * TRAILING_EVERY * 3):
        agent.num_vector_steps = step
        agent.update()
    assert trained.count(META) * TRAILING_EVERY == trained.count(FLAT) == 3 * TRAILING_EVERY


def test_stints_end_after_a_while_and_resets_do_not_count() -> None:
    _, task = agent_with_task()
    nobody, everybody = np.zeros(task.leader.size, np.bool_), np.ones(task.leader.size, np.bool_)
    task.observe(np.ones(task.leader.size), nobody, nobody)
    assert not task.steps.any()
    assert not task.gain.any()
    for _ in range(STINT - 1):
        task.observe(np.zeros(task.leader.size), everybody, nobody)
    assert task.num_stints.sum() == 0
    task.observe(np.zeros(task.leader.size), everybody, nobody)
    assert task.num_stints.sum() == task.leader.size


def test_any_milestone_ends_the_task_as_an_option() -> None:
    signals = np.array([[False, True, True], [False, False, False]])
    assert main_milestone(signals, np.array([TASK, TASK])).tolist() == [2, NONE]
    tracker = OptionTracker(2, 3, max_steps=3, discount=0.5)
    tracker.begin(np.arange(2), np.array([TASK, 0]))
    nobody = np.zeros(2, dtype=np.bool_)
    nothing = np.zeros((2, 3), dtype=np.bool_)
    assert not tracker.advance(nothing, nobody, reward=np.array([8.0, 0.0])).is_ended.any()
    step = tracker.advance(signals, nobody, reward=np.array([8.0, 4.0]))
    assert step.ended.subtask.tolist() == [TASK]
    assert step.ended.reward.tolist() == [12.0]
    assert tracker.advance(nothing, nobody).ended.reward.tolist() == [2.0]
    assert tracker.failed.tolist() == [[False] * 3, [True, False, False]]
    tracker.begin(np.zeros(1, dtype=np.int64), np.array([TASK]))
    for _ in range(3):
        tracker.advance(nothing, nobody)
    assert not tracker.failed[0].any(), "the task does not fail"


def test_the_task_labels_nothing_as_impossible_and_has_no_value_among_subtasks() -> None:
    agent, _ = agent_with_task()
    affordances = agent.affordances
    assert affordances is not None
    env_obs = blank_obs(agent.replay.num_lanes)
    lanes = np.zeros(agent.replay.num_lanes, np.int64)
    agent.replay.add(
        env_obs,
        subtask=lanes + TASK,
        milestone=lanes + NONE,
        end=lanes + CUT,
        is_valid=lanes == 0,
    )
    ended = ended_options([TASK, TASK], [NONE, 1])
    rates = affordances.success_rate.copy()
    affordances.add(agent.replay, ended, np.zeros(2, dtype=np.int64))
    assert affordances.negatives.counts.tolist() == [0, 0, 0]
    assert affordances.positives.counts.tolist() == [0, 1, 0]
    assert affordances.success_rate.tolist() == rates.tolist()
    mask, future = np.ones((2, 3), np.bool_), np.ones(2, np.bool_)
    agent.meta.store(ended, blank_obs(2), blank_obs(2), mask, future)
    assert agent.meta.replay.num_added == 1, "as what it has collected, alone"
    assert agent.meta.replay.subtask[0] == 1


def test_the_tasks_return_reaches_beyond_options() -> None:
    agent, task = agent_with_task()
    replay, lanes = agent.replay, np.zeros(agent.replay.num_lanes, np.int64)
    ends = [(ENDS, CONTINUES), (CUT, CONTINUES), (ENDS, ENDS), (CONTINUES, CONTINUES)]
    for end, episode_end in ends:
        replay.add(
            blank_obs(lanes.size),
            reward=lanes + 1.0,
            subtask=lanes,
            milestone=lanes + NONE,
            end=lanes + end,
            episode_end=lanes + episode_end,
            is_valid=lanes == 0,
        )
    windows = replay.draw_windows(1, length=3, event_share=0.0)
    (lesson,) = task.lessons(windows)
    assert lesson.end.tolist() == [[CONTINUES, CONTINUES, ENDS]]
    assert lesson.reward.tolist() == [[1.0, 1.0, 1.0]]
    replay.cut()
    assert replay.episode_end[3].tolist() == [CUT] * lanes.size


def test_each_policy_acts_where_it_is_pursued() -> None:
    agent, task = agent_with_task()

    def acting(action: int, goals: list[list[int]]) -> object:
        def act(obs: object, goal: np.ndarray, *_: object) -> np.ndarray:
            goals.append(goal.tolist())
            return np.full(goal.size, action)

        return act

    of_subtasks: list[list[int]] = []
    of_task: list[list[int]] = []
    agent.controller.act = acting(7, of_subtasks)  # type: ignore[method-assign,assignment]
    task.controller.act = acting(9, of_task)  # type: ignore[method-assign,assignment]
    rng = np.random.default_rng(0)
    actions = agent.pursue(blank_obs(4), np.array([TASK, 2, TASK, 0]), 0.0, rng)
    assert actions.tolist() == [9, 7, 9, 7]
    assert (of_subtasks, of_task) == ([[2, 0]], [[0, 0]])
