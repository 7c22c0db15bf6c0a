"""The tracker of options on hand-made steps: when they end, and what is told of them then."""

import numpy as np
import pytest

from hal.agent.options import NONE, Advance, EndedOptions, OptionTracker, main_milestone

NOBODY, EVERYBODY = np.zeros(1, np.bool_), np.ones(1, np.bool_)


def signals(*milestones: int, size: int = 4) -> np.ndarray:
    """Return what a step signals, a milestone or NONE per lane."""
    flags = np.zeros((len(milestones), size), dtype=np.bool_)
    for lane, milestone in enumerate(milestones):
        if milestone != NONE:
            flags[lane, milestone] = True
    return flags


def test_options_end_at_milestones_timeouts_and_episodes_ends() -> None:
    lanes = OptionTracker(4, 4, max_steps=5)
    lanes.begin(np.arange(4), np.array([0, 1, 2, 3]))
    lanes.steps[:] = [1, 4, 2, 0]
    lanes.failed[:] = np.eye(4, dtype=np.bool_)
    is_done = np.array([False, False, True, False])
    step = lanes.advance(signals(2, NONE, NONE, NONE), is_done)
    assert step.milestone.tolist() == [2, NONE, NONE, NONE]
    assert step.is_ended.tolist() == [True, True, True, False]
    assert lanes.subtask.tolist() == [NONE, NONE, NONE, 3]
    assert np.argwhere(lanes.failed).tolist() == [[1, 1], [3, 3]], "forgotten with a milestone"
    nothing, nobody = signals(*[NONE] * 4), np.zeros(4, np.bool_)
    lanes.subtask[1] = 2
    for _ in range(5):
        lanes.advance(nothing, nobody)
    assert lanes.failed[1].tolist() == [False, True, True, False], "only a timeout is a failure"
    for subtask in (0, 3):
        lanes.subtask[1], lanes.steps[1] = subtask, 4
        lanes.advance(nothing, nobody)
    assert not lanes.failed[1].any(), "everything has failed: all may be tried again"


def test_of_several_milestones_the_pursued_one_counts_or_else_the_last() -> None:
    flags = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 0], [1, 0, 1]], dtype=np.bool_)
    subtasks = np.array([1, 0, 0, 2, NONE])
    assert main_milestone(flags, subtasks).tolist() == [NONE, 1, 0, 1, 2]


# --- options that have ended ----------------------------------------------------------------


def walk(
    tracker: OptionTracker,
    milestones: list[int],
    rewards: list[float],
    is_done: bool = False,
) -> list[Advance]:
    """Let the only lane pursue 1 for some steps; the last may end its episode."""
    tracker.begin(np.array([0]), np.array([1]))
    last = len(milestones) - 1
    return [
        tracker.advance(
            signals(milestone),
            np.array([is_done and index == last]),
            EVERYBODY,
            np.array([reward]),
        )
        for index, (milestone, reward) in enumerate(zip(milestones, rewards, strict=True))
    ]


@pytest.mark.parametrize(
    ("milestones", "rewards", "is_done", "expected"),
    [
        pytest.param([NONE, 1], [0.5, 1.0], False, (1, 2, 1.5), id="pursued milestone"),
        pytest.param([NONE, NONE, 3], [0.0, -0.25, 1.0], False, (3, 3, 0.75), id="other milestone"),
        pytest.param([2], [1.0], False, (2, 1, 1.0), id="milestone at once"),
        pytest.param([NONE] * 4, [0.25] * 4, False, (NONE, 4, 1.0), id="timeout"),
        pytest.param([NONE] * 3 + [1], [0.25] * 4, False, (1, 4, 1.0), id="just in time"),
        pytest.param([NONE] * 3, [0.0, 0.0, -1.0], True, (NONE, 3, -1.0), id="episode's end"),
        pytest.param([NONE, 3], [0.0, 1.0], True, (3, 2, 1.0), id="milestone that ends it"),
        pytest.param([NONE] * 4, [0.0] * 4, True, (NONE, 4, 0.0), id="timeout and end"),
    ],
)
def test_ended_options_tell_what_they_were(
    milestones: list[int], rewards: list[float], is_done: bool, expected: tuple[int, int, float]
) -> None:
    tracker = OptionTracker(1, 4, max_steps=4)
    for _ in range(2):  # a second option knows nothing of the first
        steps = walk(tracker, milestones, rewards, is_done)
        for step in steps[:-1]:
            assert not step.is_ended.any()
            assert step.ended.lanes.size == 0
        ended, (collected, num_steps, reward) = steps[-1].ended, expected
        assert steps[-1].is_ended.all()
        assert steps[-1].milestone.tolist() == [collected]
        assert ended.lanes.tolist() == [0]
        assert ended.subtask.tolist() == [1]
        assert ended.collected.tolist() == [collected]
        assert ended.steps.tolist() == [num_steps]
        assert ended.reward.tolist() == [reward]
        assert tracker.undecided.tolist() == [0]
        is_failure = collected == NONE and not is_done
        assert np.flatnonzero(tracker.failed[0]).tolist() == [1] * is_failure


@pytest.mark.parametrize("max_steps", [1, 4])
def test_a_step_that_only_resets_ends_no_option_and_counts_for_nothing(max_steps: int) -> None:
    tracker = OptionTracker(1, 4, max_steps)
    (step,) = walk(tracker, [NONE], [0.5], is_done=True)
    assert step.ended.steps.tolist() == [1]
    tracker.idle(EVERYBODY)
    assert tracker.undecided.size == 0, "nothing is chosen for it"
    resetting = tracker.advance(signals(2), NOBODY, is_valid=NOBODY, reward=np.array([7.0]))
    assert resetting.milestone.tolist() == [NONE]
    assert not resetting.is_ended.any()
    assert resetting.ended.lanes.size == 0
    tracker.reset(EVERYBODY)
    assert tracker.undecided.tolist() == [0]
    assert not tracker.failed.any()
    (step,) = walk(tracker, [3], [0.25])
    assert step.ended.collected.tolist() == [3]
    assert step.ended.steps.tolist() == [1]
    assert step.ended.reward.tolist() == [0.25]


def test_lanes_end_their_options_each_at_its_own_time() -> None:
    tracker = OptionTracker(5, 3, max_steps=3)
    tracker.begin(np.arange(5), np.array([0, 1, 2, 1, 0]))
    is_valid = np.array([True, True, True, True, False])  # the fifth only resets, every time
    nobody, reward = np.zeros(5, np.bool_), np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    first = tracker.advance(signals(NONE, 1, NONE, NONE, 0, size=3), nobody, is_valid, reward)
    assert first.ended.lanes.tolist() == [1]
    tracker.begin(tracker.undecided, np.array([2]))
    is_done = np.array([False, False, False, True, False])
    second = tracker.advance(signals(*[NONE] * 5, size=3), is_done, is_valid, reward)
    assert second.ended.lanes.tolist() == [3]
    third = tracker.advance(signals(NONE, NONE, 0, NONE, 2, size=3), nobody, is_valid, reward)
    lanes, subtask, collected, steps, rewards = third.ended
    assert lanes.tolist() == [0, 2]
    assert subtask.tolist() == [0, 2]
    assert collected.tolist() == [NONE, 0]
    assert steps.tolist() == [3, 3]
    assert rewards.tolist() == [0.0, 6.0]
    assert third.milestone.tolist() == [NONE, NONE, 0, NONE, NONE]
    assert tracker.steps[1] == 2, "begun after the first step"
    assert tracker.reward[1] == 2.0
    assert tracker.reward[4] == 0.0, "of no option"


def test_what_has_ended_does_not_change_with_what_begins() -> None:
    tracker = OptionTracker(1, 4, max_steps=4)
    ended = walk(tracker, [NONE, 2], [0.5, 0.5])[-1].ended
    before = [values.tolist() for values in ended]
    walk(tracker, [NONE] * 3, [1.0] * 3)
    assert [values.tolist() for values in ended] == before


def test_ended_options_can_be_picked() -> None:
    ended = EndedOptions(*(np.arange(3) + 10 * field for field in range(5)))
    picked = ended.where(np.array([True, False, True]))
    assert [values.tolist() for values in picked] == [
        [10 * field, 10 * field + 2] for field in range(5)
    ]
    assert all(values.size == 0 for values in EndedOptions.none())
    assert all(values.size == 0 for values in EndedOptions.none().where(np.zeros(0, np.bool_)))
