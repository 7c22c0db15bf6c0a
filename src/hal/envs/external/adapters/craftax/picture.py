"""Craftax's own picture of a lane."""

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

TEXTURE = 16  # pixels a side of the files that Craftax draws its cells from
ENLARGED = 4  # times, or a cell would hardly be seen


@cache
def make_painter(game: ModuleType) -> Callable[[Any, int], np.ndarray]:
    """Return what draws one lane of a batch of states, bytes (height, width, 3)."""
    constants, renderer = game.constants, game.renderer
    # By itself it would make textures of three sizes, for a minute, to keep in its own folder.
    renderer.load_all_textures = lambda: {TEXTURE: constants.load_all_textures_given_size(TEXTURE)}
    draw = renderer.make_craftax_pixel_renderer(TEXTURE)

    @jax.jit
    def paint(states: Any, lane: int) -> Any:
        pixels = draw(jax.tree.map(lambda leaves: leaves[lane], states))
        large = pixels.repeat(ENLARGED, axis=0).repeat(ENLARGED, axis=1)
        return jnp.clip(large, 0, 255).astype(jnp.uint8)

    return lambda states, lane: np.asarray(paint(states, lane))
