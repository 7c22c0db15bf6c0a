"""Part of an attack: `python -m benchmarks.fuzz.part NAME COUNT SEED`."""

import os
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from multiprocessing.connection import Connection
from typing import IO

import torch

from benchmarks.fuzz.forks import FORK

ATTACKS = ("folders", "commands", "environments", "steps", "kills")


def find(name: str, count: int, seed: int) -> list[str]:
    """Return what a part of an attack finds, in a process of its own, which may die of it."""
    attack: Callable[[int, int], list[str]] = import_module(f"benchmarks.fuzz.{name}").attack
    taking, giving = FORK.Pipe(duplex=False)
    with tempfile.TemporaryFile() as words:
        process = FORK.Process(target=_attack, args=(attack, count, seed, giving, words))
        process.start()
        giving.close()
        try:
            found: list[str] = taking.recv()
        except EOFError:
            process.join()
            words.seek(0)
            told = words.read().decode(errors="replace")[-1000:]
            found = [f"{name} {seed}: ended with {process.exitcode}: {told}"]
        finally:
            process.kill()
            process.join()
    return found


def _attack(
    attack: Callable[[int, int], list[str]],
    count: int,
    seed: int,
    giving: "Connection[list[str], None]",
    words: IO[bytes],
) -> None:
    """Attack in a session of its own, as Ctrl-C is for the parent, and silently."""
    os.setsid()
    torch.set_num_threads(1)
    for stream in (1, 2):
        os.dup2(words.fileno(), stream)
    giving.send(attack(count, seed))


if __name__ == "__main__":
    name, count, seed = sys.argv[1:]
    if name not in ATTACKS:
        sys.exit(f"attack {name!r}; legal: {', '.join(ATTACKS)}")
    print(*find(name, int(count), int(seed)) or ["nothing"], sep="\n")
