"""Writing files so that nothing that happens leaves half of one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
