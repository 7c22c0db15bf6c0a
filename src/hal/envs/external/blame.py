"""Whose fault it is if an environment's own code fails."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from hal.checks import printable
from hal.errors import ContractError


@contextmanager
def blaming(name: str, what: str) -> Iterator[None]:
    """Say whose fault it is, and where, if an environment's own code fails."""
    try:
        yield
    except (ContractError, KeyboardInterrupt):
        raise
    except BaseException as error:  # sys.exit too: whether a run ends is not up to it
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ContractError(f"{name}: {what} raised {reason} ({where})") from error


@contextmanager
def forgiving(name: str, what: str) -> Iterator[None]:
    """Say once what an environment's own code fails in, where no more depends on it."""
    try:
        with blaming(name, what):
            yield
    except ContractError as error:
        _tell(printable(str(error)))


@cache
def _tell(line: str) -> None:
    print(f"hal: {line}", file=sys.stderr)
