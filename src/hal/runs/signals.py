"""Requests to stop, taken when it suits."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

STOPPING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class Signals:
    """Notes the first request to stop; a second one interrupts at once, and so does the first
    where nobody is patient.
    """

    def __init__(self) -> None:
        self.noticed: int | None = None
        self.is_patient = True
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        """Begin to listen; only a process's main thread can."""
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._notice) for number in STOPPING}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave signals to whoever had them."""
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    @property
    def code(self) -> int:
        """The exit code of a process that was stopped so."""
        return 128 + (self.noticed or signal.SIGINT)

    def _notice(self, number: int, _: FrameType | None) -> None:
        is_first, self.noticed = self.noticed is None, self.noticed or number
        if not (is_first and self.is_patient):
            raise KeyboardInterrupt


@contextmanager
def delayed() -> Iterator[None]:
    """Let a request to stop wait until this is done, or there is a second one.

    What it interrupts in a kernel's call, numba makes an error of its own.
    """
    signals = Signals()
    try:
        with signals:
            yield
    finally:
        if signals.noticed is not None:
            signal.raise_signal(signals.noticed)


def is_stop(error: BaseException) -> bool:
    """Tell whether an error is what has become of a request to stop."""
    by_numba = isinstance(error, SystemError) and isinstance(error.__cause__, KeyboardInterrupt)
    return isinstance(error, KeyboardInterrupt) or by_numba
