"""Metrics of a run."""

import numpy as np
import pytest

from hal.agent.metrics import EpisodeStats, Tally, succeeded, tally_mask


def step(
    stats: EpisodeStats, collected: list[int], is_valid: tuple[bool, ...] = (True,) * 3
) -> None:
    which = np.zeros((3, 2), dtype=np.bool_)
    for lane, milestone in enumerate(collected):
        which[lane, milestone] = milestone >= 0
    stats.add(np.full(3, -0.5), which, np.array(is_valid), Tally())


def test_the_latest_episode_of_each_lane_counts() -> None:
    stats = EpisodeStats(3, ("log", "wood"), final=1)
    step(stats, [0, -1, -1])
    step(stats, [1, 0, -1], is_valid=(True, True, False))
    # Nothing has ended: the episodes so far, of 2, 2 and 1 steps, none of them a success.
    means = stats.means()
    assert means["episode/success"] == 0
    assert means["episode/length"] == 5 / 3
    assert means["episode/return"] == -2.5 / 3
    assert means["episode/coverage/log"] == 2 / 3
    assert means["episode/coverage/wood"] == 1 / 3
    assert means["episode/coverage"] == 0.5

    assert stats.end(np.array([0])).tolist() == [True]
    step(stats, [-1, -1, -1])
    means = stats.means()
    assert means["episode/success"] == 1 / 3
    assert means["episode/length"] == (2 + 3 + 2) / 3, (
        "the present episode of lane 0 is not yet one"
    )
    assert means["episode/coverage/wood"] == 1 / 3

    assert stats.end(np.array([0, 1])).tolist() == [False, False]
    means = stats.means()
    assert means["episode/success"] == 0
    assert means["episode/length"] == (1 + 3 + 2) / 3
    assert means["episode/coverage/wood"] == 0


def circle_share(stats: EpisodeStats, steps: list[list[int]]) -> float | None:
    """Return the share of circles of one lane's steps, each with the milestones it collects."""
    tally = Tally()
    for collected in steps:
        which = np.zeros((1, 3), dtype=np.bool_)
        which[0, collected] = True
        stats.add(np.zeros(1), which, np.ones(1, dtype=np.bool_), tally)
    return tally.take().get("milestones/circles")


@pytest.mark.parametrize(
    ("steps", "share"),
    [
        ([[]], None),
        ([[0], [1], [2]], 0),
        ([[0], [0], [0]], 2 / 3),
        ([[0], [1], [0], [1]], 1 / 4),  # the last 1, but not the 0 after a new 1
        ([[0], [1], [0], [2], [0], [1], [0]], 1 / 7),
        ([[0], [0, 1]], 0),  # something new on the same step
        ([[0, 1], [0, 1]], 1 / 2),
    ],
)
def test_a_circle_is_the_same_again_with_nothing_new_since(
    steps: list[list[int]], share: float | None
) -> None:
    assert circle_share(EpisodeStats(1, ("a", "b", "c"), final=2), steps) == share


def test_circles_are_of_one_episode_and_of_steps_that_count() -> None:
    stats = EpisodeStats(1, ("a", "b", "c"), final=2)
    assert circle_share(stats, [[0], [0]]) == 1 / 2
    stats.end(np.array([0]))
    assert circle_share(stats, [[0]]) == 0
    stats.begin(np.array([0]))
    tally, collected = Tally(), np.array([[True, False, False]])
    for is_valid in (False, True):
        stats.add(np.zeros(1), collected, np.array([is_valid]), tally)
    assert tally.take() == {"milestones/circles": 0}


@pytest.mark.parametrize(
    ("final", "successes"), [(1, [True, True, False]), (-1, [False, True, False])]
)
def test_success_is_the_final_milestone_or_all_of_them(final: int, successes: list[bool]) -> None:
    covered = np.array([[False, True], [True, True], [True, False]])
    assert succeeded(covered, final).tolist() == successes


def test_what_is_believed_is_told_from_what_is_considered() -> None:
    truth = np.array([[True, False], [True, False]])
    afforded = np.array([[False, False], [True, True]])
    mask = np.array([[True, True], [True, True]])
    values = np.array([[0.0, 1.0], [0.0, 1.0]])
    tally = Tally()
    tally_mask(tally, afforded, mask, values, {"affordances": truth}, np.arange(2), ("log", "wood"))
    means = tally.take()
    assert means["mask/accuracy"] == 0.5
    assert means["mask/overpruned"] == 0.25, "the first log, though the mask allows it"
    assert means["mask/underpruned"] == 0.25, "the second wood"
    assert means["mask/empty"] == 0.5
    assert means["mask/pruned"] == means["mask/impact"] == 0
