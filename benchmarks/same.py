"""Whether two checkouts learn the same, bit by bit: `python -m benchmarks.same BEFORE AFTER`.

Trains a run of each kind of agent with either, and compares every metric but times, and every
weight. For changes that should change nothing. What `BEFORE` has done already is not done again.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from safetensors.numpy import load_file

TIMES = ("cpu_seconds", "steps_per_second", "updates_per_second", "keeping_seconds")
MAIN = "from hal.cli import main; main()"
STEPS = "--steps 30000"
RUNS = {
    **{
        f"treasure-{method}": f"treasure --method {method} {STEPS}"
        for method in ("hal", "hal-fnf", "hal-rai", "hal-rt", "hr+her", "hr", "oracle", "rainbow")
    },
    "iron-disappear": f"iron --disappear-rate 0.02 {STEPS}",
    "iron-removed": f"iron --milestones log stick wood_pickaxe stone iron_ore coal iron {STEPS}",
    "wood-paper": "wood --preset paper --steps 2000",
    "log-task": f"log --num-lanes 64 {STEPS}",  # so easy that all of the agent is trained
    "minigrid": f"--env minigrid/UnlockPickup {STEPS}",
    "diamond-agnostic": f"diamond --is-agnostic {STEPS}",
    "treasure-long": "treasure --steps 1500000",
}


@dataclass(frozen=True)
class Checkouts:
    """What to compare."""

    before: tyro.conf.Positional[Path]
    """The checkout before a change."""
    after: tyro.conf.Positional[Path] = Path()
    """The checkout after it."""
    out: Path = Path("/tmp/same")
    """Where the runs go."""
    only: tuple[str, ...] = tuple(RUNS)
    """Some of the runs."""


def train(checkout: Path, words: str, folder: Path) -> None:
    """Train a run with the code of a checkout."""
    environ = {**os.environ, "PYTHONPATH": str(checkout.absolute() / "src")}
    command = [sys.executable, "-c", MAIN, "train", *words.split(), "--episodes", "20"]
    subprocess.run([*command, "--out", str(folder)], env=environ, check=True, stdout=-3)


def metrics_of(folder: Path) -> list[dict[str, Any]]:
    """Return a run's metrics, without times."""
    lines = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    return [{k: v for k, v in line.items() if k not in TIMES} for line in lines]


def differences(one: Path, other: Path) -> list[str]:
    """Return what two runs have not in common."""
    found = []
    for what, read in (
        ("metrics", metrics_of),
        ("evaluation", lambda f: json.loads((f / "evaluation.json").read_text())),
    ):
        if read(one) != read(other):
            found.append(what)
    before, after = (load_file(folder / "weights.safetensors") for folder in (one, other))
    for name in before.keys() | after.keys():
        if name not in after:
            found.append(f"no {name} after")
        elif name not in before:
            found.append(f"no {name} before")
        elif name != "sha256" and before[name].tobytes() != after[name].tobytes():
            found.append(name)
    return sorted(found)


def main(checkouts: Checkouts) -> None:
    """Compare all runs; fail if one differs."""
    is_same = True
    for name in checkouts.only:
        folders = [checkouts.out / side / name for side in ("before", "after")]
        shutil.rmtree(folders[1], ignore_errors=True)
        for checkout, folder in zip((checkouts.before, checkouts.after), folders, strict=True):
            if not (folder / "evaluation.json").is_file():
                shutil.rmtree(folder, ignore_errors=True)
                train(checkout, RUNS[name], folder)
        found = differences(*folders)
        is_same &= not found
        print(f"{name:20} {', '.join(found) or 'the same'}", flush=True)
    sys.exit(not is_same)


if __name__ == "__main__":
    main(tyro.cli(Checkouts))
