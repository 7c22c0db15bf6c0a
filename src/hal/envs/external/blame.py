"""Whose fault it is if an environment's own code fails."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hal.errors import ContractError


@contextmanager
def blaming(name: str, what: str) -> Iterator[None]:
    """Say whose fault it is, and where, if an environment's own code fails."""
    try:
        yield
    except ContractError:
        raise
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ContractError(f"{name}: {what} raised {reason} ({where})") from error
