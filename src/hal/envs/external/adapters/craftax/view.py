"""What both games of Craftax show alike: windows of their maps around the player."""

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

DIRECTIONS = jnp.array([(0, -1), (0, 1), (-1, 0), (1, 0)])  # left, right, up, down


def around(layer: Array, position: Array, shape: tuple[int, int], outside: int) -> Array:
    """Return the cells (*shape) of a map around a position."""
    rows, columns = shape[0] // 2, shape[1] // 2
    padded = jnp.pad(layer, ((rows, rows), (columns, columns)), constant_values=outside)
    return lax.dynamic_slice(padded, position, shape)


def mark(cells: Array, position: Array, mobs: Any, codes: Array | int) -> Array:
    """Return cells around a position with the codes of the creatures there."""
    places = mobs.position - position + jnp.array(cells.shape) // 2
    is_seen = mobs.mask & ((places >= 0) & (places < jnp.array(cells.shape))).all(axis=1)
    rows, columns = jnp.where(is_seen, places.T, 0)
    return cells.at[rows, columns].max(jnp.where(is_seen, codes, 0))


def in_front(image: Array, direction: Array) -> Array:
    """Return the cell next to the middle."""
    row, column = jnp.array(image.shape[:2]) // 2 + DIRECTIONS[direction]
    return image[row, column]
