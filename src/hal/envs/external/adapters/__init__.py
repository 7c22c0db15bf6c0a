"""Environments of other packages, with milestones: a module for each package.

A module has `NAMES`, what it can make (the first is its default), and `make(name, render_mode)`. It
can be imported without its package.
"""

from importlib import import_module
from typing import Any


def load(package: str, extra: str = "") -> Any:
    """Import a package that is not required, or say how to get it: by an extra, mostly its name."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        how = f"pip install 'hal-rl[{extra or package}]'"
        raise ValueError(f"{package} is not installed; {how}") from error
