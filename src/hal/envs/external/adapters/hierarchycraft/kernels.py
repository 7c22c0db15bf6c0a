"""HierarchyCraft's steps and affordances, compiled: its own step takes two thousandths of a second.

`counts` and `zone` are a lane's state, `arrays` the rules (`rules.py`); a milestone is a number of
`milestone_of`, which has one, or NONE, for each item and each thing.
"""

import numba
import numpy as np

from hal.envs.external.adapters.hierarchycraft.needs import NONE
from hal.envs.external.adapters.hierarchycraft.rules import Arrays

MOST_STATES = 64  # to which going somewhere leads; there are about ten, of which none is better


@numba.njit(cache=True)
def place_of(arrays: Arrays, zone: int, column: int) -> int:
    """Return a column of counts, where it may be one of the zone where the player is."""
    return column if column >= 0 else arrays.num_items + zone * arrays.num_things - 1 - column


@numba.njit(cache=True)
def is_legal(arrays: Arrays, counts: np.ndarray, zone: int, action: int) -> bool:
    """Tell whether a transformation can be done."""
    if arrays.zone[action] not in (-1, zone) or arrays.destination[action] == zone:
        return False
    for i in range(arrays.need_starts[action], arrays.need_starts[action + 1]):
        if counts[place_of(arrays, zone, arrays.need_columns[i])] < arrays.need_least[i]:
            return False
    return True


@numba.njit(cache=True)
def apply(arrays: Arrays, counts: np.ndarray, zone: int, action: int) -> int:
    """Do a transformation that is legal; return the player's zone then."""
    for i in range(arrays.change_starts[action], arrays.change_starts[action + 1]):
        place = place_of(arrays, zone, arrays.change_columns[i])
        counts[place] += arrays.change_amounts[i]
    destination = arrays.destination[action]
    return destination if destination >= 0 else zone


@numba.njit(cache=True)
def tell_brought(arrays: Arrays, action: int, milestone_of: np.ndarray, told: np.ndarray) -> None:
    """Set the milestones that a transformation brings."""
    for i in range(arrays.change_starts[action], arrays.change_starts[action + 1]):
        if arrays.change_amounts[i] > 0:
            column = arrays.change_columns[i]
            element = column if column >= 0 else arrays.num_items - 1 - column
            if milestone_of[element] != NONE:
                told[milestone_of[element]] = True


@numba.njit(cache=True)
def tell_afforded(
    arrays: Arrays, counts: np.ndarray, zone: int, milestone_of: np.ndarray, told: np.ndarray
) -> int:
    """Set the milestones that some action brings, now or after going somewhere.

    Returns how many states that leads to. One is left out if another in the same zone has as much
    of everything: what is needed is needed at least, so that can do all that this could.
    """
    told[:] = False
    states = np.empty((MOST_STATES, counts.size), dtype=np.int32)
    zones = np.empty(MOST_STATES, dtype=np.int64)
    states[0], zones[0] = counts, zone
    num_states, at = 1, 0
    while at < num_states:
        for action in range(arrays.zone.size):
            if not is_legal(arrays, states[at], zones[at], action):
                continue
            tell_brought(arrays, action, milestone_of, told)
            if arrays.destination[action] >= 0 and num_states < MOST_STATES:
                states[num_states] = states[at]
                there = apply(arrays, states[num_states], zones[at], action)
                zones[num_states] = there
                is_worse = False
                for i in range(num_states):
                    if zones[i] == there and (states[i] >= states[num_states]).all():
                        is_worse = True
                        break
                num_states += not is_worse
        at += 1
    return num_states


@numba.njit(cache=True)
def step_lanes(
    arrays: Arrays,
    counts: np.ndarray,
    zones: np.ndarray,
    actions: np.ndarray,
    milestone_of: np.ndarray,
    milestones: np.ndarray,
    afforded: np.ndarray,
) -> None:
    """Step lanes, those whose action is NONE excepted; what is not legal changes nothing."""
    milestones[:] = False
    for lane in range(actions.size):
        action = actions[lane]
        if action != NONE and is_legal(arrays, counts[lane], zones[lane], action):
            zones[lane] = apply(arrays, counts[lane], zones[lane], action)
            tell_brought(arrays, action, milestone_of, milestones[lane])
            tell_afforded(arrays, counts[lane], zones[lane], milestone_of, afforded[lane])
