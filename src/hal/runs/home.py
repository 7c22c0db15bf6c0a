"""Where a run lives while it is trained: people move folders, and environments change theirs."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from hal.config.file import CONFIG
from hal.runs.folder import METRICS


class LostError(Exception):
    """A run's folder is not where it was, or empty."""


class Home:
    """A run's folder, the same one wherever the process goes.

    Args:
        path: where it is, absolute.
        name: what whoever trains the run calls it.
    """

    def __init__(self, path: Path, name: Path) -> None:
        self.path, self.name = path, name
        self._descriptor = os.open(self.path, os.O_RDONLY)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._descriptor)

    def is_there(self) -> bool:
        """Tell whether it is where it was."""
        return self._is_at(self.path)

    def check(self) -> None:
        """Raise a LostError unless it is where it was, with what a run is made of."""
        files = (self.path / CONFIG, self.path / METRICS)
        if not self.is_there() or not all(path.is_file() for path in files):
            raise LostError

    def new_path(self) -> Path | None:
        """Return where it was moved, None if nobody knows or it is no more."""
        with suppress(OSError):
            path = Path(_path_of(self._descriptor))
            return path if path != self.path and self._is_at(path) else None
        return None

    def _is_at(self, path: Path) -> bool:
        try:
            return os.path.samestat(path.stat(), os.fstat(self._descriptor))
        except OSError:
            return False


def _path_of(descriptor: int) -> str:
    """Return the present path of an open folder."""
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 (not on Windows)

        return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{descriptor}")
