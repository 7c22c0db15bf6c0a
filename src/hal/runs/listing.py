"""The table of `hal runs`: a row for each run below a folder."""

import os
from datetime import timedelta
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from hal.checks import printable
from hal.config.file import load_config
from hal.files import read_bytes
from hal.runs.folder import FAILURE, find_runs, read_evaluation, read_metrics, state_of

COLOURS = {"done": "green", "running": "cyan", "stopped": "yellow", "failed": "red"}
UNKNOWN = "-"


def runs_table(folder: Path) -> Table:
    """Return a table with a row for each run at or below a folder."""
    runs = find_runs(folder)
    table = Table(
        title=Text(printable(f"runs in {folder}: {len(runs)}")), box=SIMPLE_HEAD, padding=0
    )
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
        except Exception as error:  # whatever is in a stranger's folder, the others are listed
            note = (str(error) or repr(error)).replace(f"{run}{os.sep}", "")
            note = printable(f"{name}: {note}")
            table.add_row(*[UNKNOWN] * 7, Text("damaged", "red"), Text(note))
    return table


def _cells(run: Path, name: str) -> list[Text]:
    """Return what a run's row says of its config, its metrics and its state."""
    config, lines, state = load_config(run), read_metrics(run), state_of(run)
    last = lines[-1] if lines else {"steps": 0}
    online = [line["episode/success"] for line in lines if "episode/success" in line]
    success = f"{online[-1]:.0%} online" if online else UNKNOWN
    if state == "failed":
        name += f": {read_bytes(run / FAILURE).decode(errors='replace').strip()}"
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
    words = [Text(printable(cell)) for cell in (*cells, name)]
    return [*words[:-1], Text(state, COLOURS[state]), words[-1]]
