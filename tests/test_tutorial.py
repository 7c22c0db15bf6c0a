"""The tutorial's code is that of the examples, its commands run, the tea house keeps its rules."""

import re
import runpy
import shlex
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from examples import beliefs, tea
from gymnasium.utils.env_checker import check_env

from hal.cli.entry import main

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
COMMANDS = re.findall(r"^(?:hal|python -m) .*", PAGE, re.MULTILINE)
TINY = (
    "--steps=400 --num-lanes=8 --warmup-steps=100 --width=16 --meta-width=16 --context-width=16 "
    "--batch-windows=4 --triplets=16 --meta-batch=16 --replay-steps=1000 --meta-replay=500 "
    "--examples=100 --episodes=3"
)


def source(name: str) -> str:
    return (ROOT / "examples" / f"{name}.py").read_text()


def run(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a command of the tutorial, at a tiny scale if it trains or evaluates."""
    command = re.sub(r" --steps \d+", "", command)
    if command.startswith("hal train"):
        command += f" {TINY}"
    elif command.startswith("hal eval"):
        command += " --episodes=3"
    words = shlex.split(command)
    if words[0] == "hal":
        monkeypatch.setattr(sys, "argv", words)
        main()
    else:
        monkeypatch.setattr(sys, "argv", words[2:])
        runpy.run_path(str(ROOT / f"{words[2].replace('.', '/')}.py"), run_name="__main__")


# --- The page -------------------------------------------------------------------------------


def test_the_code_shown_is_that_of_the_examples() -> None:
    *pieces, script = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert "\n\n".join(pieces) == source("tea")
    assert script == source("beliefs")


def test_the_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        run(command, monkeypatch)
    assert (tmp_path / "tea.gif").is_file()
    told, untold = ((Path("runs") / name / "weights.safetensors") for name in ("open", "tea"))
    assert told.read_bytes() == untold.read_bytes(), "nobody learns from what is told"
    text = capsys.readouterr().out
    assert "mask accuracy" in text
    assert re.search(r"^carried +pursued +water +boil +leaves +brew +serve$", text, re.MULTILINE)


def test_the_check_prints_what_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lines(text: str) -> list[str]:
        return [line for line in text.splitlines() if "steps per CPU second" not in line]

    command = next(command for command in COMMANDS if command.startswith("hal check"))
    run(command, monkeypatch)
    shown = re.search(r"```\n(examples\.tea:make: .*?)```", PAGE, re.DOTALL)
    assert shown is not None
    assert lines(capsys.readouterr().out) == lines(shown[1])


# --- The tea house --------------------------------------------------------------------------


def cells(env: tea.TeaHouse) -> list[list[int]]:
    """Return where the cook can stand."""
    return np.argwhere(env.ground != tea.WALL).tolist()


def go_and_use(env: tea.TeaHouse, thing: str) -> list[str]:
    """Walk to a thing and use it; return the milestones on the way."""
    ((row, column),) = np.argwhere(env.ground == tea.THINGS.index(thing)).tolist()
    down, right = row - env.row, column - env.column
    walk = [int(down > 0)] * abs(down) + [2 + int(right > 0)] * abs(right)
    collected: list[str] = []
    for action in (*walk, tea.USE):
        _, reward, terminated, truncated, info = env.step(action)
        collected += [env.milestones[k] for k in np.flatnonzero(info["milestones"])]
        assert reward == terminated == ("serve" in collected)
        assert not truncated
    return collected


@pytest.mark.filterwarnings("ignore:.*Not able to test alternative render modes")
@pytest.mark.parametrize("make", [tea.make, tea.make_open])
def test_gymnasium_finds_no_fault(make: type[tea.TeaHouse]) -> None:
    check_env(make("rgb_array"))


@pytest.mark.parametrize("seed", range(20))
def test_the_chain_leads_to_tea(seed: int) -> None:
    env = tea.make()
    _, info = env.reset(seed=seed)
    assert not info["milestones"].any()
    things = ("tap", "stove", "shelf", "teapot", "guest")
    assert [go_and_use(env, thing) for thing in things] == [[name] for name in tea.RULES]


def test_there_is_no_short_cut() -> None:
    env = tea.make()
    env.reset(seed=0)
    for thing in ("guest", "teapot", "stove"):
        assert go_and_use(env, thing) == []
    assert go_and_use(env, "tap") == ["water"]
    assert go_and_use(env, "tap") == [], "one of each good"
    assert go_and_use(env, "teapot") == [], "cold water makes no tea"


def test_the_guest_leaves() -> None:
    env = tea.make()
    env.reset(seed=0)
    ends = [env.step(0)[2:4] for _ in range(tea.MAX_STEPS)]
    assert ends[-1] == (False, True)
    assert not np.any(ends[:-1])


def test_what_is_told_to_be_possible_is_what_can_be_done_somewhere() -> None:
    env = tea.make_open()
    env.reset(seed=0)
    for size in range(len(tea.GOODS) + 1):
        for goods in map(set, combinations(tea.GOODS, size)):
            done = set()
            for row, column in cells(env):
                env.row, env.column, env.goods = row, column, goods
                done.add(env.use())
            env.goods = goods
            possible = env.told(None)["affordances"]
            assert possible.tolist() == [name in done for name in env.milestones]


def test_doing_what_is_possible_ends_in_tea() -> None:
    """Whatever is done, the guest is served after nine milestones at the latest."""
    env = tea.make_open()
    env.reset(seed=0)

    def longest(goods: frozenset[str]) -> int:
        lengths = []
        for name, (_, takes, gives) in tea.RULES.items():
            env.goods = set(goods)
            if env.can(takes, gives):
                after = goods.difference(takes).union(gives)
                lengths.append(1 if name == "serve" else 1 + longest(after))
        return max(lengths)

    assert longest(frozenset()) == 9


def test_the_cook_sees_everything_from_everywhere() -> None:
    env = tea.make("rgb_array")
    env.reset(seed=0)
    for row, column in cells(env):
        env.row, env.column = row, column
        view = env.observed()["view"]
        assert view[tea.SIZE - 1, tea.SIZE - 1] == env.ground[row, column]
        assert np.isin(range(len(tea.THINGS)), view).all()
        assert env.render().shape == (7 * tea.TILE, 7 * tea.TILE, 3)


def test_wrong_beliefs_are_marked() -> None:
    pairs = [(True, True), (True, False), (False, True), (False, False)]
    assert [beliefs.mark(*pair) for pair in pairs] == ["yes", "yes!", "-!", "-"]
