"""What a run's folder holds, and how it stands with the run; only reads."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from hal.config.file import CONFIG

METRICS, EVALUATION, FAILURE = "metrics.jsonl", "evaluation.json", "failure.txt"
KEEPING, LOCK, CHECKPOINTS = "keeping.json", "run.lock", "checkpoints"
WEIGHTS = "weights.safetensors"


def is_done(folder: Path) -> bool:
    """Tell whether a run has been trained and evaluated."""
    return (folder / EVALUATION).is_file()


def find_runs(folder: Path) -> list[Path]:
    """Return the runs at or below a folder, sorted."""
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    runs = []
    for parent, subfolders, files in os.walk(folder):
        if CONFIG in files:
            runs.append(Path(parent))
            subfolders.clear()
    return sorted(runs)


def read_evaluation(run: Path) -> dict[str, Any]:
    """Return the greedy evaluation of a run that is done, or say what is wrong with it."""
    path = run / EVALUATION
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not isinstance(result, dict) or not isinstance(result.get("success"), int | float):
        raise ValueError(f"{path} is damaged: it has no success rate")
    return result


def state_of(run: Path) -> str:
    """Return done, running, failed or stopped."""
    if _is_held(run / LOCK):
        return "running"
    if is_done(run):
        return "done"
    return "failed" if (run / FAILURE).is_file() else "stopped"


def _is_held(lock: Path) -> bool:
    if not lock.is_file():
        return False
    try:
        with FileLock(lock, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # we may only read it: a shared lock needs no more
        with suppress(ImportError), lock.open("rb") as file:
            import fcntl  # noqa: PLC0415 (not on Windows)

            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Return a run's lines, without what a killed process cut off or a disk damaged."""
    path = folder / METRICS
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    lines = []
    for part in text.splitlines():
        with suppress(json.JSONDecodeError):
            line = json.loads(part)
            if isinstance(line, dict) and isinstance(line.get("steps"), int):
                lines.append(line)
    return lines
