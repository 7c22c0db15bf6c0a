"""The state of all lanes: one structured array, whose every field has a leading lane axis.

A kernel of one lane gets its record, `lanes[i]`, and changes the fields in place. The fields have
room for either game, so that one compiled kernel serves both.
"""

from typing import Any, TypeAlias

import numpy as np

from hal.envs.grid.rng import NUM_WORDS, seed_words
from hal.envs.grid.rules import GAMES

MOST_ITEMS = max(len(game.items) for game in GAMES)
MOST_MILESTONES = max(len(game.milestones) for game in GAMES)
SIZE = max(game.size for game in GAMES)

# Wide fields first, so that every field is aligned without padding: equal states, equal bytes.
_FIELDS = np.dtype(
    [
        ("position", np.int64, (2,)),  # row and column of the agent
        ("direction", np.int64),  # 0 up, 1 right, 2 down, 3 left
        ("inventory", np.int64, (MOST_ITEMS,)),
        ("home", np.int64, (MOST_ITEMS, 2)),  # where an item lay at the start (Treasure)
        ("steps", np.int64),  # of this episode
        ("world_rng", np.int64, (NUM_WORDS,)),  # draws worlds and starts
        ("disappear_rng", np.int64, (NUM_WORDS,)),  # draws what disappears, and when
        ("grid", np.uint8, (SIZE, SIZE)),  # tile codes; a smaller game leaves walls at the end
        ("is_achieved", np.uint8, (MOST_MILESTONES,)),  # in this episode, per row of the table
        ("is_afforded", np.uint8, (MOST_MILESTONES,)),  # in this state, per row of the table
        ("is_done", np.bool_),  # the episode has ended and the lane waits for a reset
    ]
)
LANE = np.dtype((np.record, _FIELDS))  # a record's fields are attributes, compiled or not
WORLD_STREAM, DISAPPEAR_STREAM = range(2)

GridState: TypeAlias = np.ndarray  # (lanes,) of LANE
Lane: TypeAlias = Any  # one of them, an np.record


def new_state(num_lanes: int) -> GridState:
    """Return lanes that wait for their first reset."""
    state = np.zeros(num_lanes, dtype=LANE)
    state["is_done"] = True
    return state


def seed_lane(lane: Lane, seed: int) -> None:
    """Set the lane's random streams: all that follows depends on them and on the actions."""
    lane.world_rng[:] = seed_words(seed, WORLD_STREAM)
    lane.disappear_rng[:] = seed_words(seed, DISAPPEAR_STREAM)
