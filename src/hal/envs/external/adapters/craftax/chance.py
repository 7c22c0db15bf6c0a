"""A quicker way to the cell that Craftax draws at random, of all where a creature can appear.

It does so three times a step, by `jax.random.choice`, whose running sum over all cells of the map
takes half of a step's time. The same cell is found by rows first: only where rounding decides may
it be the one beside.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import jax
import jax.numpy as jnp
from jax import Array

_choose = jax.random.choice


def choose_cell(key: Any, cells: Any, chances: Array) -> Array:
    """Return one (1,) of a square map's cells, by their chances."""
    rows = chances.reshape(math.isqrt(chances.size), -1)
    ends = jnp.cumsum(rows.sum(axis=1))
    at = ends[-1] * (1 - jax.random.uniform(key, (1,), dtype=chances.dtype))[0]
    row = jnp.searchsorted(ends, at)
    ends_within = jnp.cumsum(rows[row])
    # What is summed in another order may be a little less: a cell beyond the last has no chance.
    within = jnp.minimum(at - jnp.where(row > 0, ends[row - 1], 0), ends_within[-1])
    column = jnp.searchsorted(ends_within, within)
    return cells[row * rows.shape[1] + column][jnp.newaxis]


@contextmanager
def quick_choices() -> Iterator[None]:
    """Let what is traced in the block choose cells so."""

    def choice(
        key: Any, options: Any, shape: tuple[int, ...] = (), *, p: Array | None = None
    ) -> Array:
        if p is None or shape != (1,):  # not a cell of the map
            return _choose(key, options, shape, p=p)
        return choose_cell(key, options, p)

    with patch.object(jax.random, "choice", choice):
        yield
