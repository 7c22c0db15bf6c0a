"""All attacks, as one table: `python -m benchmarks.fuzz`, or a part: `--folders 200 --kills 0`.

Takes hours at full size. Ctrl-C ends it with the table of what was done. The exit code is 1 if any
answer was not legal.
"""

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field

import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

PARTS = {"folders": 250, "commands": 100, "environments": 10, "steps": 20_000_000, "kills": 10}


@dataclass(frozen=True)
class Sizes:
    """How much to attack with."""

    folders: int = 10_000
    """Folders of runs that somebody crafted or a disk damaged."""
    commands: int = 2_000
    """Command lines."""
    environments: int = 100
    """Environments that break a promise."""
    steps: int = 1_000_000_000
    """Environment steps, each held against the rules."""
    kills: int = 100
    """Kills in the middle of training."""
    seed: int = 0
    """Of all that is random."""


@dataclass
class Row:
    """How far an attack has come."""

    asked: int
    done: int = 0
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


def main(sizes: Sizes) -> None:
    """Do all attacks, part by part; print what they find, then the table."""
    counts = asdict(sizes)
    seed = counts.pop("seed")
    rows = {name: Row(count) for name, count in counts.items()}
    try:
        for name, row in rows.items():
            _attack(name, row, seed)
    except KeyboardInterrupt:
        print("stopped")
    Console().print(_table(rows))
    sys.exit(any(row.faults for row in rows.values()))


def _attack(name: str, row: Row, seed: int) -> None:
    """Do an attack; each part has a seed of its own, so that it can be done again alone."""
    for number in range(-(-row.asked // PARTS[name])):
        count, start = min(PARTS[name], row.asked - row.done), time.monotonic()
        own = 1_000 * seed + number
        found = _part(name, count, own)
        for fault in found:
            print(f"{fault}\n  again: python -m benchmarks.fuzz.part {name} {count} {own}")
        row.faults += found
        row.done += count
        row.seconds += time.monotonic() - start


def _part(name: str, count: int, seed: int) -> list[str]:
    """Return what a part finds; its process has a session of its own, for Ctrl-C is ours."""
    words = [sys.executable, "-m", "benchmarks.fuzz.part", name, str(count), str(seed)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            out, errors = process.communicate()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        return [f"{name} {seed}: ended with {process.returncode}: {errors[-1000:]}"]
    found: list[str] = json.loads(out.splitlines()[-1])
    return found


def _table(rows: dict[str, Row]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for title in ("attack", "asked", "done", "not legal", "minutes"):
        table.add_column(title, justify="left" if title == "attack" else "right")
    for name, row in rows.items():
        numbers = (f"{row.asked:,}", f"{row.done:,}", f"{len(row.faults)}")
        table.add_row(name, *numbers, f"{row.seconds / 60:.1f}")
    return table


if __name__ == "__main__":
    main(tyro.cli(Sizes))
