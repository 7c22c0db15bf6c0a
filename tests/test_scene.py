"""Moments of environments of others, drawn and written: a picture or none, the truth or none."""

import re
from typing import Any

import numpy as np
import pytest

from hal.envs.grid.rules import CRAFTING
from hal.pictures.frame import Scene, to_png
from hal.pictures.render import ACCENT, BANNER, GREEN, HIGHLIGHT, PANEL, RED, draw
from hal.pictures.text import to_text
from tests.frames import make_frame, redness

NAMES = ("key", "door", "goal")


def make_scene(picture: np.ndarray | None = None, **changes: Any) -> Scene:
    usual: dict[str, Any] = {"affordances": None, "step": 7, "max_steps": None, "title": "toy"}
    png = None if picture is None else to_png(picture)
    return Scene(**({"milestones": NAMES, "png": png} | usual | changes))


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ((64, 64), (448, 448)),
        ((210, 160), (420, 320)),
        ((192, 352), (384, 704)),
        ((480, 480), (480, 480)),
        ((1000, 1000), (480, 480)),
        ((100, 2000), (48, 960)),
        ((3, 5), (480, 800)),
    ],
)
def test_pictures_have_a_good_size(size: tuple[int, int], shown: tuple[int, int]) -> None:
    picture = np.random.default_rng(0).integers(256, size=(*size, 3), dtype=np.uint8)
    drawn, panel = draw(make_scene(picture)), draw(make_scene())
    assert drawn.dtype == np.uint8
    assert [number % 2 for number in drawn.shape] == [0, 0, 1]
    assert drawn.shape[1] - panel.shape[1] == shown[1] + shown[1] % 2
    beside = drawn[: panel.shape[0], shown[1] : shown[1] + panel.shape[1]]
    np.testing.assert_array_equal(beside, panel)
    assert (drawn[shown[0] :, : shown[1]] == PANEL).all()
    scale = shown[0] // size[0]
    if scale:
        enlarged = np.kron(picture, np.ones((scale, scale, 1), dtype=np.uint8))
        np.testing.assert_array_equal(drawn[: shown[0], : shown[1]], enlarged)


def test_the_panel_has_no_room_for_items() -> None:
    values = np.zeros(len(CRAFTING.milestones))
    own = draw(make_frame(values=values)).shape[1] - CRAFTING.size * 40
    scene = make_scene(milestones=CRAFTING.milestones, values=values, subtask="log")
    picture = draw(scene)
    assert picture.shape[1] < 0.75 * own
    is_arrow = (picture == ACCENT).all(axis=-1)
    assert np.nonzero(is_arrow)[1].min() < 30, "it is at the left"


def test_a_panel_is_wide_enough_for_whatever_it_says() -> None:
    plain: dict[str, Any] = {"milestones": ("a", "b" * 30), "title": "somebodys.module:make_env"}
    full = plain | {"collected": "b" * 30, "subtask": "b" * 30, "action": "12"}
    full |= {"step": 9_999, "max_steps": 10_000, "predicted": np.array([True, False])}
    picture = draw(make_scene(**full))
    assert picture.shape == draw(make_scene(**plain)).shape
    for edge in (picture[:2], picture[-2:], picture[:, :2], picture[:, -2:]):
        assert (edge == PANEL).all()
    is_banner = (picture == BANNER).all(axis=-1)
    rows, columns = np.nonzero(is_banner)
    ends = is_banner[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1][:, [8, -9]]
    assert ends.all(), "the alert's text ends within it"


def test_without_the_truth_there_is_a_disc_and_no_ring() -> None:
    sizes = []
    for affordances in (None, np.array([True])):
        predicted = np.array([True])
        scene = make_scene(milestones=("log",), affordances=affordances, predicted=predicted)
        rows, _ = np.nonzero(redness(draw(scene)) == -1)
        sizes.append(np.ptp(rows))
        assert (draw(scene) == GREEN).all(axis=-1).any()
        assert not (draw(scene) == RED).all(axis=-1).any()
    assert 0 < sizes[0] < 0.7 * sizes[1]
    nothing = draw(make_scene(milestones=("log",)))
    assert not redness(nothing).any()
    pursued = draw(make_scene(predicted=np.ones(3, dtype=bool), subtask="door"), 120)
    rows, columns = np.nonzero((pursued == HIGHLIGHT).all(axis=-1))
    bar = pursued[rows.min() : rows.max() + 1, columns.min() + 20 : columns.max() - 20]
    assert not (bar == PANEL).all(axis=-1).any(), "nor is there the gap of a ring"


def test_without_the_truth_the_agent_says_what_is_possible() -> None:
    predicted, truth = np.array([True, False, True]), np.array([False, False, True])
    for scene, possible in (
        (make_scene(predicted=predicted), [True, False, True]),
        (make_scene(predicted=predicted, affordances=truth), [False, False, True]),
        (make_scene(), [True, True, True]),
    ):
        assert [mark.is_possible for mark in scene.marks()] == possible


def test_text_without_truth_and_grid() -> None:
    scene = make_scene(
        np.zeros((24, 32, 3), dtype=np.uint8),
        predicted=np.array([True, False, True]),
        subtask="door",
    )
    lines = to_text(scene, color=False).splitlines()
    assert lines == [
        "toy  step 7",
        "action: -  subtask: door",
        "",
        "milestones: predicted",
        "  o key",
        "* x door",
        "  o goal",
    ]
    told = make_scene(affordances=np.array([True, False, True]), max_steps=9, collected="key")
    text = to_text(told, color=False)
    assert text.splitlines()[2:5] == ["milestone: key", "milestones", "  o key"]
    assert "step 7 / 9" in text


@pytest.mark.parametrize(("size", "blocks"), [((6, 4), (3, 4)), ((1000, 700), (20, 28))])
def test_colored_text_has_a_small_picture(size: tuple[int, int], blocks: tuple[int, int]) -> None:
    picture = np.full((*size, 3), (200, 100, 50), dtype=np.uint8)
    picture[1::2] = 10, 20, 30
    lines = to_text(make_scene(picture)).splitlines()[3:]
    assert [line.count("▀") for line in lines if "▀" in line] == [blocks[1]] * blocks[0]
    starts = {
        re.sub(r"\x1b[^m]*m", "", line).index(name)
        for line, name in zip(lines[1:], NAMES, strict=False)
    }
    assert starts == {blocks[1] + 4}, "names are below each other, and below no picture, too"
    if size == (6, 4):
        assert lines[0].startswith("\x1b[38;2;200;100;50;48;2;10;20;30m▀")
