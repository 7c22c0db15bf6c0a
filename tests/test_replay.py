"""Experience on made-up rows: windows, events, hindsight, examples, options."""

import numpy as np

from hal.agent.networks.embedding import BagEncoder
from hal.agent.options import NONE
from hal.agent.replay.examples import Examples
from hal.agent.replay.steps import CONTINUES, Replay, mark_options
from hal.agent.replay.transitions import MetaReplay
from tests.parts import ended_options, grid_parts

ENCODER = BagEncoder(grid_parts((3, 3), num_codes=4, num_counts=2), background=np.array([1]))


def filled_replay(num_rows: int, capacity: int = 50, lanes: int = 3) -> Replay:
    """Rows whose inventory says where they are from: (row, lane); lane's segments last 7 rows."""
    replay = Replay(capacity, lanes, ENCODER.layout, 4, np.random.default_rng(0))
    for row in range(num_rows):
        lane = np.arange(lanes)
        replay.add(
            {
                "image": np.zeros((lanes, 3, 3)),
                "inventory": np.stack([np.full(lanes, row), lane], axis=1),
            },
            truth=np.zeros((lanes, 4)),
            action=lane,
            subtask=lane,
            milestone=np.where((row + lane) % 10 == 9, lane, NONE),
            end=np.full(lanes, CONTINUES),
            is_valid=np.ones(lanes),
            segment=row // 7 * lanes + lane,
        )
    return replay


def test_windows_are_runs_of_one_lane_within_the_ring() -> None:
    replay = filled_replay(130)
    windows = replay.draw_windows(200, length=6, event_share=0.5)
    rows, lanes = np.moveaxis(windows.obs["inventory"], -1, 0)
    assert rows.min() >= replay.oldest == 80
    assert rows.max() == 129
    assert (np.diff(rows, axis=1) == 1).all()
    assert (lanes == lanes[:, :1]).all()
    assert rows.shape == (200, 7)
    np.testing.assert_array_equal(windows.subtask, lanes[:, :-1])


def test_event_windows_hold_an_event_each_milestone_as_often() -> None:
    replay = filled_replay(130)
    windows = replay.draw_windows(3_000, length=4, event_share=1.0)
    has_event = (windows.milestone != NONE).any(axis=1)
    assert has_event.mean() > 0.93, "all but the newest row's, which has no next observation yet"
    kinds = np.bincount(windows.milestone[windows.milestone != NONE], minlength=3)[:3]
    np.testing.assert_allclose(kinds / kinds.sum(), 1 / 3, atol=0.05)


def test_hindsight_marks_every_row_of_the_option_across_the_rings_end() -> None:
    replay = filled_replay(55)
    mark_options(replay.hindsight, np.array([1]), np.array([47]), 53, np.array([3]))
    marked = np.argwhere(replay.hindsight != NONE)
    assert sorted((marked[:, 0]).tolist()) == [0, 1, 2, 47, 48, 49]
    assert (marked[:, 1] == 1).all()


def test_only_options_that_collected_something_are_marked() -> None:
    replay = filled_replay(20)
    replay.mark(ended_options(subtask=[1, 2, 0], collected=[3, NONE, 0]), np.array([17, 15, 18]))
    expected = np.full((50, 3), NONE)
    expected[17:20, 0] = 3
    expected[18:20, 2] = 0
    np.testing.assert_array_equal(replay.hindsight, expected)


def test_examples_keep_the_newest_states_with_their_options_parity() -> None:
    replay = filled_replay(20)
    examples = Examples(6, ENCODER.layout, 4)
    examples.add_options(
        replay, np.array([0, 2]), np.array([12, 17]), np.array([3, 3]), np.array([0, 1])
    )
    assert examples.counts.tolist() == [0, 0, 0, 11]
    assert examples.sizes.tolist() == [0, 0, 0, 6]
    kept = {
        (int(row), int(lane), int(parity))
        for (row, lane), parity in zip(
            examples.obs["inventory"][3], examples.parity[3], strict=True
        )
    }
    assert kept == {(17, 0, 0), (18, 0, 0), (19, 0, 0), (17, 2, 1), (18, 2, 1), (19, 2, 1)}


def test_meta_replay_is_a_ring() -> None:
    replay = MetaReplay(5, ENCODER.layout, 4)
    for start in (0, 3):
        numbers = replay.add(
            ENCODER.layout.blank(3),
            ENCODER.layout.blank(3),
            subtask=np.arange(start, start + 3),
            reward=np.zeros(3),
        )
    assert numbers.tolist() == [3, 4, 5]
    replay.bound([0, 4], 0.5)
    bounded = np.flatnonzero(np.isfinite(replay.lower_bound))
    assert bounded.tolist() == [4], "what was overwritten is not there to be bounded"
    assert replay.subtask.tolist() == [5, 1, 2, 3, 4]
    assert len(replay) == 5


def test_a_replay_gives_its_first_window_as_soon_as_it_has_one() -> None:
    assert not filled_replay(6).has_window(6)
    replay = filled_replay(7)
    assert replay.has_window(6)
    assert replay.draw_windows(3, length=6, event_share=0.5).obs["inventory"][0, :, 0].tolist() == [
        *range(7)
    ]
