"""Runs in folders, with made-up metrics, and tables as they are printed."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from hal.config.file import save_config
from hal.config.presets import make_config

Lines = list[dict[str, Any]]


def make_run(folder: Path, lines: Lines | None = None, **settings: Any) -> Path:
    folder.mkdir(parents=True)
    settings = {"task": "treasure", "method": "hal", "seed": 0, **settings}
    save_config(make_config(**settings), folder)
    if lines is not None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "metrics.jsonl").write_text(text, encoding="utf-8")
    return folder


def curve(name: str, values: list[float], every: int = 100) -> Lines:
    return [{"steps": every * (i + 1), name: value} for i, value in enumerate(values)]


def learning(success: list[float]) -> Lines:
    names = ("episode/success", "mask/accuracy", "mask/overpruned", "episode/coverage/red_key")
    return [
        {"steps": 100 * (i + 1), "episode/length": 900 - 500 * value, **dict.fromkeys(names, value)}
        for i, value in enumerate(success)
    ]


def printed(table: Table, width: int = 200) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(table)
    return capture.get()
