"""Writing files so that nothing that happens leaves half of one, and nobody else writes there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def all_or_nothing(path: Path) -> Iterator[Path]:
    """Yield where to write; the file is at its place only when that is done."""
    part = path.with_name(path.name + ".part")
    try:
        yield part
        flush(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def file_name(title: str) -> str:
    """Return a title as a name for a file or folder."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in title)


def write_text(path: Path, text: str) -> None:
    """Write a text file all or nothing."""
    with all_or_nothing(path) as part:
        part.write_text(text, encoding="utf-8")


def flush(path: Path) -> None:
    """Bring a file or folder to the disk, so that not even a power cut undoes it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path, refusal: str, patience: float = 0.0) -> Iterator[None]:
    """Hold a lock, which goes with this process, however it ends; or refuse with these words."""
    try:
        with FileLock(path, timeout=patience):
            yield
    except Timeout:
        raise ValueError(refusal) from None
