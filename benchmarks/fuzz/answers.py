"""What `hal` answers to a command line, in this process, and whether that is legal."""

import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from unittest.mock import patch

from hal.cli import main

PATIENCE = 20.0  # CPU seconds after which somebody presses Ctrl-C
SLOWEST = 15  # times as long it may take on a machine that has other things to do
AGAIN = 1.0  # and presses it again
MEMORY = 6 * 2**30  # bytes of addresses beyond what the process has, so that none are used up
STOPPED = 130


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    code: int
    out: str
    err: str
    trace: str = ""  # of what nobody caught

    @property
    def fault(self) -> str:
        """What is not legal about it, nothing if all is."""
        lines = self.err.splitlines()
        if self.trace:
            return self.trace
        if self.code == STOPPED:  # it was at work, and what it was asked for takes long
            return "" if "stopped after" in self.err else "hangs"
        if self.code not in (0, 1, 2):
            return f"exit code {self.code}"
        if any(not line.startswith("hal: ") for line in lines):
            return f"strange words: {self.err[:300]!r}"
        if self.code and (not lines or not lines[-1].removeprefix("hal: ")):
            return "no reason is told"
        return "an escape sequence" if {"\x1b", "\x07"} & {*self.out, *self.err} else ""


def answer_to(words: list[str], patience: float = PATIENCE) -> Answer:
    """Run a command; one that does not end is stopped as a person would."""
    out, err, code, trace = StringIO(), StringIO(), 0, ""
    try:
        with (
            patch.object(sys, "argv", ["hal", *words]),
            redirect_stdout(out),
            redirect_stderr(err),
            _pressing(patience),
        ):
            main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        trace = traceback.format_exc(limit=-3)
    return Answer(code, out.getvalue(), err.getvalue(), trace)


@contextmanager
def _pressing(patience: float) -> Iterator[None]:
    """Press Ctrl-C after a while, again and again."""
    is_over, thread = threading.Event(), threading.main_thread().ident
    assert thread is not None

    def press() -> None:
        start, deadline = time.process_time(), time.monotonic() + patience * SLOWEST
        while not is_over.wait(AGAIN):
            if time.process_time() > start + patience or time.monotonic() > deadline:
                signal.pthread_kill(thread, signal.SIGINT)

    person = threading.Thread(target=press)
    person.start()
    try:
        yield
    finally:
        is_over.set()
        person.join()


@contextmanager
def bounded() -> Iterator[None]:
    """Refuse memory beyond a bound: a network of a million units is an error, not the end."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)
