"""Other people's environments by name: `module:function`, or an adapter's name."""

import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from hal.envs.external import adapters
from hal.envs.external.blame import blaming

Make = Callable[..., Any]


def is_external(task: str) -> bool:
    """Tell whether a task is an environment not of this package: module:function, or an adapter."""
    adapter = task.partition("/")[0]
    is_name = adapter.isidentifier() and not adapter.startswith("_")
    has_adapter = is_name and find_spec(f"{adapters.__name__}.{adapter}") is not None
    return ":" in task or has_adapter


def check_name(name: str) -> None:
    """Refuse what has a colon but is not module:function."""
    module, _, function = name.partition(":")
    if ":" in name and not all(word.isidentifier() for word in (*module.split("."), function)):
        raise ValueError(f"--env {name}; legal: module:function, or a name of `hal tasks`")


def find_make(name: str) -> Make:
    """Return the function that makes an environment, by the names that `is_external` tells."""
    if ":" not in name:
        adapter, _, rest = name.partition("/")
        module = import_module(f"{adapters.__name__}.{adapter}")
        return partial(module.make, rest or module.NAMES[0])
    check_name(name)
    module_name, _, function = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # where users of a command expect their own modules
    with blaming(name, "its import"):
        module = import_module(module_name)
    make: Make | None = getattr(module, function, None)
    if not callable(make):
        raise ValueError(f"{name}: {module_name} has no function {function!r}")
    return make


def names_of_adapters() -> list[str]:
    """Return what can be given instead of a task, of the environments that adapters know."""
    names = [module.name for module in iter_modules(adapters.__path__)]
    return [
        f"{name}/{rest}"
        for name in names
        for rest in import_module(f"{adapters.__name__}.{name}").NAMES
    ]
