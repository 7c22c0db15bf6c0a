"""Random command lines, from the real arguments and values that are legal now and then."""

import inspect
import os
import random
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

from benchmarks.fuzz.answers import answer_to, bounded
from hal.cli import commands
from hal.cli.entry import parsed
from hal.cli.train import train_from
from hal.config.names import spellings
from hal.config.settings import GROUPS, Config

READING: dict[str, Callable[..., None]] = {
    "eval": commands.evaluate,
    "watch": commands.watch,
    "plot": commands.plot,
    "compare": commands.compare,
    "runs": commands.runs,
    "methods": commands.methods,
    "tasks": commands.tasks,
}
# Of these only the words are read: they open windows, or go on for long.
DOING: dict[str, Callable[..., None]] = {
    "play": commands.play,
    "check": commands.check,
    "reproduce": commands.reproduce,
    "studio": commands.studio,
}
VALUES = [
    *("", "-", "--", "0", "1", "-1", "3.5", "1e9", "nan", "inf", "-inf", "9" * 30, "9" * 5000),
    *("x", "é", "\x1b[31m", "a b", "None", "True", "[1]", "{}", "fast", "paper", "hal", "rainbow"),
    *("treasure", "iron", "gold", "os:abort", "no.such:make", "a:b:c", "minigrid/x", "nowhere"),
    *("good.toml", "bad.toml", "odd.toml", "pipe.toml", "folder", "cpu", "cuda", "log", "red_key"),
]
FILES = {
    "good.toml": "steps = 5\n[meta]\ndiscount = 0.5\n",
    "bad.toml": "task = [",
    "odd.toml": 'task = 5\nmethod = ["x"]\npreset = {}\n',
}


def attack(count: int, seed: int) -> list[str]:
    """Return what is not legal among the answers to so many command lines."""
    faults, before = [], Path.cwd()
    with tempfile.TemporaryDirectory() as place, bounded():
        os.chdir(place)
        try:
            for name, text in FILES.items():
                Path(name).write_text(text)
            Path("folder").mkdir()
            os.mkfifo("pipe.toml")
            for number in range(count):
                words = command_line(random.Random(f"{seed}-{number}"))
                fault = _try(words)
                faults += [f"command {seed}-{number}: hal {words}: {fault}"] if fault else []
        finally:
            os.chdir(before)
    return faults


def command_line(rng: random.Random) -> list[str]:
    """Return the words of a command line that is almost legal."""
    command = rng.choice(["train"] * 6 + [*READING, *DOING] + ["nosuch", *VALUES[:6]])
    words = [command] + [rng.choice(VALUES) for _ in range(rng.choice([0, 0, 1, 1, 2]))]
    names = _names_of(command)
    for _ in range(rng.randrange(4)):
        name = rng.choice([*names, "nosuch", "help"] if rng.random() < 0.1 else names or ["nosuch"])
        if rng.random() < 0.2:  # a slip of the hand
            at = rng.randrange(len(name))
            name = name[:at] + rng.choice("ab-.=_") + name[at + 1 :]
        no = rng.choice(["", "", "", "no-"])
        values = [rng.choice(VALUES) for _ in range(rng.choice([0, 1, 1, 1, 2]))]
        word = f"--{no}{name.replace('_', '-')}"
        is_joined = bool(values) and rng.random() < 0.3
        words += [f"{word}={values[0]}", *values[1:]] if is_joined else [word, *values]
    return words


def _names_of(command: str) -> list[str]:
    if command == "train":
        taken = inspect.signature(train_from(Config(), {}, [])).parameters
        return [*spellings(), *[name for name in taken if name not in GROUPS] * 4]
    function = (READING | DOING).get(command)
    return [] if function is None else list(inspect.signature(function).parameters)


def _try(words: list[str]) -> str:
    """Answer a command line as far as nothing is trained; return what is wrong, if anything."""
    with ExitStack() as stack:
        stack.enter_context(patch("hal.runs.lifecycle.run_training"))
        if words[0] in DOING:
            stack.enter_context(patch("hal.cli.entry.parsed", _only_parsed))
        return answer_to(words).fault


def _only_parsed(words: list[str]) -> object:
    parsed(words)
    return lambda: None
