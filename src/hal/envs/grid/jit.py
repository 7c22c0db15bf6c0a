"""Compiled kernels, cached on disk so that a change to any kernel or table is noticed.

numba's own cache looks only at the file of the function it compiles: a changed table or helper in
another file would go unnoticed. So the cache folder is named by the content of all of them.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba

_numba_config: Any = numba.config  # its attributes are made at run time

P = ParamSpec("P")
R = TypeVar("R")

# Every module with a kernel, or with a constant that a kernel is compiled with.
KERNEL_MODULES = (
    "rules",
    "rng",
    "state",
    "geometry",
    "settings",
    "crafting",
    "treasure",
    "affordances",
    "lanes",
)


def _cache_folder() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for name in KERNEL_MODULES:
        digest.update((Path(__file__).parent / f"{name}.py").read_bytes())
    base = Path(_numba_config.CACHE_DIR or Path.home() / ".cache" / "hal")
    return str(base / f"kernels-{digest.hexdigest()[:16]}")


_CACHE_FOLDER = _cache_folder()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function with numba, cached on disk."""
    before = _numba_config.CACHE_DIR
    _numba_config.CACHE_DIR = _CACHE_FOLDER
    try:
        compiled: Callable[P, R] = numba.njit(cache=True)(function)
        return compiled
    finally:
        _numba_config.CACHE_DIR = before
