"""Brute force over real environment states: the truth that fast affordances are held against.

Knows nothing of plans, recipes or reachability: it does every action in every state.
"""

from collections.abc import Iterator

import numpy as np

from hal.envs import crafting, treasure
from hal.envs.jit import kernel
from hal.envs.rules import CRAFTING_CODE, GAMES, NONE
from hal.envs.state import LANE, GridState, Lane


@kernel
def _expand(states: GridState, num_actions: int, game: int, after: GridState) -> np.ndarray:
    """Do every action in every state; return what each completed."""
    done = np.empty(after.size, dtype=np.int64)
    for i in range(after.size):
        after[i] = states[i // num_actions]
        if game == CRAFTING_CODE:
            done[i] = crafting.act(after[i], i % num_actions)
        else:
            done[i] = treasure.act(after[i], i % num_actions)
    return done


def paths(
    lane: Lane, game: int, is_milestone: np.ndarray, most_states: int = 200_000
) -> dict[int, list[int]] | None:
    """Return the shortest path of actions to each milestone that can be next.

    None if there are more states than can be searched.
    """
    num_actions = len(GAMES[game].actions)
    found: dict[int, list[int]] = {}
    frontier = np.array([lane], dtype=LANE)
    frontier["is_afforded"] = 0
    trails: list[list[int]] = [[]]
    seen = {frontier[0].tobytes()}
    while frontier.size:
        after = np.empty(frontier.size * num_actions, dtype=LANE)
        done = _expand(frontier, num_actions, game, after)
        keep = []
        kept_trails = []
        for i, (production, key) in enumerate(zip(done, _keys(after), strict=True)):
            if production != NONE and is_milestone[production]:
                if production not in found:
                    found[int(production)] = [*trails[i // num_actions], i % num_actions]
            elif key not in seen:
                seen.add(key)
                keep.append(i)
                kept_trails.append([*trails[i // num_actions], i % num_actions])
        if len(seen) > most_states:
            return None
        frontier, trails = after[keep], kept_trails
    return found


def _keys(states: GridState) -> Iterator[bytes]:
    data, size = states.tobytes(), LANE.itemsize
    return (data[i : i + size] for i in range(0, len(data), size))
