"""Tables of all runs: means over seeds and differences between methods, with 95% intervals."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from benchmarks.others.measures import TITLES, Measures, measures_of
from benchmarks.others.running import Run, read
from benchmarks.others.testbeds import TESTBEDS
from hal.experiments.stats import contrast, mean_interval

Results = dict[str, dict[str, dict[int, Measures]]]  # by testbed, method and seed


def results_of(runs: Mapping[tuple[str, str, int], Run]) -> Results:
    """Return the measures of all runs that are done."""
    results: Results = {}
    for (name, method, seed), run in runs.items():
        if run.is_done():
            by_method = results.setdefault(name, {}).setdefault(method, {})
            by_method[seed] = measures_of(read(run.lines))
    return results


def write_csv(results: Results, path: Path) -> None:
    """Write one row for each run and measure."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("testbed", "method", "seed", "measure", "value"))
        for name, methods in results.items():
            for method, seeds in methods.items():
                for seed, measures in seeds.items():
                    rows = ((name, method, seed, *pair) for pair in measures.items())
                    writer.writerows(rows)


def page(results: Results) -> str:
    """Return all tables in Markdown."""
    return "\n".join(line for name, methods in results.items() for line in _section(name, methods))


def _section(name: str, methods: Mapping[str, Mapping[int, Measures]]) -> Iterator[str]:
    known = [measures for seeds in methods.values() for measures in seeds.values()]
    titles = {key: title for key, title in TITLES.items() if any(key in each for each in known)}
    note = TESTBEDS[name].note if name in TESTBEDS else ""
    yield f"## {name}\n"
    yield f"Seeds: {', '.join(f'{m} {sorted(seeds)}' for m, seeds in methods.items())}.\n"
    if note:
        yield f"In all figures {note}.\n"
    yield from _row("", methods)
    yield from _row("---", ["---"] * len(methods))
    for key, title in titles.items():
        yield from _row(title, [mean_of(values_of(seeds, key)) for seeds in methods.values()])
    first, *others = methods
    if others:
        yield ""
        yield from _row("difference", [f"{first} - {other}" for other in others])
        yield from _row("---", ["---"] * len(others))
        for key, title in titles.items():
            ours = values_of(methods[first], key)
            cells = [difference(ours, values_of(methods[other], key)) for other in others]
            yield from _row(title, cells)
    yield ""


def _row(title: str, cells: Mapping[str, object] | list[str]) -> Iterator[str]:
    yield f"| {title} | {' | '.join(cells)} |"


def values_of(seeds: Mapping[int, Measures], key: str) -> np.ndarray:
    """Return a measure of the seeds that have it."""
    return np.array([measures[key] for measures in seeds.values() if key in measures], dtype=float)


def mean_of(values: np.ndarray) -> str:
    """Return a mean with its interval, or how many seeds got there if not all did."""
    if not values.size:
        return ""
    got_there = values[np.isfinite(values)]
    if got_there.size < values.size:
        those = f": {', '.join(map(_short, np.sort(got_there)))}" if got_there.size else ""
        return f"{got_there.size} of {values.size}{those}"
    interval = mean_interval(values)
    return _with_ends(interval.estimate, interval.low, interval.high)


def difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Return a difference of means with its interval, where all seeds have both."""
    if not ours.size or not theirs.size or not np.isfinite([*ours, *theirs]).all():
        return ""
    interval = contrast([ours, theirs], [1, -1])
    return _with_ends(interval.estimate, interval.low, interval.high)


def _with_ends(estimate: float, low: float, high: float) -> str:
    ends = f" ({_short(low)} to {_short(high)})" if np.isfinite([low, high]).all() else ""
    return f"{_short(estimate)}{ends}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
