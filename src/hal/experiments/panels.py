"""Parts of the paper's figures: panels, sweeps, legends; `figures.py` puts them together."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure

from hal.experiments import plot
from hal.experiments.curves import COLOURS, DASHES, LENGTH, MARGIN, Lines, mean_curve
from hal.experiments.departures import Effect
from hal.experiments.results import Results, finals, select
from hal.experiments.stats import mean_interval
from hal.experiments.suite import EXPERIMENTS, Variant

Handles = dict[str, Any]  # of a legend, by label

SUCCESS = "episode/success"
LABELS = plot.PANELS | {
    SUCCESS: "online success",
    "subpolicy/success": "online subpolicy success",
    "mask/impact": "greedy choices changed",
    "mask/pruned": "pruned share",
    "mask/empty": "nothing held possible",
    "filter/false_negative_accuracy": "false negatives found",
    "filter/true_negative_accuracy": "true negatives kept",
    "filter/false_negatives": "share of false negatives",
    "filter/flagged": "share flagged",
    MARGIN: "margin (distance)",
}
KINDS = ("accuracy", "impact", "pruned", "overpruned", "underpruned", "empty")
MASK = [f"mask/{kind}" for kind in KINDS]
FILTER = [name for name in LABELS if name.startswith("filter/")]
SETTINGS = {
    "filter_percentile": "filter's percentile",
    "sigma": "spread of positives, sigma",
    "threshold": "mask's threshold",
}
# Where one method has several variants: from its own colour to light, through its relatives'.
RAMPS = {
    "hal": (COLOURS["hal"], COLOURS["hal-rai"], COLOURS["hal-cl"]),
    "hr+her": (COLOURS["hr+her"], COLOURS["hr"], COLOURS["hal-cl"]),
}
PAGE_WIDTH, PAGE_HEIGHT, PANEL_HEIGHT, LEGEND_HEIGHT = 7.2, 8.4, 2.1, 0.5  # inches


@dataclass(frozen=True)
class Series:
    """The runs of one variant, and how they are drawn."""

    label: str
    runs: list[Lines]
    style: dict[str, Any]


def make_figure(
    experiment: str,
    num_rows: int,
    num_columns: int,
    legend_rows: int = 1,
    panel_height: float = PANEL_HEIGHT,
) -> tuple[Figure, list[Axes]]:
    """Return a figure of a page's width, titled if it has one task, and its panels row by row."""
    height = min(num_rows * panel_height, PAGE_HEIGHT) + LEGEND_HEIGHT + 0.12 * legend_rows
    figure = Figure(figsize=(PAGE_WIDTH, height), layout="constrained")
    tasks = EXPERIMENTS[experiment].tasks
    figure.suptitle(tasks[0] if len(tasks) == 1 else "")
    return figure, list(figure.subplots(num_rows, num_columns, squeeze=False).flat)


def measured(results: Results, variants: Iterable[Variant]) -> list[Variant]:
    """Return the variants that have runs."""
    return [variant for variant in variants if select(results, variant.task, variant.name)]


def series_of(results: Results, variants: Sequence[Variant]) -> list[Series]:
    """Return the variants that have runs; those of one method are shades of its colour."""
    series = []
    for variant in variants:
        alike = [other for other in variants if other.method == variant.method]
        place, colour = alike.index(variant), COLOURS[variant.method]
        if place:
            ramp = LinearSegmentedColormap.from_list(variant.method, RAMPS[variant.method])
            colour = to_hex(ramp(place / (len(alike) - 1)))
        runs = [run.lines for run in select(results, variant.task, variant.name) if run.lines]
        style = {"color": colour, "linestyle": DASHES[place % len(DASHES)]}
        series.append(Series(variant.name, runs, style))
    return [one for one in series if one.runs]


def draw_panel(axes: Axes, metric: str, series: Sequence[Series]) -> Handles:
    """Draw a metric's curves and return the lines of those that have it."""
    handles, known = Handles(), [0.0]
    for one in series:
        runs = [lines for lines in one.runs if any(metric in line for line in lines)]
        if runs:
            handles[one.label] = plot.draw_curve(axes, mean_curve(runs, metric), one.style)
            known += [line[metric] for lines in runs for line in lines if metric in line]
    if metric in (LENGTH, MARGIN):
        top = max(known) or None  # the interval of few seeds may reach far beyond
    else:
        top = None if metric.endswith("pruned") else 1.0
    plot.label_axes(axes, LABELS[metric], top)
    if not handles:
        axes.set_xticks([])
        axes.text(0.5, 0.5, "no data yet", transform=axes.transAxes, ha="center", color="grey")
    return handles


def draw_effects(axes: Axes, effects: Sequence[Effect]) -> Handles:
    """Draw what each departure changes in online success, those that matter in colour."""
    handles = Handles()
    for place, effect in enumerate(effects):
        interval = effect.online
        colour, label = "grey", "makes no difference"
        if effect.matters:
            name = "hr" if effect.is_worse else "hal"
            colour, label = COLOURS[name], "worse" if effect.is_worse else "better"
        mean = interval.estimate
        style: dict[str, Any] = {"color": colour, "markersize": 3, "capsize": 2}
        arms = [[mean - interval.low], [interval.high - mean]]
        known = np.isfinite(interval.low)
        handles[label] = axes.errorbar(mean, place, xerr=arms if known else None, fmt="o", **style)
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_yticks(range(len(effects)), [effect.name for effect in effects])
    axes.set_ylim(max(len(effects), 1) - 0.5, -0.5)
    most = max((abs(effect.online.estimate) for effect in effects), default=0.0)
    axes.set_xlim(-most - 0.1, most + 0.1)  # the interval of few seeds may reach far beyond
    axes.set_xlabel("online success less fast's")
    return handles


def draw_sweep(axes: Axes, results: Results, experiment: str, setting: str) -> Handles:
    """Draw final success at each value of a setting beside hr+her's; return what is drawn."""
    variants = measured(results, EXPERIMENTS[experiment].variants)
    handles = Handles()
    for variant in variants:
        if variant.method == "hr+her":
            colour = COLOURS[variant.method]
            mean, low, high = rate_of(finals(results, variant.task, variant.name))
            handles[variant.name] = axes.axhline(mean, color=colour, linestyle="--")
            axes.axhspan(low, high, color=colour, alpha=0.18, linewidth=0)
    swept = [variant for variant in variants if setting in variant.settings]
    groups = [finals(results, variant.task, variant.name) for variant in swept]
    if groups:
        style: dict[str, Any] = {"color": COLOURS["hal"], "markersize": 3}
        places = np.repeat(range(len(groups)), [group.size for group in groups])
        (handles["hal"],) = axes.plot([group.mean() for group in groups], **style)
        dots = axes.plot(places, np.concatenate(groups), "o", alpha=0.5, **style)
        (handles["hal, each seed"],) = dots
    values = [f"{variant.settings[setting]:g}" for variant in swept]
    label_ticks(axes, "greedy success", SETTINGS[setting], values)
    return handles


def label_ticks(axes: Axes, label: str, below: str, ticks: Sequence[str]) -> None:
    """Name the axes of rates of several kinds, and the kinds."""
    plot.label_axes(axes, label, top=1.0)
    axes.set_xlabel(below)
    axes.set_xticks(range(len(ticks)), [tick.replace("_", "\n") for tick in ticks])
    axes.set_xlim(-0.5, max(len(ticks), 1) - 0.5)


def rate_of(values: np.ndarray) -> tuple[float, float, float]:
    """Return a rate's mean and its interval, of which one seed has none."""
    interval = mean_interval(values)
    if values.size == 1:
        return interval.estimate, np.nan, np.nan
    return interval.estimate, max(interval.low, 0.0), min(interval.high, 1.0)


def over_seeds(results: Results) -> str:
    """Return what curves, bars and bands show."""
    counts = Counter((run.task, run.variant) for run in results).values()
    least, most = min(counts), max(counts)
    if most == 1:
        return "one seed"
    number = most if least == most else f"{least} to {most}"
    return f"mean and 95% t-interval over {number} seeds"


def add_legend(where: Figure | Axes, handles: Handles, title: str) -> None:
    """Name what is drawn, below all panels or below one."""
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": 6}
    if isinstance(where, Axes):
        num_columns = 2 if len(handles) > 3 else 1
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.24), "ncols": num_columns}
    where.legend(list(handles.values()), list(handles), title=title if handles else "", **place)
