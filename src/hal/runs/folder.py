"""What a run's folder holds, and how it stands with the run; only reads."""

import json
import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from hal.config.file import CONFIG
from hal.errors import DamagedError
from hal.files import read_bytes

METRICS, EVALUATION, FAILURE = "metrics.jsonl", "evaluation.json", "failure.txt"
KEEPING, LOCK, CHECKPOINTS = "keeping.json", "run.lock", "checkpoints"
NEWEST = "checkpoint.txt"  # the name of the newest one: who has lost it is to know
WEIGHTS, TENSORBOARD, WANDB = "weights.safetensors", "tensorboard", "wandb"
OWN_FILES = (CONFIG, KEEPING, METRICS, EVALUATION, FAILURE, LOCK, NEWEST, WEIGHTS)
OWN = (*OWN_FILES, CHECKPOINTS, TENSORBOARD, WANDB)
MOST = 1e100  # of a metric; what is beyond was never measured
MOST_STEPS = 2**53
TAIL = 65_536  # bytes of metrics that hold the last line


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


def check_plain(run: Path) -> None:
    """Refuse to work where a link leads out of a run's folder, or a pipe or device waits."""
    for path in (*(run / name for name in OWN), *(run / CHECKPOINTS).rglob("*")):
        if path.is_symlink() or (path.exists() and not path.is_file() and not path.is_dir()):
            raise ValueError(f"{path} is a link, a pipe or a device; legal: files and folders")


def read_json(path: Path) -> Any:
    """Return what a file says, or DamagedError."""
    try:
        return json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{path} is damaged: {error}") from error


def read_evaluation(run: Path) -> dict[str, Any]:
    """Return the greedy evaluation of a run that is done, or say what is wrong with it."""
    path = run / EVALUATION
    result = read_json(path)
    rate: Any = result.get("success") if isinstance(result, dict) else None
    if not _is_number(rate) or not 0 <= rate <= 1:
        raise DamagedError(f"{path} is damaged: it has no success rate")
    values: dict[str, Any] = result
    return values


def state_of(run: Path) -> str:
    """Return done, running, failed or stopped."""
    if _is_held(run / LOCK):
        return "running"
    if is_done(run):
        return "done"
    return "failed" if (run / FAILURE).is_file() else "stopped"


def _is_held(lock: Path) -> bool:
    if not lock.is_file() or lock.is_symlink():
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
    text = read_bytes(path).decode(errors="replace") if path.exists() else ""
    lines = []
    for part in text.splitlines():
        with suppress(ValueError, RecursionError):
            line = json.loads(part)
            if isinstance(line, dict) and type(line.get("steps")) is int:
                lines.append(line)
    for line in lines:
        _check_metrics(path, line)
    return lines


def last_metrics(folder: Path) -> dict[str, Any]:
    """Return the numbers of a run's last whole line, reading no more; nothing if there is none."""
    path = folder / METRICS
    if not path.is_file():
        return {}
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - TAIL, 0))
        parts = file.read(TAIL).decode(errors="replace").splitlines()
    for part in reversed(parts):
        with suppress(ValueError, RecursionError):
            line = json.loads(part)
            if isinstance(line, dict) and type(line.get("steps")) is int:
                return {k: v for k, v in line.items() if _is_number(v) and math.isfinite(v)}
    return {}


def _check_metrics(path: Path, line: dict[str, Any]) -> None:
    """Refuse a whole line that no run has written."""
    if not 0 <= line["steps"] <= MOST_STEPS:
        raise DamagedError(f"{path} is damaged: it has a line of {line['steps']} steps")
    for name, value in line.items():
        if not _is_number(value):
            kind = type(value).__name__
            raise DamagedError(f"{path} is damaged: {name} is a {kind}; legal: numbers")


def _is_number(value: Any) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        return True  # as runs write it that have nothing to measure yet
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST
