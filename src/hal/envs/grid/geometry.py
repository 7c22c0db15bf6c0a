"""Moving, seeing and reaching on a grid: what both games share."""

import numpy as np

from hal.envs.grid.jit import kernel
from hal.envs.grid.rules import BACKWARD, FORWARD, TURN_LEFT, TURN_RIGHT, WALL
from hal.envs.grid.state import Lane

# Row and column of a step up, right, down and left: turning right is the next row.
DIRECTIONS = np.array([[-1, 0], [0, 1], [1, 0], [0, -1]])


@kernel
def ahead(lane: Lane, distance: int) -> tuple[int, int]:
    """Return the cell so many steps in front of the agent (behind it, if negative)."""
    row = lane.position[0] + distance * DIRECTIONS[lane.direction, 0]
    col = lane.position[1] + distance * DIRECTIONS[lane.direction, 1]
    return row, col


@kernel
def move(lane: Lane, action: int, is_walkable: np.ndarray) -> None:
    """Turn, or step forward or backward onto a walkable tile."""
    if action == TURN_LEFT:
        lane.direction = (lane.direction + 3) % 4
    elif action == TURN_RIGHT:
        lane.direction = (lane.direction + 1) % 4
    elif action in (FORWARD, BACKWARD):
        row, col = ahead(lane, 1 if action == FORWARD else -1)
        if is_walkable[lane.grid[row, col]]:
            lane.position[0] = row
            lane.position[1] = col


@kernel
def view(lane: Lane, image: np.ndarray) -> None:
    """Write the square of tiles around the agent, turned so that it faces up."""
    size = image.shape[0]
    radius = size // 2
    flat = image.ravel()
    flat[:] = WALL
    row, col = lane.position[0], lane.position[1]
    up, right = DIRECTIONS[lane.direction, 0], DIRECTIONS[lane.direction, 1]
    # How far a step down and a step right in the world go in the flattened picture.
    down_stride = right - up * size
    right_stride = -up - right * size
    first_col = max(col - radius, 0)
    for r in range(max(row - radius, 0), min(row + radius + 1, lane.grid.shape[0])):
        cell = flat.size // 2 + (r - row) * down_stride + (first_col - col) * right_stride
        for c in range(first_col, min(col + radius + 1, lane.grid.shape[1])):
            flat[np.uint64(cell)] = lane.grid[r, c]  # unsigned: no check for negative indices
            cell += right_stride


@kernel
def flood(
    lane: Lane, is_passable: np.ndarray, num_reached: np.ndarray, is_touched: np.ndarray
) -> np.ndarray:
    """Return (height, width) 0 or 1: the cells that the agent can come to stand on.

    Also counts the reached cells per tile, and marks the tiles next to some reached cell.
    """
    is_reached = np.zeros(lane.grid.shape, dtype=np.uint8)
    stack = np.empty((lane.grid.size, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = lane.position[0], lane.position[1]
    is_reached[lane.position[0], lane.position[1]] = 1
    top = 1
    while top > 0:
        top -= 1
        row, col = stack[top, 0], stack[top, 1]
        num_reached[lane.grid[row, col]] += 1
        for direction in range(4):
            next_row = row + DIRECTIONS[direction, 0]
            next_col = col + DIRECTIONS[direction, 1]
            tile = lane.grid[next_row, next_col]
            is_touched[tile] = 1
            if is_passable[tile] and not is_reached[next_row, next_col]:
                is_reached[next_row, next_col] = 1
                stack[top, 0], stack[top, 1] = next_row, next_col
                top += 1
    return is_reached
