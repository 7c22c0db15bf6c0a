"""Environment steps at random in both games, and what must hold at each."""

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from hal.envs.grid import ENV_IDS
from hal.envs.grid.rules import CRAFTING, STEP_PENALTY
from hal.envs.grid.settings import GridSettings
from hal.envs.grid.vector import GridVectorEnv
from hal.envs.observations import Obs, Step

NUM_LANES = 2_048
NUM_STEPS = 2_000  # of all lanes, in one environment


class Before(NamedTuple):
    """What was known before a step."""

    affordances: np.ndarray  # (lanes, K)
    is_resetting: np.ndarray  # (lanes,)
    age: np.ndarray  # (lanes,) steps of the episode
    achieved: np.ndarray  # (lanes, K) in the episode


def attack(count: int, seed: int) -> list[str]:
    """Return what was not legal in so many environment steps, one line for each environment."""
    faults = []
    for number in range(-(-count // (NUM_LANES * NUM_STEPS))):
        rng = np.random.default_rng((seed, number))
        settings = random_settings(rng)
        num_steps = min(NUM_STEPS, -(-count // NUM_LANES))
        fault = _try(GridVectorEnv(num_envs=NUM_LANES, **settings), num_steps, rng)
        faults += [f"steps {seed}-{number}: {settings}: {fault}"] if fault else []
    return faults


def random_settings(rng: np.random.Generator) -> dict[str, Any]:
    """Return the settings of an environment."""
    task = str(rng.choice([*ENV_IDS.values()]))
    game = GridSettings(task).game
    others = game.milestones[: game.milestones.index(task)]
    chosen = [name for name in others if rng.random() < 0.8]
    return {
        "task": task,
        "milestones": (*chosen, task),
        "disappear_rate": float(rng.choice([0.0, 0.02, 0.5])) if game is CRAFTING else 0.0,
        "max_steps": int(rng.choice([1, 5, 60, 4320], p=[0.05, 0.15, 0.4, 0.4])),
        "view_size": int(rng.choice([3, 11, 11, 25])),
        "reward": str(rng.choice(["sparse", "dense"])),
    }


def _try(env: GridVectorEnv, num_steps: int, rng: np.random.Generator) -> str:
    """Step all lanes by an action's own chances; return what is wrong, if anything."""
    chances = rng.dirichlet(np.full(len(env.game.actions), 0.7)).cumsum()
    obs, info = env.reset(seed=int(rng.integers(2**31)))
    nothing = np.zeros(env.num_envs)
    before = Before(
        info["affordances"],
        nothing.astype(np.bool_),
        nothing.astype(np.int64),
        np.zeros_like(info["milestones"]),
    )
    fault = _fault_of_obs(env, obs)
    for _ in range(num_steps):
        step = env.step(np.searchsorted(chances[:-1], rng.random(env.num_envs)))
        fault = fault or _fault_of_obs(env, step[0]) or _fault_of(env, before, step)
        if fault:
            return fault
        _, _, terminated, truncated, info = step
        is_new = before.is_resetting
        before = Before(
            info["affordances"],
            terminated | truncated,
            np.where(is_new, 0, before.age + 1),
            (before.achieved & ~is_new[:, np.newaxis]) | info["milestones"],
        )
    return ""


def _fault_of_obs(env: GridVectorEnv, obs: Obs) -> str:
    space = env.single_observation_space
    assert isinstance(space, spaces.Dict)
    for name, values in obs.items():
        box = space[name]
        assert isinstance(box, spaces.Box)
        if values.dtype != box.dtype or values.shape[1:] != box.shape:
            return f"{name} is {values.shape} {values.dtype}"
        if values.min() < box.low.min() or values.max() > box.high.max():
            return f"{name} goes from {values.min()} to {values.max()}"
    return ""


def _fault_of(env: GridVectorEnv, before: Before, step: Step) -> str:
    """Return what is wrong with a step, by what was known before it."""
    _, reward, terminated, truncated, info = step
    assert env.autoreset_mode is AutoresetMode.NEXT_STEP
    got, is_new, age = info["milestones"], before.is_resetting, before.age + 1
    final = got[:, -1]
    if env.settings.reward == "dense":
        is_first = got & ~before.achieved
        earned = is_first.sum(axis=1) / len(env.milestones)
    else:
        earned = final.astype(np.float64)
    wanted = np.where(is_new, 0.0, earned - STEP_PENALTY)
    is_late = age >= (env.settings.max_steps or 0)
    is_stuck = ~info["affordances"].any(axis=1)
    checks = {
        "several milestones at once": got.sum(axis=1) > 1,
        "a milestone that was not afforded": (got & ~before.affordances).any(axis=1),
        "a step that resets does more": is_new & (got.any(axis=1) | terminated | truncated),
        "an end without the final milestone": terminated != final,
        "an end of both kinds": terminated & truncated,
        "a reward of another size": ~np.isclose(reward, wanted),
        "an episode that is too long": ~is_new & is_late & ~(terminated | truncated),
        "an episode that is cut too soon": truncated & ~is_late & ~is_stuck,
    }
    lanes = {what: np.flatnonzero(is_wrong) for what, is_wrong in checks.items()}
    found = [f"{what} (lane {where[0]})" for what, where in lanes.items() if where.size]
    return "; ".join(found)
