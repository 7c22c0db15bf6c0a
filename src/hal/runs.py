"""What the folders of runs hold, for `hal runs` and `hal plot`; only reads them."""

import json
import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from rich.box import SIMPLE_HEAD
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from hal.checkpoint import CONFIG, load_config
from hal.log import read_metrics
from hal.run import EVALUATION, FAILURE, LOCK, is_done

COLOURS = {"done": "green", "running": "cyan", "stopped": "yellow", "failed": "red"}
UNKNOWN = "-"


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


def runs_table(folder: Path) -> Table:
    """Return a table with a row for each run at or below a folder."""
    runs = find_runs(folder)
    table = Table(title=Text(f"runs in {folder}: {len(runs)}"), box=SIMPLE_HEAD, padding=0)
    table.add_column("task", overflow="fold")
    table.add_column("method", overflow="fold")
    for name in ("seed", "progress", "success", "steps/s", "CPU time", "state"):
        justify: JustifyMethod = "left" if name in ("success", "state") else "right"
        table.add_column(name, justify=justify, no_wrap=True)
    table.add_column("folder", overflow="fold", min_width=10)
    for run in runs:
        name = str(run.relative_to(folder))
        try:
            table.add_row(*_cells(run, name))
        except (ValueError, TypeError, OSError) as error:
            note = str(error).replace(f"{run}{os.sep}", "")
            table.add_row(*[UNKNOWN] * 7, Text("damaged", "red"), Text(f"{name}: {note}"))
    return table


def _cells(run: Path, name: str) -> list[Text]:
    """Return what a run's row says of its config, its metrics and its state."""
    config, lines, state = load_config(run), read_metrics(run), state_of(run)
    last = lines[-1] if lines else {"steps": 0}
    online = [line["episode/success"] for line in lines if "episode/success" in line]
    success = f"{online[-1]:.0%} online" if online else UNKNOWN
    if state == "failed":
        name += f": {(run / FAILURE).read_text(encoding='utf-8').strip()}"
    if state == "done":
        success = f"{read_evaluation(run)['success']:.0%} greedy"
    rate, seconds = last.get("steps_per_second"), last.get("cpu_seconds")
    cells = (
        config.task,
        config.method,
        str(config.seed),
        f"{min(int(100 * last['steps'] / config.steps), 100)}%",
        success,
        UNKNOWN if rate is None else f"{rate:,.0f}",
        UNKNOWN if seconds is None else str(timedelta(seconds=round(seconds))),
    )
    return [*map(Text, cells), Text(state, COLOURS[state]), Text(name)]
