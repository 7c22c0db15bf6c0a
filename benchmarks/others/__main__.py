"""Do the runs that are missing, then show all: `python -m benchmarks.others`."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import tyro

from benchmarks.others.curves import draw
from benchmarks.others.jobs import Key, do_all
from benchmarks.others.running import Run, read
from benchmarks.others.tables import page, results_of, write_csv
from benchmarks.others.testbeds import METHODS, TESTBEDS
from hal.checks import check_choice


@dataclass(frozen=True)
class Bench:
    """Which runs."""

    testbeds: tuple[str, ...] = tuple(TESTBEDS)
    """Testbeds."""
    methods: tuple[str, ...] = METHODS
    """Methods; the first is compared with the others."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds."""
    steps: int | None = None
    """Environment steps of each run; the testbed's own without it."""
    episodes: int = 100
    """Episodes per evaluation."""
    jobs: int = 1
    """Runs at once, one thread each."""
    out: Path = Path("results/others")
    """Where lines, tables and curves are kept."""
    runs: Path = Path("runs/others")
    """Where the runs' folders are."""
    dry_run: bool = False
    """Tell what is left to do and what it costs, and do nothing."""

    def __post_init__(self) -> None:
        for name in self.testbeds:
            check_choice("testbed", name, tuple(TESTBEDS))


def runs_of(bench: Bench) -> dict[Key, Run]:
    """Return all runs, one seed after the other."""
    runs = {}
    for seed in bench.seeds:
        for name in bench.testbeds:
            testbed = replace(TESTBEDS[name], steps=bench.steps or TESTBEDS[name].steps)
            for method in bench.methods:
                title = f"{name}-{method}-{seed}"
                folder, lines = bench.runs / title, bench.out / f"{title}.jsonl"
                run = Run(testbed, method, seed, bench.episodes, folder, lines)
                runs[name, method, seed] = run
    return runs


def costs(runs: dict[Key, Run]) -> str:
    """Return what is left to do of each testbed and method, and the time to train that."""
    rows = [f"{'testbed':26}{'method':10}{'runs':>5}{'steps left':>12}{'CPU hours':>11}"]
    total = 0.0
    for name, method in dict.fromkeys(key[:2] for key in runs):
        own = [run for key, run in runs.items() if key[:2] == (name, method)]
        left = sum(run.steps_left() for run in own)
        num_left = sum(not run.is_done() for run in own)
        speed = TESTBEDS[name].speeds.get(method)
        hours = left / speed / 3600 if speed else float("nan")
        total += hours
        rows.append(f"{name:26}{method:10}{num_left:5}{left:12,}{hours:11.2f}")
    rows.append(f"{'training, without evaluations':53}{total:11.2f}")
    return "\n".join(rows)


def show(runs: dict[Key, Run], out: Path) -> None:
    """Write the tables and curves of all runs that are done."""
    results = results_of(runs)
    if not results:
        return
    write_csv(results, out / "measures.csv")
    (out / "tables.md").write_text(page(results), encoding="utf-8")
    lines = {
        name: {
            method: [read(runs[name, method, seed].lines) for seed in seeds]
            for method, seeds in methods.items()
        }
        for name, methods in results.items()
    }
    draw(lines, out / "curves.png")
    print(page(results))


def main(bench: Bench) -> int:
    """Do what is left, and show all."""
    runs = runs_of(bench)
    print(costs(runs), flush=True)
    if bench.dry_run:
        return 0
    bench.out.mkdir(parents=True, exist_ok=True)
    bench.runs.mkdir(parents=True, exist_ok=True)
    is_well = do_all({key: run for key, run in runs.items() if not run.is_done()}, bench.jobs)
    show(runs, bench.out)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Bench)))
