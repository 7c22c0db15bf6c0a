"""Environments that break one promise each, and the runs that are trained in them."""

import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import chdir, suppress
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import gymnasium
import numpy as np
from gymnasium import spaces

from benchmarks.fuzz.answers import STOPPED, Answer, answer_to, bounded
from benchmarks.fuzz.folders import SMALL
from hal.config.names import path_of

NAME = f"{__name__}:make"
MILESTONES = ("key", "door")
HANGS = ("hang", "spin", "close hangs")
PATIENCE = 60.0  # CPU seconds; a run takes two
DEADLY = ("os_exit", "kill")  # not for the process that trains
Step = tuple[Any, Any, Any, Any, Any]


class Plan(NamedTuple):
    """What an environment does wrong, and when."""

    fault: str = ""
    at: int = 1  # step of this lane
    space: str = "vector"
    length: int = 6  # of episodes
    is_truncated: bool = True  # where they end without success


PLAN = Plan()
TRAINER = 0  # the process that trains in it; lanes may have others
SPACES: dict[str, spaces.Space[Any]] = {
    "vector": spaces.Box(-10, 10, (2,), np.float32),
    "cells": spaces.Box(0, 9, (3, 3), np.uint8),
    "number": spaces.Discrete(10),
    "bits": spaces.MultiBinary(4),
    "parts": spaces.Dict(a=spaces.Discrete(10), b=spaces.Box(0, 1, (2,), np.float64)),
    "picture": spaces.Box(0, 255, (36, 36, 3), np.uint8),
}


class Breaking(gymnasium.Env[Any, Any]):
    """A corridor of five cells that keeps its promises until a step."""

    milestones: Any = MILESTONES
    final_milestone: Any = "door"
    action_space: Any = spaces.Discrete(2)

    def __init__(self, plan: Plan) -> None:
        self.plan, self.num_steps = plan, 0
        self.observation_space = SPACES[plan.space]
        for name, value in SAYS.get(plan.fault, {}).items():
            setattr(self, name, value)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        """Begin in the middle."""
        super().reset(seed=seed)
        self.place, self.has_key, self.age = 2, False, 0
        return self.seen(), self.told(None)

    def step(self, action: Any) -> Any:
        """Go left or right."""
        self.num_steps += 1
        self.age += 1
        self.place = int(np.clip(self.place + (1 if action else -1), 0, 4))
        got = "key" if self.place == 0 and not self.has_key else None
        self.has_key |= self.place == 0
        is_done = self.has_key and self.place == 4
        is_over = self.age >= self.plan.length
        truncated = is_over and self.plan.is_truncated and not is_done
        terminated = is_done or (is_over and not truncated)
        told = self.told("door" if is_done else got)
        step = (self.seen(), float(is_done), terminated, truncated, told)
        has_come = self.num_steps >= self.plan.at and self.plan.fault in FAULTS
        return FAULTS[self.plan.fault](step) if has_come else step

    def told(self, got: str | None) -> dict[str, Any]:
        """Signal a milestone."""
        return {"milestones": np.array([name == got for name in MILESTONES])}

    def seen(self) -> Any:
        """Return something that tells the state apart."""
        code = self.place + 5 * self.has_key
        if self.plan.space == "number":
            return np.int64(code)
        if self.plan.space == "parts":
            return {"a": np.int64(code), "b": np.array([self.place / 4, self.has_key])}
        space = self.observation_space
        assert space.shape is not None
        assert space.dtype is not None
        return np.full(space.shape, code % 2 if self.plan.space == "bits" else code, space.dtype)

    def close(self) -> None:
        """Close, or not."""
        if self.plan.fault == "close raises":
            raise RuntimeError("it is\nstuck")
        if self.plan.fault == "close exits":
            sys.exit(0)
        if self.plan.fault == "close hangs":
            _hang()


def make() -> Any:
    """Make the environment that is planned."""
    if PLAN.fault == "making exits":
        sys.exit(3)
    if PLAN.fault == "making raises":
        raise KeyError("x")
    return 3 if PLAN.fault == "makes a number" else Breaking(PLAN)


def _raise(error: BaseException) -> Callable[[Step], Any]:
    def fail(_: Step) -> Any:
        raise error

    return fail


def _with(place: int, value: Any) -> Callable[[Step], Any]:
    return lambda step: (*step[:place], value, *step[place + 1 :])


def _signals(value: Any) -> Callable[[Step], Any]:
    return _with(4, {"milestones": value})


def _hang(_: Step | None = None) -> Any:
    _press_twice()
    while True:
        time.sleep(5)
        if os.getpid() == TRAINER:  # an environment that was left over has taken what was pressed
            os.kill(TRAINER, signal.SIGINT)


def _spin(_: Step) -> Any:
    threading.Thread(target=_press_twice, daemon=True).start()
    while True:
        pass


def _press_twice() -> None:
    """Press Ctrl-C as somebody would who sees it hang; one lane does."""
    with suppress(FileExistsError):
        Path("pressed").touch(exist_ok=False)
        for _ in range(2):
            time.sleep(0.5)
            os.kill(TRAINER, signal.SIGINT)


def _deep(step: Step) -> Any:
    return _deep(step)


def _move(step: Step) -> Any:
    os.chdir(tempfile.gettempdir())
    return step


SAYS: dict[str, dict[str, Any]] = {
    "no milestones": {"milestones": ()},
    "milestones are a word": {"milestones": "key"},
    "milestones are numbers": {"milestones": (1, 2)},
    "twice": {"milestones": ("key", "key")},
    "escapes": {"milestones": ("k\x1b[31m", "d\x07"), "final_milestone": "d\x07"},
    "another end": {"final_milestone": "\x1b]0;x\x07"},
    "no end": {"final_milestone": None},
    "actions": {"action_space": spaces.Box(0, 1, (1,))},
    "no actions": {"action_space": None},
    "no space": {"observation_space": None},
    "endless": {"observation_space": spaces.Box(0, 255, (2000, 2000, 3), np.uint8)},
}
FAULTS: dict[str, Callable[[Step], Any]] = {
    "exit": _raise(SystemExit(0)),
    "exit with words": _raise(SystemExit("bye \x1b[31m")),
    "generator": _raise(GeneratorExit()),
    "stop": _raise(StopIteration()),
    "raise": _raise(ValueError("a\nb\x1b]0;x\x07")),
    "silent": _raise(AssertionError()),
    "broken pipe": _raise(BrokenPipeError("no one reads")),
    "memory": _raise(MemoryError()),
    "os_exit": lambda _: os._exit(5),
    "kill": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "hang": _hang,
    "spin": _spin,
    "deep": _deep,
    "chdir": _move,
    "none": lambda _: None,
    "four": lambda step: step[:4],
    "obs none": _with(0, None),
    "obs nan": _with(0, np.full(2, np.nan, np.float32)),
    "obs long": _with(0, np.zeros(7, np.float32)),
    "obs words": _with(0, "\x1b[31m"),
    "reward nan": _with(1, float("nan")),
    "reward word": _with(1, "x"),
    "reward huge": _with(1, 1e300),
    "reward array": _with(1, np.zeros(2)),
    "reward long": _with(1, 10**400),
    "terminated none": _with(2, None),
    "terminated array": _with(2, np.array([True, False])),
    "truncated word": _with(3, "no"),
    "info none": _with(4, None),
    "info empty": _with(4, {}),
    "signals short": _signals(np.zeros(1, np.bool_)),
    "signals numbers": _signals(np.array([0.0, 1.0])),
    "signals none": _signals(None),
    "signals words": _signals(["\x1b[31m", "b"]),
    "signals ragged": _signals([[1], [1, 2]]),
    "all at once": _signals(np.ones(2, np.bool_)),
    "info odd": lambda step: (*step[:4], {**step[4], "lambda": lambda: 1, "x": {"y": [step]}}),
}
OTHERS = ["", "close raises", "close exits", "close hangs"]
OTHERS += ["making exits", "making raises", "makes a number"]
ALL = [*FAULTS, *SAYS, *OTHERS]


def attack(count: int, seed: int) -> list[str]:
    """Return what is not legal among the answers to so many environments."""
    faults = []
    with tempfile.TemporaryDirectory() as place, bounded():
        for number in range(count):
            rng = random.Random(f"{seed}-{number}")
            fault = ALL[(number + seed) % len(ALL)]
            plan = Plan(
                fault,
                rng.choice([1, 2, 30, 50]),
                rng.choice([*SPACES]),
                rng.choice([1, 2, 6, 50]),
                rng.random() < 0.5,
            )
            uses_processes = fault in DEADLY or rng.random() < 0.3
            told = try_env(plan, uses_processes, Path(place) / str(number))
            faults += [f"environment {seed}-{number}: {plan} {told}"] if told else []
    return faults


def try_env(plan: Plan, uses_processes: bool, place: Path) -> str:
    """Train in an environment, then go on in a sound one; return what is wrong, if anything."""
    place.mkdir()
    answer = train_in(plan, place, *["--processes"] * uses_processes)
    if answer.fault or (answer.code == STOPPED) != (plan.fault in HANGS):
        return answer.fault or "hangs"
    if (place / "run" / "checkpoints").exists():
        answer = resume_in(Plan(space=plan.space), place)
        if answer.fault or answer.code:
            return f"resumed: {answer.fault or answer.err}"
    if answer.code == 0 and not (place / "run" / "evaluation.json").is_file():
        return "the run is not done"
    left = multiprocessing.active_children()
    return f"processes are left: {left}" if left else ""


def train_in(plan: Plan, place: Path, *more: str) -> Answer:
    """Return what `hal train` answers in a folder."""
    words = [f"--{path_of(name)}={value}" for name, value in SMALL.items()]
    words += ["--env", NAME, "--out", "run", "--episodes", "2", "--checkpoint-seconds", "0"]
    return _answer(plan, place, [*words, *more])


def resume_in(plan: Plan, place: Path) -> Answer:
    """Return what `hal train --resume` answers there."""
    return _answer(plan, place, ["--resume", "run"])


def _answer(plan: Plan, place: Path, words: list[str]) -> Answer:
    here = patch(f"{__name__}.PLAN", plan), patch(f"{__name__}.TRAINER", os.getpid())
    with here[0], here[1], chdir(place):  # as people do: `run` is a plain name
        return answer_to(["train", *words], PATIENCE)
