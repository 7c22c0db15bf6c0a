"""What a user is told while environments are compiled."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_MOMENT = 1.5  # seconds of silence before a user is told what is going on


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Tell on stderr what is compiled if the block, its first calls, takes its time."""
    message = f"hal: compiling {what} (once per installation) ...\n"
    timer = threading.Timer(_MOMENT, sys.stderr.write, [message])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
