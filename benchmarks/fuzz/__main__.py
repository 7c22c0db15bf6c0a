"""All attacks, as one table: `python -m benchmarks.fuzz`, or a part: `--folders 200 --kills 0`.

Takes half an hour of a core and more at full size. Ctrl-C ends it in a line; the same command goes
on there. The exit code is 1 if any answer was not legal.
"""

import json
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks.fuzz.part import find

PARTS = {"folders": 250, "commands": 250, "environments": 10, "kills": 20, "steps": 20_000_000}


@dataclass(frozen=True)
class Sizes:
    """How much to attack with."""

    folders: int = 10_000
    """Folders of runs that somebody crafted or a disk damaged."""
    commands: int = 2_000
    """Command lines."""
    environments: int = 100
    """Environments that break a promise."""
    kills: int = 100
    """Kills in the middle of training."""
    steps: int = 1_000_000_000
    """Environment steps, each held against the rules."""


class Part(NamedTuple):
    """A part of an attack, which can be done again alone."""

    name: str
    size: int
    seed: int


@dataclass
class Row:
    """How far an attack has come."""

    asked: int
    done: int = 0
    num_faults: int = 0
    seconds: float = 0.0


@dataclass
class Journal:
    """What is done, a line for each part."""

    path: Path
    lines: dict[Part, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path.exists():
            for text in self.path.read_text().splitlines():
                line = json.loads(text)
                self.lines[Part(*line["part"])] = line

    def done(self, part: Part) -> dict[str, Any]:
        """Return what a part found, and how long it took; do it if it is not done."""
        if part not in self.lines:
            start = time.monotonic()
            found = find(*part)
            seconds = round(time.monotonic() - start, 1)
            self.lines[part] = {"part": part, "found": found, "seconds": seconds}
            with self.path.open("a") as file:
                file.write(json.dumps(self.lines[part]) + "\n")
        return self.lines[part]


def main(sizes: Sizes, *, seed: int = 0, out: Path = Path("fuzz.jsonl")) -> None:
    """Do all attacks, part by part; print what they find, then the table.

    Args:
        sizes: How much.
        seed: Of all that is random.
        out: What is done, and is not done again; remove it to begin anew.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell ignores it, as behind &
        signal.signal(number, signal.default_int_handler)
    rows, journal = {name: Row(count) for name, count in asdict(sizes).items()}, Journal(out)
    try:
        for name, row in rows.items():
            print(f"{name}: {row.asked:,} to do", flush=True)
            for part in _parts(name, row.asked, seed):
                _count(row, part, journal.done(part))
    except KeyboardInterrupt:
        done = ", ".join(f"{row.done:,} {name}" for name, row in rows.items())
        print(f"\nstopped after {done}; the same command goes on")
        sys.exit(130)
    Console().print(_table(rows))
    sys.exit(any(row.num_faults for row in rows.values()))


def _parts(name: str, count: int, seed: int) -> Iterator[Part]:
    """Yield the parts of an attack, each with a seed of its own."""
    for number, done in enumerate(range(0, count, PARTS[name])):
        yield Part(name, min(PARTS[name], count - done), 1_000 * seed + number)


def _count(row: Row, part: Part, line: dict[str, Any]) -> None:
    """Add what a part found to its row, and say it."""
    again = f"python -m benchmarks.fuzz.part {part.name} {part.size} {part.seed}"
    for fault in line["found"]:
        print(f"{fault}\n  again: {again}")
    row.num_faults += len(line["found"])
    row.done += part.size
    row.seconds += line["seconds"]
    print(f"  {row.done:,} done, {row.num_faults} not legal", flush=True)


def _table(rows: dict[str, Row]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for title in ("attack", "asked", "done", "not legal", "minutes"):
        table.add_column(title, justify="left" if title == "attack" else "right")
    for name, row in rows.items():
        numbers = (f"{row.asked:,}", f"{row.done:,}", f"{row.num_faults}")
        table.add_row(name, *numbers, f"{row.seconds / 60:.1f}")
    return table


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
