"""What is kept of a trained agent: its config as TOML, its weights as safetensors.

Loading either executes nothing.
"""

import json
import os
import tomllib
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from hal.config import Config
from hal.envs import GridVectorEnv
from hal.train import Agent, make_agent

CONFIG, WEIGHTS = "config.toml", "weights.safetensors"


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file all or nothing."""
    part = path.with_name(path.name + ".part")
    write(part)
    os.replace(part, path)


def save_config(config: Config, folder: Path) -> None:
    """Write every field of a config; JSON's notation of these values is TOML's too."""
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in asdict(config).items()]
    write_whole(folder / CONFIG, lambda part: part.write_text("".join(lines), encoding="utf-8"))


def load_config(folder: Path) -> Config:
    """Read a config, or say what is wrong with it."""
    path = folder / CONFIG
    if not path.is_file():
        raise ValueError(f"{folder} is not a run: it has no {CONFIG}")
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    names = {field.name for field in fields(Config)}
    if set(values) != names:
        raise ValueError(f"{path} does not fit: {', '.join(sorted(set(values) ^ names))}")
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    return Config(**(values | lists))


def save_agent(agent: Agent, folder: Path) -> None:
    """Write an agent's weights."""
    tensors = {name: tensor.contiguous().cpu() for name, tensor in agent.weights().items()}
    write_whole(folder / WEIGHTS, lambda part: save_file(tensors, part))


def load_agent(folder: Path) -> Agent:
    """Return a run's agent, to act and be evaluated; it has no experience to learn from."""
    config = load_config(folder)
    path = folder / WEIGHTS
    if not path.is_file():
        raise ValueError(f"{folder} has no {WEIGHTS}: the run is not finished")
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    env = GridVectorEnv(num_envs=1, **asdict(config.env_options()))
    try:
        agent = make_agent(config, env, int(tensors["background"]))
        agent.load_weights(tensors)
    except (KeyError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{path} does not fit its {CONFIG}: {reason}") from error
    return agent
