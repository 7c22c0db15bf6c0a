"""Processes that begin with what this one has imported and compiled."""

import multiprocessing
import os
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

from hal.cli import main

FORK = multiprocessing.get_context("fork")


def start(words: list[str], errors: Path) -> BaseProcess:
    """Begin a command in a process of its own, which writes what is wrong to a file."""
    process = FORK.Process(target=_do, args=(words, errors))
    process.start()
    return process


def _do(words: list[str], errors: Path) -> None:
    for stream, path in ((1, Path(os.devnull)), (2, errors)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.argv = ["hal", *words]
    main()
