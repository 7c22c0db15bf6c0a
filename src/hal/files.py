"""Files, written so that nothing that happens leaves half of one and nobody else writes there.

What is read or written is a file of its own: no link, pipe or device that a stranger put there.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def all_or_nothing(path: Path) -> Iterator[Path]:
    """Yield where to write; the file is at its place only when that is done."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)  # a killed process's, or a link that leads elsewhere
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield part
        flush(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def file_name(title: str) -> str:
    """Return a title as a name for a file or folder."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in title)


def read_bytes(path: Path) -> bytes:
    """Read a file; a pipe or a device could go on for ever."""
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no file")
    return path.read_bytes()


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
