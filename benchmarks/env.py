"""Steps per CPU second of the environments, beside MiniGrid's in the same run.

Observation, milestones, affordances and autoreset are included. Random actions, one core.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import gymnasium
import minigrid
import numpy as np
from gymnasium.vector import AutoresetMode

import hal

SECONDS = 2.0  # CPU time of one measurement
REPEATS = 3  # the median counts
MINIGRID_ID = "MiniGrid-DoorKey-8x8-v0"
TASKS = {"crafting": "hal/Crafting-Iron-v0", "treasure": "hal/Treasure-v0"}
START_UP = "import hal; env = hal.GridEnv('iron'); env.reset(seed=0); env.step(0)"


def steps_per_second(step: Callable[[int], None], lanes: int) -> float:
    """Return the median number of steps per CPU second of a function that steps all lanes once."""
    rates = []
    for _ in range(REPEATS):
        num_calls, start = 0, time.process_time()
        while (used := time.process_time() - start) < SECONDS:
            for i in range(num_calls, num_calls + 100):
                step(i)
            num_calls += 100
        rates.append(num_calls * lanes / used)
    return float(np.median(rates))


def single_rate(env_id: str) -> float:
    """Measure `gymnasium.make`, resets included."""
    env = gymnasium.make(env_id, disable_env_checker=True)
    env.reset(seed=0)
    assert isinstance(env.action_space, gymnasium.spaces.Discrete)
    actions = np.random.default_rng(0).integers(env.action_space.n, size=1000)

    def step(i: int) -> None:
        _, _, terminated, truncated, _ = env.step(actions[i % 1000])
        if terminated or truncated:
            env.reset()

    return steps_per_second(step, 1)


def vector_rate(env_id: str, lanes: int) -> float:
    """Measure `gymnasium.make_vec`, with same-step autoreset."""
    env = gymnasium.make_vec(env_id, num_envs=lanes, autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=0)
    assert isinstance(env.single_action_space, gymnasium.spaces.Discrete)
    actions = np.random.default_rng(0).integers(env.single_action_space.n, size=(1000, lanes))

    def step(i: int) -> None:
        env.step(actions[i % 1000])

    return steps_per_second(step, lanes)


def start_up_seconds(cache: str) -> float:
    """Return the wall time of importing and stepping once, in a new process."""
    start = time.perf_counter()
    environ = {**os.environ, "NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", START_UP], env=environ, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    print(
        f"gymnasium {gymnasium.__version__}, minigrid {minigrid.__version__}, hal {hal.__version__}"
    )
    base = single_rate(MINIGRID_ID)
    print(f"{'':24}{'steps per CPU second':>22}{'ratio':>9}")
    print(f"{MINIGRID_ID:24}{base:>22,.0f}{1:>9.1f}")
    for name, env_id in TASKS.items():
        rate = single_rate(env_id)
        print(f"{name + ', GridEnv':24}{rate:>22,.0f}{rate / base:>9.1f}")
        for lanes in (1, 64, 1024):
            rate = vector_rate(env_id, lanes)
            print(f"{f'{name}, {lanes} lanes':24}{rate:>22,.0f}{rate / base:>9.1f}")
    with tempfile.TemporaryDirectory() as cache:
        print(
            f"import and first step: {start_up_seconds(cache):.1f} s the very first time,", end=" "
        )
        print(f"{start_up_seconds(cache):.1f} s once compiled")


if __name__ == "__main__":
    main()
