"""What a user is told while environments are compiled."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_MOMENT = 1.5  # CPU seconds; what is compiled already takes less, however busy the machine is
_TICK = 0.2


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Tell on stderr what is compiled if the block, its first calls, takes its time."""
    is_over, start = threading.Event(), time.process_time()

    def tell() -> None:
        while not is_over.wait(_TICK):
            if time.process_time() > start + _MOMENT:
                sys.stderr.write(f"hal: compiling {what} (once per installation) ...\n")
                return

    threading.Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        is_over.set()
