"""Environments by name: this package's tasks, adapters, and anybody's own function."""

import inspect
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers import TimeLimit

from hal import adapters
from hal.config import Config, is_foreign
from hal.envs import GridVectorEnv
from hal.envs.contract import Contract, blaming
from hal.envs.foreign import ForeignLanes, NextStep, OneEpisode, vectorised
from hal.errors import ContractError

Lanes = GridVectorEnv | ForeignLanes
Make = Callable[..., Any]


def make_lanes(
    config: Config,
    num_envs: int,
    *,
    to_play: bool = False,
    to_play_once: bool = False,
    use_processes: bool = False,
    render_mode: str | None = None,
) -> Lanes:
    """Return the lanes of a config's environment: to train in, or to play the game as it is.

    Where they are `to_play_once`, they need not go on after their first episode.
    """
    to_play = to_play or to_play_once
    if not is_foreign(config.task):
        options = config.play_options() if to_play else config.env_options()
        return GridVectorEnv(num_envs=num_envs, **asdict(options))
    make, name = find_make(config.task), config.task
    lanes: VectorEnv[Any, Any, Any]
    if "num_envs" in inspect.signature(make).parameters:
        lanes = _native(make, name, num_envs)
    else:

        def make_one() -> gymnasium.Env[Any, Any]:
            env = make_checked(name, config.horizon, render_mode)
            return OneEpisode(env) if to_play_once else env

        with blaming(name, "making lanes") if ":" in name else nullcontext():
            lanes = vectorised(make_one, num_envs, use_processes)
    return ForeignLanes(lanes, name, config.milestones, config.reward == "dense" and not to_play)


def _native(make: Make, name: str, num_envs: int) -> VectorEnv[Any, Any, Any]:
    """Return lanes that a function makes itself, as ones that take a step to reset."""
    with blaming(name, "making it"):
        lanes = make(num_envs=num_envs)
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


def make_checked(
    name: str, horizon: int, render_mode: str | None = None
) -> gymnasium.Env[Any, Any]:
    """Return one environment that is not of this package, held to the contract."""
    make = find_make(name)
    takes_mode = "render_mode" in inspect.signature(make).parameters
    with blaming(name, "making it") if ":" in name else nullcontext():
        env = make(**({"render_mode": render_mode} if takes_mode else {}))
    if not isinstance(env, gymnasium.Env):
        raise ValueError(f"{name} made a {type(env).__name__}; legal: a gymnasium.Env")
    return TimeLimit(Contract(env, name), horizon)


def find_make(name: str) -> Make:
    """Return the function that makes an environment, by the names that `is_foreign` tells."""
    if ":" not in name:
        adapter, _, rest = name.partition("/")
        module = import_module(f"{adapters.__name__}.{adapter}")
        return partial(module.make, rest or module.NAMES[0])
    module_name, _, function = name.partition(":")
    if not all(word.isidentifier() for word in (*module_name.split("."), function)):
        raise ValueError(f"--env {name}; legal: module:function, or a name of `hal tasks`")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # where users of a command expect their own modules
    with blaming(name, "its import"):
        module = import_module(module_name)
    make: Make | None = getattr(module, function, None)
    if not callable(make):
        raise ValueError(f"{name}: {module_name} has no function {function!r}")
    return make


def names_of_adapters() -> list[str]:
    """Return what can be given instead of a task, of the environments that adapters know."""
    names = [module.name for module in iter_modules(adapters.__path__)]
    return [
        f"{name}/{rest}"
        for name in names
        for rest in import_module(f"{adapters.__name__}.{name}").NAMES
    ]
