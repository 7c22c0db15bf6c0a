"""Our view of MiniGrid's worlds beside its own."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from hal.envs.external.adapters import minigrid

pytest.importorskip("minigrid")

TASKS = (
    "BlockedUnlockPickup",
    "KeyCorridorS3R3",
    "KeyCorridorS6R3",
    "DoorKey-8x8",
    "DoorKey-16x16",
)
NUM_STATES = 2_000  # of each task
FORWARD, NUM_ACTIONS = 2, 6


def jump(world: Any, rng: np.random.Generator) -> None:
    """Put the agent anywhere that it could stand, more often before something to be handled."""
    free, busy = [], []
    for x in range(1, world.width - 1):
        for y in range(1, world.height - 1):
            cell = world.grid.get(x, y)
            if cell is None or cell.can_overlap():
                free.append((x, y))
            elif cell.type != "wall":
                busy.append((x, y))
    world.agent_dir = int(rng.integers(4))
    world.agent_pos = free[rng.integers(len(free))]
    if busy and rng.random() < 0.7:
        x, y = busy[rng.integers(len(busy))]
        before = (x - world.dir_vec[0], y - world.dir_vec[1])
        if before in free:
            world.agent_pos = before


@pytest.mark.parametrize("task", TASKS)
def test_it_is_minigrids_own_cell_for_cell(task: str) -> None:
    env = minigrid.make(task)
    world: Any = env.unwrapped
    rng = np.random.default_rng(0)
    is_over, seen = True, Counter[str]()
    for state in range(NUM_STATES):
        if is_over:
            obs, _ = env.reset(seed=state)
            is_over = False
        else:
            if rng.random() < 0.2:
                jump(world, rng)
            action = FORWARD if rng.random() < 0.3 else int(rng.integers(NUM_ACTIONS))
            obs, _, terminated, truncated, _ = env.step(action)
            is_over = terminated or truncated
        own = type(world).gen_obs(world)
        np.testing.assert_array_equal(obs["image"], own["image"])
        assert obs["image"].dtype == own["image"].dtype
        assert obs["direction"] == own["direction"]
        seen[world.carrying.type if world.carrying else "nothing"] += 1
        seen.update(f"door {code}" for kind, _, code in own["image"].reshape(-1, 3) if kind == 4)
    wanted = {"nothing", "key", "door 0", "door 1" if "Corridor" in task else "door 2"}
    assert wanted <= seen.keys(), seen
