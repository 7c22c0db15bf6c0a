"""All that a run must keep to go on exactly: gathered from its objects, and put back into them.

A class names the attributes it keeps in `KEPT`; everything else it makes again from its config.
`checkpoint.py` writes the parts to disk.
"""

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from hal.agent.networks.weights import below, load_named, named

MOST = 1e100  # of what is counted and summed; what is beyond was never written


@dataclass
class Parts:
    """A snapshot, by kind; names are paths of attributes."""

    tensors: dict[str, Tensor] = field(default_factory=dict)
    arrays: MutableMapping[str, np.ndarray] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)  # as JSON has them


def gather(item: Any, path: str, parts: Parts) -> None:
    """Add an object, with all it keeps, to the parts; arrays and tensors are not copied."""
    if hasattr(item, "KEPT"):
        for name in item.KEPT:
            gather(getattr(item, name), f"{path}.{name}", parts)
    elif isinstance(item, nn.Module):
        parts.tensors |= named(path, item)
    elif isinstance(item, torch.optim.Optimizer):
        for index, moments in item.state_dict()["state"].items():
            for name, tensor in moments.items():
                parts.tensors[f"{path}.{index}.{name}"] = tensor
    elif isinstance(item, Tensor):
        parts.tensors[path] = item
    elif isinstance(item, np.ndarray):
        parts.arrays[path] = item
    elif _is_record(item):
        parts.arrays.update({f"{path}.{name}": array for name, array in item._asdict().items()})
    elif _is_of_arrays(item):
        parts.arrays.update({f"{path}.{name}": array for name, array in item.items()})
    elif isinstance(item, np.random.Generator):
        parts.values[path] = item.bit_generator.state
    else:
        parts.values[path] = item


def restore(owner: Any, path: str, parts: Parts) -> None:
    """Set what an object keeps; KeyError, ValueError or RuntimeError where the parts do not fit."""
    for name in owner.KEPT:
        item, at = getattr(owner, name), f"{path}.{name}"
        if hasattr(item, "KEPT"):
            restore(item, at, parts)
        elif isinstance(item, nn.Module):
            load_named(at, item, parts.tensors)
        elif isinstance(item, torch.optim.Optimizer):
            _restore_optimizer(item, below(at, parts.tensors))
        elif isinstance(item, Tensor):
            _check_shape(item.shape, parts.tensors[at].shape, at)
            item.copy_(parts.tensors[at])
        elif isinstance(item, np.ndarray):
            _fill(item, parts.arrays[at], at)
        elif _is_record(item):
            arrays = [parts.arrays[f"{at}.{key}"] for key in item._fields]
            setattr(owner, name, type(item)(*arrays))
        elif _is_of_arrays(item):
            for key, array in item.items():
                _fill(array, parts.arrays[f"{at}.{key}"], at)
        elif isinstance(item, np.random.Generator):
            item.bit_generator.state = parts.values[at]
        elif isinstance(item, dict):
            for value in parts.values[at].values():
                _check_alike(0.0, value, at)
            item.clear()
            item.update(parts.values[at])
        else:
            _check_alike(item, parts.values[at], at)
            setattr(owner, name, parts.values[at])


def _is_record(item: Any) -> bool:
    """Tell whether an object is a named tuple of arrays, of whatever length these are."""
    return isinstance(item, tuple) and hasattr(item, "_fields")


def _is_of_arrays(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and bool(item)
        and all(isinstance(value, np.ndarray) for value in item.values())
    )


def _fill(target: np.ndarray, saved: np.ndarray, path: str) -> None:
    _check_shape(target.shape, saved.shape, path)
    target[...] = saved


def _check_shape(wanted: tuple[int, ...], saved: tuple[int, ...], path: str) -> None:
    if saved != wanted:  # or it would be broadcast
        raise ValueError(f"{path} has shape {tuple(saved)}, not {tuple(wanted)}")


def _check_alike(item: Any, saved: Any, path: str) -> None:
    """Refuse a value of another kind than what it replaces; in lists, one level deep."""
    kinds = int | float if isinstance(item, float) else type(item)
    is_alike = isinstance(saved, kinds) and isinstance(saved, bool) == isinstance(item, bool)
    if is_alike and isinstance(saved, list):
        pairs = zip(item, saved, strict=False)
        is_alike = len(item) == len(saved) and all(type(a) is type(b) for a, b in pairs)
    elif is_alike and isinstance(saved, int | float):
        is_alike = abs(saved) <= MOST and (saved >= 0 or isinstance(item, float))
    if not is_alike:
        raise ValueError(f"{path} is {repr(saved)[:40]}; legal: as {repr(item)[:40]}")


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state = optimizer.state_dict()
    state["state"] = {}
    for name, tensor in tensors.items():
        index, moment = name.split(".")
        state["state"].setdefault(int(index), {})[moment] = tensor
    optimizer.load_state_dict(state)
