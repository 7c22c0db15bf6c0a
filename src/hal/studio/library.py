"""The runs below some folders, by number: their table, their curves, what was learned when.

Nothing the page says is ever a path. A run's last line of metrics is enough for the table; a run
that has not changed is not read again.
"""

import math
from contextlib import suppress
from os import stat_result
from pathlib import Path
from typing import Any

import numpy as np

from hal.checks import check_choice, check_whole_number, printable
from hal.config.file import CONFIG, load_config
from hal.experiments.curves import SECONDS, STEPS, Curve, Group, mean_curve, read_groups
from hal.runs.checkpoint import PRETRAINED
from hal.runs.folder import (
    EVALUATION,
    FAILURE,
    METRICS,
    find_runs,
    is_done,
    last_metrics,
    read_evaluation,
    state_of,
)
from hal.studio.agents import stages_of
from hal.studio.pack import rounded

MOST_SELECTED = 200
HEATS = ("episode/coverage", "subpolicy/success", "mask/accuracy")
Row = dict[str, Any]


class Library:
    """The runs that the page knows.

    Args:
        roots: folders of runs, or that contain some; the agents in the package without any.
    """

    def __init__(self, roots: list[Path]) -> None:
        self._roots = [_root_of(root) for root in roots] or [PRETRAINED]
        self._runs: list[Path] = []
        self._rows: dict[Path, tuple[Any, Row]] = {}
        self._read: tuple[Any, dict[str, list[Group]]] = (None, {})  # the selection of last time

    def run(self, number: int) -> Path:
        """Return a run's folder."""
        check_whole_number("run", number, 0, len(self._runs) - 1)
        return self._runs[number]

    def rows(self) -> list[Row]:
        """Return a row for each run; new ones come last, so that a number stays a run's."""
        for root in self._roots:
            for run in find_runs(root):
                if run not in self._runs:
                    self._runs.append(run)
        return [self._row(number, run) for number, run in enumerate(self._runs)]

    def _row(self, number: int, run: Path) -> Row:
        stamp = [_stamp(run / name) for name in (CONFIG, METRICS, EVALUATION, FAILURE)]
        known = self._rows.get(run)
        if known is None or known[0] != stamp:
            known = (stamp, {"number": number, **_described(run, self._name_of(run))})
            self._rows[run] = known
        row = known[1]
        if row["state"]:  # done or damaged: nothing changes without one of the files
            return row
        return {**row, "state": state_of(run), "stages": stages_of(run)}

    def _name_of(self, run: Path) -> str:
        for root in self._roots:
            with suppress(ValueError):
                return printable(str(run.relative_to(root.parent)))
        return printable(run.name)

    # --- curves -----------------------------------------------------------------------------

    def metrics(self, numbers: list[int]) -> list[str]:
        """Return the names of the metrics that some runs have."""
        lines = [last_metrics(self.run(number)) for number in numbers]
        return sorted({name for line in lines for name in line} - {STEPS, SECONDS})

    def curves(self, numbers: list[int], metric: str, along: str) -> list[Row]:
        """Return the mean of a metric and its interval, for each group that differs in seeds."""
        check_choice("axis", along, (STEPS, SECONDS))
        found = []
        for task, groups in self._groups(numbers).items():
            for group in groups:
                curve = mean_curve(group.runs, metric, along)
                if curve.is_known:
                    label = f"{printable(task)} {group.label} ({group.num_seeds})"
                    found.append({"label": label, **_packed(curve)})
        return found

    def heat(self, numbers: list[int], kind: str) -> list[Row]:
        """Return what was learned when: a metric of each milestone over the steps, by group."""
        check_choice("heat map", kind, HEATS)
        found = []
        for task, groups in self._groups(numbers).items():
            for group in groups:
                rows = _heat_rows(group, f"{kind}/")
                if rows:
                    label = f"{printable(task)} {group.label} ({group.num_seeds})"
                    found.append({"label": label, "rows": _by_time(rows)})
        return found

    def _groups(self, numbers: list[int]) -> dict[str, list[Group]]:
        check_whole_number("number of runs", len(numbers), 0, MOST_SELECTED)
        runs = [self.run(number) for number in numbers]
        stamp = [(run, _stamp(run / METRICS)) for run in runs]
        if self._read[0] != stamp:
            groups: dict[str, list[Group]] = {}
            with suppress(ValueError):  # none has any metrics yet
                groups = read_groups(runs) if runs else {}
            self._read = stamp, groups
        return self._read[1]


def _root_of(root: Path) -> Path:
    """Return a folder, or that of the agent of this name in the package."""
    is_name = not root.exists() and (PRETRAINED / root / CONFIG).is_file()
    found = PRETRAINED / root if is_name else root
    if not found.is_dir():
        raise ValueError(f"there is no folder {root}")
    return found.absolute()


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        about: stat_result = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size


def _described(run: Path, name: str) -> Row:
    """Return what a row says of a run, whatever is in its folder."""
    row: Row = {"name": name, "state": "", "note": "", "stages": []}
    try:
        config, last = load_config(run), last_metrics(run)
        row |= {
            "task": printable(config.task),
            "method": printable(config.method),
            "seed": config.seed,
            "progress": min(last.get("steps", 0) / config.steps, 1.0),
            "online": rounded(last.get("episode/success")) if "episode/success" in last else None,
            "seconds": rounded(last.get(SECONDS)) if SECONDS in last else None,
            "isForeign": ":" in config.task,
            "greedy": None,
        }
        if is_done(run):
            row |= {"greedy": read_evaluation(run)["success"], "progress": 1.0, "state": "done"}
            row["stages"] = stages_of(run)
        if (run / FAILURE).is_file():
            row["note"] = printable((run / FAILURE).read_text(errors="replace")[:500].strip())
    except Exception as error:  # whatever is in a stranger's folder, the others are listed
        row |= {"state": "damaged", "note": printable(str(error) or repr(error))}
    return row


def _packed(curve: Curve) -> Row:
    ends = {"mean": curve.mean, "low": curve.low, "high": curve.high}
    return {"along": rounded(curve.steps), **{name: rounded(v) for name, v in ends.items()}}


def _heat_rows(group: Group, prefix: str) -> list[Row]:
    names = dict.fromkeys(
        name for lines in group.runs for name in lines[-1] if name.startswith(prefix)
    )
    rows = []
    for name in names:
        curve = mean_curve(group.runs, name)
        if curve.is_known:
            title = printable(name.removeprefix(prefix))
            along = rounded(curve.steps)
            rows.append({"title": title, "along": along, "values": rounded(curve.mean)})
    return rows


def _by_time(rows: list[Row], level: float = 0.5) -> list[Row]:
    """Return rows by when they first reach a level: what was learned first comes first."""

    def reached(row: Row) -> float:
        steps = np.array(row["along"], dtype=float)
        values = np.array([v if v is not None else -1.0 for v in row["values"]])
        above = steps[values >= level]
        return float(above[0]) if above.size else math.inf

    return sorted(rows, key=reached)
