import numpy as np
import pytest

from hal.envs.grid import crafting
from hal.envs.grid.geometry import flood, view
from hal.envs.grid.rules import BACKWARD, FORWARD, TURN_LEFT, TURN_RIGHT, WALL
from hal.envs.grid.state import SIZE, new_state
from tests.worlds import crafting_world


@pytest.mark.parametrize("size", [3, 5, 11, 27])
@pytest.mark.parametrize("direction", range(4))
def test_view_is_the_rotated_crop_of_a_padded_world(size: int, direction: int) -> None:
    rng = np.random.default_rng(size)
    lane = new_state(1)[0]
    radius = size // 2
    for _ in range(30):
        lane.grid[:] = rng.integers(0, 10, lane.grid.shape)
        lane.position[:] = rng.integers(SIZE, size=2)
        lane.direction = direction
        image = np.zeros((size, size), dtype=np.uint8)
        view(lane, image)
        padded = np.pad(lane.grid, radius, constant_values=WALL)
        row, col = lane.position
        crop = padded[row : row + size, col : col + size]
        # Facing right, the world must turn left by a quarter to bring the front up.
        np.testing.assert_array_equal(image, np.rot90(crop, direction))


def test_what_is_in_front_is_above_the_middle() -> None:
    image = np.zeros((3, 3), dtype=np.uint8)
    for agent in "^>v<":
        state = crafting_world(" T ", f"C{agent}S", " I ")
        view(state[0], image)
        above = {"^": 2, ">": 4, "v": 6, "<": 5}[agent]
        assert image[0, 1] == above


def test_moves() -> None:
    state = crafting_world("  ", ">T")
    lane = state[0]
    crafting.act(lane, FORWARD)
    assert tuple(lane.position) == (2, 1), "a tree blocks"
    crafting.act(lane, TURN_LEFT)
    assert lane.direction == 0
    crafting.act(lane, FORWARD)
    assert tuple(lane.position) == (1, 1)
    crafting.act(lane, TURN_RIGHT)
    crafting.act(lane, FORWARD)
    assert tuple(lane.position) == (1, 2)
    crafting.act(lane, BACKWARD)
    assert (tuple(lane.position), lane.direction) == ((1, 1), 1), "backward does not turn"
    crafting.act(lane, BACKWARD)
    assert tuple(lane.position) == (1, 1), "the wall blocks"


def test_flood_agrees_with_repeated_dilation() -> None:
    rng = np.random.default_rng(3)
    lane = new_state(1)[0]
    for _ in range(100):
        lane.grid[:] = WALL
        lane.grid[1:-1, 1:-1] = rng.choice([0, 2, 3], size=(SIZE - 2, SIZE - 2))
        lane.position[:] = rng.integers(1, SIZE - 1, size=2)
        is_passable = np.array([True, False, False, True])
        num_reached, is_touched = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
        reached = flood(lane, is_passable, num_reached, is_touched)

        expected = np.zeros((SIZE, SIZE), dtype=np.bool_)
        expected[tuple(lane.position)] = True
        for _ in range(SIZE * SIZE):
            grown = expected | (_beside(expected) & is_passable[lane.grid])
            if (grown == expected).all():
                break
            expected = grown
        np.testing.assert_array_equal(reached, expected)
        np.testing.assert_array_equal(num_reached, np.bincount(lane.grid[expected], minlength=4))
        touched = np.bincount(lane.grid[_beside(expected)], minlength=4) > 0
        np.testing.assert_array_equal(is_touched > 0, touched)


def _beside(cells: np.ndarray) -> np.ndarray:
    beside = np.zeros_like(cells)
    beside[1:] |= cells[:-1]
    beside[:-1] |= cells[1:]
    beside[:, 1:] |= cells[:, :-1]
    beside[:, :-1] |= cells[:, 1:]
    return beside
