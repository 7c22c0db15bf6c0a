"""Brute force over real environment states: the truth that fast affordances are held against.

Knows nothing of plans, recipes or costs: it does every action everywhere the agent can go to. Its
one liberty is that states which moves alone lead to, there and back, count as one.
"""

import numpy as np

from hal.envs.grid import crafting, treasure
from hal.envs.grid.jit import kernel
from hal.envs.grid.rules import CRAFTING_CODE, GAMES, MOVES, NOTHING
from hal.envs.grid.state import LANE, SIZE, GridState, Lane

NUM_MOVES = len(MOVES)


@kernel
def act(game: int, lane: Lane, action: int) -> int:
    if game == CRAFTING_CODE:
        return crafting.act(lane, action)
    return treasure.act(lane, action)


@kernel
def is_walkable(game: int, tile: int) -> bool:
    if game == CRAFTING_CODE:
        return crafting.IS_WALKABLE[tile]
    return treasure.IS_WALKABLE[tile]


@kernel
def spread(game: int, lane: Lane, cells: np.ndarray) -> int:
    """Write the cells (n, 2) that moves lead to, the agent's own first; return n."""
    is_seen = np.zeros((SIZE, SIZE), dtype=np.bool_)
    cells[0, 0], cells[0, 1] = lane.position[0], lane.position[1]
    is_seen[lane.position[0], lane.position[1]] = True
    num_seen, current = 1, 0
    while current < num_seen:
        for row_step, col_step in ((-1, 0), (0, 1), (1, 0), (0, -1)):
            row, col = cells[current, 0] + row_step, cells[current, 1] + col_step
            if is_walkable(game, lane.grid[row, col]) and not is_seen[row, col]:
                is_seen[row, col] = True
                cells[num_seen, 0], cells[num_seen, 1] = row, col
                num_seen += 1
        current += 1
    return num_seen


@kernel
def settle(game: int, lane: Lane, cells: np.ndarray) -> None:
    """Stand for all states that moves lead to, there and back: take the first cell, facing up."""
    lane.direction = 0
    if not is_walkable(game, lane.grid[lane.position[0], lane.position[1]]):
        return  # on top of an object: there is no way back to this cell
    for i in range(spread(game, lane, cells)):
        row, col = cells[i, 0], cells[i, 1]
        if (row, col) < (lane.position[0], lane.position[1]):
            lane.position[0] = row
            lane.position[1] = col


@kernel
def successors(game: int, num_actions: int, lane: Lane) -> tuple[GridState, np.ndarray]:
    """Do every action wherever moves lead; return the settled states and what was completed."""
    cells = np.empty((SIZE * SIZE, 2), dtype=np.int64)
    scratch = np.empty((SIZE * SIZE, 2), dtype=np.int64)
    num_cells = spread(game, lane, cells)
    after = np.empty(num_cells * 4 * (num_actions - NUM_MOVES) + 1, dtype=LANE)
    done = np.empty(after.size, dtype=np.int64)
    num_changed = 0
    for i in range(num_cells):
        for direction in range(4):
            for action in range(NUM_MOVES, num_actions):
                after[num_changed] = lane
                here = after[num_changed]
                here.position[0] = cells[i, 0]
                here.position[1] = cells[i, 1]
                here.direction = direction
                done[num_changed] = act(game, here, action)
                if done[num_changed] != NOTHING:
                    settle(game, here, scratch)
                    num_changed += 1
    return after[:num_changed], done[:num_changed]


def reached_milestones(
    lane: Lane, game: int, is_milestone: np.ndarray, most_states: int
) -> dict[int, Lane] | None:
    """Return each milestone that can be next, with a state just after it.

    None if that takes a search of more states than allowed.
    """
    num_actions = len(GAMES[game].actions)
    reached: dict[int, Lane] = {}
    start = np.array([lane], dtype=LANE)
    start["is_afforded"] = 0
    waiting = [start[0]]
    seen = {start.tobytes()}
    while waiting:
        after, done = successors(game, num_actions, waiting.pop())
        _, distinct = np.unique(after.view(f"V{LANE.itemsize}"), return_index=True)
        for i in distinct:
            if is_milestone[done[i]]:
                reached.setdefault(int(done[i]), after[i].copy())
            elif (key := after[i].tobytes()) not in seen:
                seen.add(key)
                waiting.append(after[i])
        if len(seen) > most_states:
            return None
    return reached
