"""Lanes of other people's environments, by Gymnasium's own means or made by themselves.

`lanes.py` makes them what agents take.
"""

import inspect
from collections.abc import Callable
from contextlib import closing, nullcontext
from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers import TimeLimit

from hal.envs.external.autoreset import NextStep, OneEpisode
from hal.envs.external.blame import blaming
from hal.envs.external.contract import Contract
from hal.envs.external.find import Make, find_make
from hal.envs.external.processes import ProcessLanes
from hal.envs.observations import has_text
from hal.errors import ContractError


def make_vector(
    name: str,
    num_envs: int,
    horizon: int,
    *,
    to_play_once: bool = False,
    use_processes: bool = False,
    render_mode: str | None = None,
) -> VectorEnv[Any, Any, Any]:
    """Return lanes of an environment which take a step to reset.

    Where they are `to_play_once`, they need not go on after their first episode.
    """
    make = find_make(name)
    if "num_envs" in inspect.signature(make).parameters:
        return _native(make, name, num_envs, render_mode)

    def make_one() -> gymnasium.Env[Any, Any]:
        env = make_checked(name, horizon, render_mode)
        return OneEpisode(env) if to_play_once else env

    with blaming(name, "making lanes") if ":" in name else nullcontext():
        return vectorised(make_one, name, num_envs, use_processes)


def make_checked(
    name: str, horizon: int, render_mode: str | None = None
) -> gymnasium.Env[Any, Any]:
    """Return one environment that is not of this package, held to the contract."""
    make = find_make(name)
    with blaming(name, "making it") if ":" in name else nullcontext():
        env = make(**_mode(make, render_mode))
    if not isinstance(env, gymnasium.Env):
        raise ValueError(f"{name} made a {type(env).__name__}; legal: a gymnasium.Env")
    return TimeLimit(Contract(env, name), horizon)


def _mode(make: Make, render_mode: str | None) -> dict[str, str | None]:
    """Return what a function is told of pictures, if it takes that."""
    takes_mode = "render_mode" in inspect.signature(make).parameters
    return {"render_mode": render_mode} if takes_mode else {}


def _native(
    make: Make, name: str, num_envs: int, render_mode: str | None
) -> VectorEnv[Any, Any, Any]:
    """Return lanes that a function makes itself, as ones that take a step to reset."""
    with blaming(name, "making it") if ":" in name else nullcontext():
        lanes = make(num_envs=num_envs, **_mode(make, render_mode))
    if not isinstance(lanes, VectorEnv):
        what = f"{name} takes num_envs and made a {type(lanes).__name__}"
        raise ContractError(f"{what}; legal: a gymnasium.vector.VectorEnv")
    if lanes.num_envs != num_envs:
        raise ContractError(f"{name} made {lanes.num_envs} lanes; legal: {num_envs}, as asked for")
    mode = lanes.metadata.get("autoreset_mode")
    if not isinstance(mode, AutoresetMode):
        legal = ", ".join(map(str, AutoresetMode))
        raise ContractError(f'{name}: metadata["autoreset_mode"] is {mode!r}; legal: {legal}')
    return lanes if mode is AutoresetMode.NEXT_STEP else NextStep(lanes)


def vectorised(
    make: Callable[[], gymnasium.Env[Any, Any]], name: str, num_envs: int, use_processes: bool
) -> VectorEnv[Any, Any, Any]:
    """Return many lanes of an environment, by Gymnasium's own means."""
    if not use_processes:
        return SyncVectorEnv([make] * num_envs, autoreset_mode=AutoresetMode.NEXT_STEP)
    with closing(make()) as one:
        shares_memory = not has_text(one.observation_space)
    return ProcessLanes(make, name, num_envs, shares_memory)
