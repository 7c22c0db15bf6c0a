"""Configs as TOML files: those that runs keep, and those that people write."""

import json
import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any

from hal.config.settings import Config, check_values, values_of, with_values
from hal.config.versions import FORMAT, upgraded
from hal.errors import DamagedError
from hal.files import read_bytes, write_text

CONFIG = "config.toml"  # in a run's folder


def save_config(config: Config, folder: Path) -> None:
    """Write every field of a config; JSON's notation of these values is TOML's too."""
    lines = [f"format = {FORMAT}"]
    for group, fields in groupby(
        values_of(config).items(), lambda item: item[0].rpartition(".")[0]
    ):
        lines += ["", f"[{group}]"] if group else []
        lines += [f"{path.rpartition('.')[2]} = {json.dumps(value)}" for path, value in fields]
    write_text(folder / CONFIG, "\n".join(lines) + "\n")


def load_config(folder: Path) -> Config:
    """Read a run's config, of this version or an older one, or say what is wrong with it."""
    path = folder / CONFIG
    if not path.is_file():
        raise ValueError(f"{folder} is not a run: it has no {CONFIG}")
    values = _read(path, is_whole=True)
    missing = [name for name in values_of(Config()) if name not in values]
    if missing:
        others = f" and {len(missing) - 1} others" if missing[1:] else ""
        raise DamagedError(f"{path} is damaged: it lacks {missing[0]}{others}")
    try:
        return with_values(Config(), values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def read_settings(path: Path) -> dict[str, Any]:
    """Return what a person's file sets, by path; any subset of the fields."""
    if not path.is_file():
        raise ValueError(f"--config {path}: there is no such file")
    values = _read(path, is_whole=False)
    try:
        check_values(values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return values


def _read(path: Path, is_whole: bool) -> dict[str, Any]:
    try:
        table = tomllib.loads(read_bytes(path).decode())
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{path} is damaged: {error}") from error
    try:
        return upgraded(table, is_whole)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
