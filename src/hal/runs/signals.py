"""Requests to stop, taken when it suits."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Self

STOPPING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class Signals:
    """Notes the first request to stop; as long as nobody is patient it interrupts at once."""

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
        self.noticed = self.noticed or number
        if not self.is_patient:
            raise KeyboardInterrupt
