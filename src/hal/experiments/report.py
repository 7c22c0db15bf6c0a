"""The report of all experiments: tables and figures -> one page of HTML that needs nothing else."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from platform import python_version

import numpy as np

from hal import __version__
from hal.experiments import departures
from hal.experiments.claims import judge
from hal.experiments.figures import FIGURES
from hal.experiments.page import page_of, picture, table
from hal.experiments.panels import measured
from hal.experiments.results import Results, averages, finals, is_current, read_results, select
from hal.experiments.stats import (
    Interval,
    bootstrap_iqm,
    iqm,
    mean_interval,
    probability_of_improvement,
)
from hal.experiments.suite import EXPERIMENTS, Variant, milestones_removed
from hal.experiments.summary import claims_section, effects_tables, summary_section
from hal.files import write_text

REPORT, COMMAND, FAILURES = "report.html", "command.txt", "failures.txt"
CAPTIONS = {
    "learning": "Online success of episodes, and of the subtasks they consist of.",
    "episode-length": "Length of episodes during training.",
    "masks": "The mask, with and without the filter of false negatives.",
    "filter": "The filter of false negatives.",
    "milestones": "Online success with random milestones removed.",
    "stochastic": "Online success where items disappear at a rate p.",
    "agnostic": "Greedy episodes with each milestone, from shallow to deep.",
    "components": "Online success and mask accuracy without each component.",
    "hyperparameters": "Final greedy success at several values of three settings.",
    "sigma": "Success at several sigmas where items disappear: online, and greedy at the end.",
    "departures": "Online success over training with one thing as in the paper, less HAL's.",
    "faithful": "The paper's algorithm on our networks, lanes and batches.",
    "paper": "The paper's own settings.",
}
TITLE = "HAL: the paper's experiments"
INTRO = """<p>What the experiments of <cite>Possibility Before Utility: Learning and Using
Hierarchical Affordances</cite> (ICLR 2022) give when they are done with this implementation, and
which of the paper's claims that confirms.</p>
<p>Online rates are of training, with exploration, and in tables the mean over all of it; greedy
ones are of an evaluation after training, without exploration. Intervals are 95% intervals over
seeds; IQM is the interquartile mean.</p>"""


def write_report(folder: Path) -> Path:
    """Write what the experiments whose tables lie in a folder have measured; return the file."""
    results = {name: read_results(folder / name) for name in EXPERIMENTS}
    done = [name for name in results if results[name] or (folder / name / FAILURES).is_file()]
    judgements = judge(results)
    sections = {"summary": summary_section(judgements, results)}
    sections |= {"claims": claims_section(judgements)}
    sections |= {name: experiment_section(name, results[name], folder / name) for name in done}
    sections |= {"missing": missing_section([name for name in results if name not in done])}
    titles = {"summary": "Summary", "claims": "Claims", "missing": "Not measured"}
    titles |= {name: experiment.title for name, experiment in EXPERIMENTS.items()}
    titled = {name: (titles[name], content) for name, content in sections.items()}
    packages = {name: version(name) for name in ("torch", "numpy")}
    used = {"hal": __version__, "Python": python_version()} | packages
    versions = escape(", ".join(f"{name} {number}" for name, number in used.items()))
    intro = f'{INTRO}\n<p class="quiet">Written with {versions}.</p>'
    write_text(folder / REPORT, page_of(TITLE, intro, titled))
    return folder / REPORT


def experiment_section(name: str, results: Results, folder: Path) -> str:
    """Return an experiment's figures and aggregates, and how to repeat it."""
    experiment = EXPERIMENTS[name]
    variants = measured(results, experiment.variants)
    rows = [variant_row(results, variant) for variant in variants]
    command = read_text(folder / COMMAND) or f"hal reproduce {name}"
    parts = [
        f"<p>The paper's {escape(experiment.figure)}. <code>{escape(command)}</code></p>",
        *(figure_text(folder / f"{own}.png") for own in FIGURES if FIGURES[own][0] == name),
        table("Each variant over its seeds", COLUMNS, rows),
    ]
    if name == departures.NAME:
        parts.append(effects_tables(results))
    if any(variant.num_removed for variant in variants):
        parts.append(removed_table(results, variants))
    if len(experiment.tasks) > 1 and "hal" in {variant.name for variant in variants}:
        title = f"Greedy success on {' and '.join(experiment.tasks)} together"
        head = ("variant", "IQM", "probability that hal does better")
        parts.append(table(title, head, across_rows(results, experiment.tasks, variants)))
    stale = [
        f"{v.name} on {v.task}"
        for v in variants
        if not all(is_current(run, v) for run in select(results, v.task, v.name))
    ]
    if stale:
        what = "Measured with other settings than today's, to be repeated"
        parts.append(f'<p class="refuted">{what}: {escape("; ".join(stale))}.</p>')
    missing = [f"{v.name} on {v.task}" for v in experiment.variants if v not in variants]
    if missing:
        parts.append(f"<p>Not measured: {escape('; '.join(missing))}.</p>")
    failures = read_text(folder / FAILURES)
    if failures:
        items = "".join(f"<li>{escape(line)}</li>" for line in failures.splitlines())
        parts.append(f'<p class="refuted">Runs that failed:</p><ul>{items}</ul>')
    return "\n".join(parts)


def read_text(path: Path) -> str:
    """Return a file's text, or nothing if there is none."""
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


COLUMNS = (
    "task",
    "variant",
    "seeds",
    "steps",
    "episodes",
    "greedy success",
    "IQM",
    "online success",
    "CPU s, median",
    "CPU s, total",
)


def variant_row(results: Results, variant: Variant) -> list[str]:
    """Return a variant's aggregates over its seeds."""
    runs = select(results, variant.task, variant.name)
    success = finals(results, variant.task, variant.name)
    online = averages(results, variant.task, variant.name, "episode/success")
    seconds = [run.cost.get("cpu_seconds", np.nan) for run in runs]
    return [
        variant.task,
        variant.name,
        str(len(runs)),
        ", ".join(f"{steps:,}" for steps in sorted({int(run.final["steps"]) for run in runs})),
        ", ".join(str(number) for number in sorted({int(run.final["episodes"]) for run in runs})),
        rate_text(mean_interval(success)),
        f"{iqm(success):.1%}",
        rate_text(mean_interval(online)),
        f"{np.median(seconds):,.0f}",
        f"{np.sum(seconds):,.0f}",
    ]


def removed_table(results: Results, variants: Sequence[Variant]) -> str:
    """Return which milestones each seed removes, in their order, and what became of each set."""
    most = max(variant.num_removed for variant in variants)
    own = [variant for variant in variants if variant.num_removed]
    seeds = sorted({run.seed for v in own for run in select(results, v.task, v.name)})
    rows = []
    for seed in seeds:
        found = [
            {run.seed: run.final["success"] for run in select(results, v.task, v.name)}.get(seed)
            for v in own
        ]
        shown = ["-" if success is None else f"{success:.1%}" for success in found]
        rows.append([str(seed), ", ".join(milestones_removed(own[0].task, most, seed)), *shown])
    head = ("seed", "removed, the first few of these", *(variant.name for variant in own))
    return table("The sets: greedy success with each", head, rows)


def across_rows(
    results: Results, tasks: Sequence[str], variants: Sequence[Variant]
) -> Iterable[list[str]]:
    """Return the aggregates over tasks of the variants that have runs on all of them."""
    groups: dict[str, list[np.ndarray]] = {}
    for name in dict.fromkeys(variant.name for variant in variants):
        success = [finals(results, task, name) for task in tasks]
        if all(values.size for values in success):
            groups[name] = success
    for name, success in groups.items():
        better = "-"
        if name != "hal" and "hal" in groups:
            pairs = list(zip(groups["hal"], success, strict=True))
            better = rate_text(probability_of_improvement(pairs))
        yield [name, rate_text(bootstrap_iqm(success)), better]


def rate_text(interval: Interval) -> str:
    """Return a rate with its interval, of which one seed has none."""
    if not isfinite(interval.low):
        return f"{interval.estimate:.1%}"
    low, high = max(interval.low, 0), min(interval.high, 1)
    return f"{interval.estimate:.1%} ({low:.1%} to {high:.1%})"


def figure_text(path: Path) -> str:
    """Return a figure with its picture inside, or nothing if there is none."""
    if not path.is_file():
        return ""
    return picture(path.read_bytes(), CAPTIONS[path.stem])


def missing_section(names: Sequence[str]) -> str:
    """Return the experiments without data, and how to do them."""
    items = "".join(
        f"<li>{escape(EXPERIMENTS[name].title)} (the paper's {escape(EXPERIMENTS[name].figure)}):"
        f" <code>hal reproduce {name}</code></li>"
        for name in names
    )
    return f"<ul>{items}</ul>" if names else "<p>Every experiment has been measured.</p>"
