"""`hal reproduce`: plan -> runs -> tables -> figures -> report."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from rich.console import Console

from hal.config.file import CONFIG, load_config
from hal.errors import FailedError
from hal.experiments.costs import Costs, in_words, time_left
from hal.experiments.engines import Engine
from hal.experiments.figures import draw_figures
from hal.experiments.progress import Progress
from hal.experiments.report import COMMAND, FAILURES, write_report
from hal.experiments.results import (
    Results,
    collect,
    read_results,
    recorded,
    write_results,
)
from hal.experiments.schedule import run_all
from hal.experiments.suite import EXPERIMENTS, RunSpec, specs_of
from hal.files import locked, write_text
from hal.runs.display import say
from hal.runs.folder import is_done
from hal.runs.lifecycle import Keeping, prepare_run

RUNS, LOCK = "runs", "suite.lock"


def plan_of(
    experiment: str, num_seeds: int, preset: str, steps: int | None
) -> dict[str, list[RunSpec]]:
    """Return the runs of an experiment, or of all."""
    names = list(EXPERIMENTS) if experiment == "all" else [experiment]
    return {name: specs_of(name, num_seeds, preset, steps) for name in names}


def show_plan(plan: dict[str, list[RunSpec]], out: Path, num_slots: int) -> None:
    """Print the runs and what they cost."""
    costs, specs = Costs(out / RUNS), list(_unique(plan).values())
    known = _recorded(plan, out)
    missing = [spec for spec in specs if spec.folder not in known]
    costs.learn(specs)
    costs.calibrate(missing)
    Console().print(costs.table(plan, known))
    num_done = len(known) + sum(is_done(out / RUNS / spec.folder) for spec in missing)
    left = costs.seconds_left(missing)
    say(
        f"{len(specs)} different runs, {num_done} of them done; left: {in_words(sum(left))} of CPU"
        f" time, about {in_words(time_left(left, num_slots))} with {num_slots} at once"
    )


def reproduce(plan: dict[str, list[RunSpec]], out: Path, engine: Engine, keeping: Keeping) -> None:
    """Do the runs that are missing; write each experiment's tables and figures, and the report."""
    runs, known = out / RUNS, _recorded(plan, out)
    specs = {folder: spec for folder, spec in _unique(plan).items() if folder not in known}
    failed: dict[Path, str] = {}
    with alone_in(out), Progress(specs, runs, engine) as progress:
        for folder, spec in specs.items():
            _prepare(spec, runs / folder, keeping)
        try:
            for name, own in plan.items():
                folders = [runs / spec.folder for spec in own if spec.folder in specs]
                new = [folder for folder in folders if folder not in failed]
                try:
                    failed |= run_all(new, engine, progress)
                finally:  # what is there is written up, whoever stops it
                    write_up(name, own, out, failed)
                progress.say(f"see {write_report(out)}")
        finally:
            engine.stop()
    if failed:
        raise FailedError(
            f"{len(failed)} of {len(specs)} runs failed; the same command tries them again"
        )


def redraw(out: Path) -> None:
    """Draw the figures and write the report anew from the tables that are there."""
    results = {name: read_results(out / name) for name in EXPERIMENTS}
    if not any(results.values()):
        raise ValueError(f"there are no results in {out}; legal: what `hal reproduce` wrote")
    with alone_in(out):
        for name, runs in results.items():
            draw_figures(name, runs, out / name)
        say(f"see {write_report(out)}")


def alone_in(out: Path) -> AbstractContextManager[None]:
    """Keep other processes off a folder of results, which is made if there is none."""
    out.mkdir(parents=True, exist_ok=True)
    return locked(out / LOCK, f"{out} is being worked on by another process")


def write_up(name: str, specs: Sequence[RunSpec], out: Path, failed: dict[Path, str]) -> None:
    """Write an experiment's tables and figures, and which runs are missing."""
    runs, folder = out / RUNS, out / name
    known = recorded(specs, read_results(folder))  # of this config, wherever they were done
    results = [
        known[spec.folder] if spec.folder in known else collect(spec, runs / spec.folder)
        for spec in specs
        if spec.folder in known or is_done(runs / spec.folder)
    ]
    if not results and not failed:
        return
    write_results(results, folder)
    write_text(folder / COMMAND, command_of(specs, results) + "\n")
    draw_figures(name, read_results(folder), folder)
    errors = [
        f"{spec.title}: {failed[runs / spec.folder]}"
        for spec in specs
        if runs / spec.folder in failed
    ]
    (folder / FAILURES).unlink(missing_ok=True)
    if errors:
        write_text(folder / FAILURES, "\n".join(errors) + "\n")


def command_of(specs: Sequence[RunSpec], results: Results) -> str:
    """Return the command that does these runs."""
    first = specs[0]
    num_seeds = len({spec.config.seed for spec in specs})
    words = f"hal reproduce {first.experiment} --seeds {num_seeds} --preset {first.config.preset}"
    if first.config.steps != first.variant.config(0, first.config.preset, None).steps:
        words += f" --steps {first.config.steps}"
    episodes = {run.final["episodes"] for run in results} - {Keeping().num_episodes}
    return words + "".join(f" --episodes {number}" for number in episodes)


def _recorded(plan: dict[str, list[RunSpec]], out: Path) -> set[str]:
    """Return the folders of runs whose results are in the tables, the runs themselves or not."""
    return {
        folder for name, own in plan.items() for folder in recorded(own, read_results(out / name))
    }


def _unique(plan: dict[str, list[RunSpec]]) -> dict[str, RunSpec]:
    """Return each run once, by its folder."""
    unique: dict[str, RunSpec] = {}
    for specs in plan.values():
        for spec in specs:
            unique.setdefault(spec.folder, spec)
    return unique


def _prepare(spec: RunSpec, folder: Path, keeping: Keeping) -> None:
    """Make a run's folder if it has none; refuse one that is something else."""
    if not (folder / CONFIG).is_file():
        prepare_run(spec.config, folder, keeping)
    elif load_config(folder) != spec.config:
        raise ValueError(f"{folder} is another run; take another --out, or remove it")
