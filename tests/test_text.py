"""Moments of the games as text: everything is said, and colour adds nothing."""

import re
from dataclasses import replace

import numpy as np

from hal.envs.grid.rules import CRAFTING, Game
from hal.pictures.text import AGENT_SYMBOLS, CELLS, to_text
from tests.frames import VALUES, each_game, make_frame, one_of


@each_game
def test_every_tile_has_its_own_characters_in_its_cell(game: Game) -> None:
    symbols = [CELLS[tile][0] for tile in game.tiles]
    assert len({*symbols, *AGENT_SYMBOLS}) == len(game.tiles) + 4
    for direction in range(4):
        frame = make_frame(game, direction=direction)
        lines = to_text(frame, color=False).splitlines()
        top = next(number for number, line in enumerate(lines) if line.startswith("##"))
        for (row, column), code in np.ndenumerate(frame.grid):
            is_agent = (row, column) == frame.position
            expected = "^>v<"[direction] if is_agent else symbols[code]
            assert lines[top + row][2 * column : 2 * column + 2] == expected.ljust(2)


def test_text_without_color_says_everything() -> None:
    frame = make_frame(inventory=17 * one_of(2), predicted=np.arange(13) % 3 == 0)
    frame = replace(frame, action="craft_wood", subtask="iron_ore", collected="wood")
    text = to_text(frame, color=False)
    for words in ("step 7 / 4320", "action: craft wood", "subtask: iron ore", "milestone: wood"):
        assert words in text
    panel = [re.split(r" {2,}", line[24:].strip()) for line in text.splitlines()[3:17]]
    assert panel[0] == ["items", "milestones: true, predicted"]
    assert panel[1] == ["17 wood", "o o log"]
    marks = [row[0] for row in panel[2:]]
    assert marks[:3] == ["x x wood", "o x stick", "x o crafting bench"]
    assert [mark for mark in marks if "*" in mark] == ["* o x iron ore"]
    assert "predicted" not in to_text(make_frame())


def test_text_shows_values_in_one_column() -> None:
    values = np.array([0.125, -0.3, -0.001, 12.5, -9.996, np.nan, np.inf, -np.inf, *VALUES[:5]])
    text = to_text(make_frame(values=values, subtask="wood"), color=False)
    header, *lines = [line[24:] for line in text.splitlines()[3:17]]
    assert header.endswith("milestones: true, value")
    numbers = ["0.12", "-0.30", "0.00", "9.99", "-9.99", "nan", "inf", "-inf"]
    for line, number, name in zip(lines, numbers, CRAFTING.milestones, strict=False):
        assert line.endswith(f"{number:>5} {name.replace('_', ' ')}")
    assert lines[1].endswith("* x -0.30 wood")
    text = to_text(make_frame(values=VALUES, predicted=VALUES > 0), color=False)
    assert "milestones: true, predicted, value" in text
    assert "o x -0.30 stick" in text


def test_color_adds_only_escape_codes() -> None:
    frame = make_frame(predicted=np.ones(13, dtype=bool), subtask="log", collected="log")
    frame = replace(frame, values=VALUES)
    colored, plain = to_text(frame), to_text(frame, color=False)
    assert "\x1b" not in plain
    assert {"\x1b[38;5;77mo", "\x1b[38;5;203mx"} <= set(re.findall(r"\x1b[^m]*m[ox]", colored))
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
