"""The panel beside the grid: each thing has its place there, and nothing else moves."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hal.envs.grid.rules import CRAFTING, Game
from hal.pictures.frame import Frame
from hal.pictures.render import ACCENT, BANNER, BAR, PRUNED_BAR, draw
from tests.frames import TILE, VALUES, changed_pixels, each_game, make_frame, one_of, redness


def flipped(bits: np.ndarray, index: int) -> np.ndarray:
    return np.where(np.arange(len(bits)) == index, ~bits, bits)


def milestone_rows(frame: Frame) -> list[slice]:
    flips = [replace(frame, affordances=flipped(frame.affordances, k)) for k in range(13)]
    rows = [np.nonzero(changed_pixels(frame, other).any(axis=1))[0] for other in flips]
    return [slice(row.min(), row.max() + 1) for row in rows]


def bar_lengths(frame: Frame, color: tuple[int, int, int]) -> list[int]:
    left = draw(replace(frame, values=None), TILE).shape[1]
    bars = draw(frame, TILE)[:, left : left + 80]  # further right, there are numbers
    rows = [bars[(rows.start + rows.stop) // 2] for rows in milestone_rows(frame)]
    return [int((row == color).all(axis=-1).sum()) for row in rows]


@pytest.mark.parametrize(
    "change",
    [
        *({"inventory": one_of(item)} for item in range(12)),
        *({"affordances": flipped(make_frame().affordances, k)} for k in range(13)),
        *({"predicted": flipped(make_frame().affordances, k)} for k in range(13)),
        *({"subtask": milestone} for milestone in CRAFTING.milestones),
        {"collected": "iron"},
        {"action": "mine"},
        {"step": 8},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_panel_shows_it_and_the_grid_does_not(change: dict[str, Any]) -> None:
    frame = make_frame(predicted=make_frame().affordances)
    changed = changed_pixels(frame, replace(frame, **change))
    grid_width = frame.grid.shape[1] * TILE
    assert changed[:, grid_width:].sum() > 5
    assert not changed[:, :grid_width].any()


def test_each_item_and_each_milestone_has_its_own_row() -> None:
    frame = make_frame()
    held = [replace(frame, inventory=one_of(item)) for item in range(12)]
    afforded = [replace(frame, affordances=flipped(frame.affordances, k)) for k in range(13)]
    for others in (held, afforded):
        rows = [np.nonzero(changed_pixels(frame, other).any(axis=1))[0] for other in others]
        for above, below in itertools.pairwise(rows):
            assert above.max() < below.min()
    for milestone, row in zip(frame.milestones, rows, strict=True):
        changed = changed_pixels(frame, replace(frame, subtask=milestone))
        assert changed[row].any(axis=1).all()
        assert changed[rows[0][0] : rows[-1][-1]].any(axis=1).sum() < 30  # no other row is marked


def test_the_alert_is_there_only_when_a_milestone_was_collected() -> None:
    for collected, is_alert in ((None, False), ("iron", True)):
        is_banner = (draw(make_frame(collected=collected)) == BANNER).all(axis=-1)
        assert (is_banner.sum() > 2000) == is_alert


@pytest.mark.parametrize("size", [24, 40, 64])
@pytest.mark.parametrize("truth", [False, True])
@pytest.mark.parametrize("prediction", [None, False, True])
def test_ring_is_true_disc_predicted(size: int, truth: bool, prediction: bool | None) -> None:
    predicted = None if prediction is None else np.array([prediction])
    frame = make_frame(milestones=("log",), affordances=np.array([truth]), predicted=predicted)
    panel = draw(frame, size)[:, CRAFTING.size * size :]
    panel = panel[:, panel.shape[1] // 2 :]  # the icons further left have reds and greens, too
    rows, columns = np.nonzero(redness(panel))
    middle = (rows.min() + rows.max()) // 2, (columns.min() + columns.max()) // 2
    ring = (panel[rows.min(), middle[1]], panel[middle[0], columns.max()])
    assert [redness(pixel) for pixel in ring] == [-1 if truth else 1] * 2
    disc = truth if prediction is None else prediction
    assert redness(panel[middle]) == (-1 if disc else 1)


@pytest.mark.parametrize("size", [8, 24, 40])
@each_game
def test_values_make_the_panel_wider_whatever_they_are(game: Game, size: int) -> None:
    plain, num = draw(make_frame(game), size), len(game.milestones)
    odd = [np.nan, np.inf, -np.inf, 1e30, -1e30, -0.001]
    shapes = set()
    for values in (*np.full((6, num), np.array(odd)[:, None]), np.resize(odd, num), np.ones(num)):
        picture = draw(make_frame(game, values=values, subtask=game.milestones[-1]), size)
        shapes.add(picture.shape)
        edge = picture[:, -2:]
        assert (edge == edge[0, 0]).all()
    ((height, width, _),) = shapes
    assert (height, width % 2) == (plain.shape[0], 0)
    assert width > plain.shape[1]


def test_values_are_beside_the_names_and_change_nothing_else() -> None:
    plain, frame = make_frame(), make_frame(values=VALUES)
    rows, picture = milestone_rows(frame), draw(frame, TILE)
    width = draw(plain, TILE).shape[1] - 12  # without its margin
    table = slice(rows[0].start, rows[-1].stop)
    np.testing.assert_array_equal(picture[table, :width], draw(plain, TILE)[table, :width])
    for k, row in enumerate(rows):
        values = np.where(np.arange(13) == k, 0.45, VALUES)  # neither the least nor the best
        if VALUES[k] in (VALUES.min(), VALUES.max()):
            continue
        changed = changed_pixels(frame, replace(frame, values=values))
        assert changed[row, width:].sum() > 5
        changed[row, width:] = False
        assert not changed.any()


def test_bars_go_from_the_least_value_to_the_best() -> None:
    frame = make_frame(values=VALUES)
    best, others = bar_lengths(frame, ACCENT), bar_lengths(frame, BAR)
    assert np.flatnonzero(best).tolist() == [VALUES.argmax()]
    lengths = np.array(best) + others
    full = lengths.max()
    expected = full * (VALUES - VALUES.min()) / np.ptp(VALUES)
    assert full > 50
    assert lengths.min() == 1  # the least can be seen, too
    np.testing.assert_allclose(lengths, expected, atol=1)
    for values in (5 * VALUES - 3, VALUES.astype(np.float32)):  # of any range
        same = bar_lengths(replace(frame, values=values), BAR)
        np.testing.assert_allclose(same, others, atol=1)


def test_pruned_bars_are_dim_and_never_the_best() -> None:
    predicted = np.arange(13) < 6  # without the greatest value
    frame = make_frame(values=VALUES, predicted=predicted)
    assert np.flatnonzero(bar_lengths(frame, ACCENT)).tolist() == [VALUES[:6].argmax()]
    assert np.flatnonzero(bar_lengths(frame, PRUNED_BAR)).tolist() == [*range(6, 13)]
    pruned = replace(frame, predicted=np.zeros(13, dtype=bool))
    assert np.count_nonzero(bar_lengths(pruned, PRUNED_BAR)) == 13
    assert not any(bar_lengths(pruned, ACCENT))


def test_values_that_are_no_numbers_have_no_bars() -> None:
    values = VALUES.copy()
    values[[1, 6, 8]] = np.nan, np.inf, -np.inf
    frame = make_frame(values=values)
    lengths = np.array(bar_lengths(frame, ACCENT)) + bar_lengths(frame, BAR)
    assert np.flatnonzero(lengths == 0).tolist() == [1, 6, 8]
    assert np.flatnonzero(bar_lengths(frame, ACCENT)).tolist() == [7]
    equal = make_frame(values=np.full(13, -2.5))
    assert len({*bar_lengths(equal, BAR)[1:], *bar_lengths(equal, ACCENT)[:1]}) == 1
