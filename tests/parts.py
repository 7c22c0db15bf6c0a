"""Parts of observations for tests: a grid of codes and some counts."""

import numpy as np
from gymnasium import spaces

from hal.envs.observations import Part, parts_of


def grid_parts(view: tuple[int, int], num_codes: int, num_counts: int) -> tuple[Part, ...]:
    """Return the parts of observations with a view and counts."""
    return parts_of(
        spaces.Dict(
            image=spaces.Box(0, num_codes - 1, view, np.uint8),
            inventory=spaces.Box(0, 999, (num_counts,), np.int16),
        )
    )
