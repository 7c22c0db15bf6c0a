"""The paper's figures: tables of results -> PNG and PDF for print; what has no data is left out."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from PIL import Image

from hal.envs.grid.settings import GridSettings
from hal.experiments import plot
from hal.experiments.plot import COLOURS, LENGTH, MARGIN, SUFFIXES, Lines, mean_curve
from hal.experiments.results import Results, finals, select
from hal.experiments.stats import mean_interval
from hal.experiments.suite import EXPERIMENTS, SWEEPS, Variant
from hal.files import all_or_nothing

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
    "fnf_perc": "filter's percentile (fnf_perc)",
    "sigma": "spread of positives (sigma)",
    "aff_threshold": "mask's threshold (aff_threshold)",
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


def draw_figures(experiment: str, results: Results, folder: Path) -> list[Path]:
    """Draw an experiment's figures as PNG and PDF and return the files; none without results."""
    files = []
    own = {name: draw for name, (owner, draw) in FIGURES.items() if owner == experiment}
    with mpl.rc_context(plot.STYLE):
        for name, draw in own.items() if results else ():
            figure = draw(results)
            figure.draw_without_rendering()  # the layout settles the second time
            for suffix in SUFFIXES:
                files.append(folder / (name + suffix))
                # Without the date, the same data are the same file.
                metadata = {"CreationDate": None} if suffix == ".pdf" else None
                with all_or_nothing(files[-1]) as part:
                    figure.savefig(part, format=suffix[1:], dpi=200, metadata=metadata)
                    if suffix == ".png":
                        _shrink(part)
    return files


def _shrink(png: Path) -> None:
    """Keep 256 colours of a picture, a third of its bytes: reports are kept with the code."""
    with Image.open(png) as picture:
        small = picture.convert("RGB").quantize(256)
    small.save(png, format="PNG", optimize=True)


def draw_grid(
    results: Results, experiment: str, metrics: Sequence[str], methods: Sequence[str] = ()
) -> Figure:
    """Draw metrics below each other for each task, or one task's side by side; of some methods."""
    tasks = EXPERIMENTS[experiment].tasks
    cells = [(metric, task) for metric in metrics for task in tasks]
    num_columns = len(tasks) if len(tasks) > 1 else len(metrics)
    figure, panels = make_figure(experiment, len(cells) // num_columns, num_columns)
    handles = Handles()
    for place, (axes, (metric, task)) in enumerate(zip(panels, cells, strict=True)):
        variants = [v for v in EXPERIMENTS[experiment].variants if v.task == task]
        series = series_of(results, [v for v in variants if not methods or v.method in methods])
        handles |= draw_panel(axes, metric, series)
        if place < num_columns and len(tasks) > 1:
            axes.set_title(task)
        if place < len(cells) - num_columns:
            axes.set_xlabel("")
    add_legend(figure, handles, over_seeds(results))
    return figure


def draw_milestones(results: Results) -> Figure:
    """Draw success with milestones removed, and with doubled training."""
    figure, (left, right) = make_figure("milestones", 1, 2, legend_rows=4)
    variants = EXPERIMENTS["milestones"].variants
    usual = series_of(results, [variant for variant in variants if variant.times == 1])
    longer = series_of(results, [variant for variant in variants if variant.times > 1])
    add_legend(left, draw_panel(left, SUCCESS, usual), over_seeds(results))
    add_legend(right, draw_panel(right, SUCCESS, longer), "mean, 95% t-interval, and each seed")
    # Whether there are milestones at all that suffice is what the paper asks here.
    for series in longer:
        for lines in series.runs:
            curve = mean_curve([lines], SUCCESS)
            right.plot(curve.steps, curve.mean, color=series.style["color"], linewidth=0.4)
    left.set_title("usual training")
    right.set_title("twice as long")
    return figure


def draw_stochastic(results: Results) -> Figure:
    """Draw success at each rate at which items disappear."""
    figure, panels = make_figure("stochastic", 1, len(RAMPS), legend_rows=2)
    variants = EXPERIMENTS["stochastic"].variants
    for axes, method in zip(panels, RAMPS, strict=True):
        series = series_of(results, [variant for variant in variants if variant.method == method])
        add_legend(axes, draw_panel(axes, SUCCESS, series), over_seeds(results))
        axes.set_title(method)
    return figure


def draw_agnostic(results: Results) -> Figure:
    """Draw the share of episodes with each milestone, from shallow to deep."""
    figure, (axes,) = make_figure("agnostic", 1, 1)
    (task,) = EXPERIMENTS["agnostic"].tasks
    milestones = GridSettings(task=task).milestones or ()
    variants = measured(results, EXPERIMENTS["agnostic"].variants)
    width = 0.8 / max(len(variants), 1)
    handles = Handles()
    for i, variant in enumerate(variants):
        of = partial(finals, results, task, variant.name)
        rates = [rate_of(of(f"coverage/{milestone}")) for milestone in milestones]
        mean, low, high = np.array(rates).T
        places = np.arange(len(milestones)) + (i + 0.5) * width - 0.4
        handles[variant.name] = axes.bar(places, mean, width, color=COLOURS[variant.method])
        arms = [mean - low, high - mean]
        axes.errorbar(places, mean, arms, fmt="none", ecolor="grey", elinewidth=0.8, capsize=2)
    label_ticks(axes, "share of greedy episodes", "milestone, by depth", milestones)
    axes.set_axisbelow(True)
    add_legend(figure, handles, over_seeds(results))
    return figure


def draw_hyperparameters(results: Results) -> Figure:
    """Draw final success against each setting."""
    figure, panels = make_figure("hyperparameters", 1, len(SWEEPS))
    handles = Handles()
    for axes, setting in zip(panels, SWEEPS, strict=True):
        handles |= draw_sweep(axes, results, "hyperparameters", setting)
    add_legend(figure, handles, over_seeds(results))
    return figure


def draw_sigma(results: Results) -> Figure:
    """Draw success for each sigma, over training and after it."""
    figure, (left, right) = make_figure("sigma", 1, 2, legend_rows=3)
    series = series_of(results, EXPERIMENTS["sigma"].variants)
    add_legend(left, draw_panel(left, SUCCESS, series), over_seeds(results))
    add_legend(right, draw_sweep(right, results, "sigma", "sigma"), over_seeds(results))
    return figure


_learning = partial(draw_grid, experiment="learning")
_components = partial(draw_grid, experiment="components")
FIGURES: dict[str, tuple[str, Callable[[Results], Figure]]] = {
    "learning": ("learning", partial(_learning, metrics=(SUCCESS, "subpolicy/success"))),
    "episode-length": ("learning", partial(_learning, metrics=(LENGTH,))),
    "masks": ("learning", partial(_learning, metrics=MASK, methods=("hal", "hal-fnf"))),
    "filter": ("learning", partial(_learning, metrics=FILTER, methods=("hal",))),
    "milestones": ("milestones", draw_milestones),
    "stochastic": ("stochastic", draw_stochastic),
    "agnostic": ("agnostic", draw_agnostic),
    "components": ("components", partial(_components, metrics=(SUCCESS, "mask/accuracy"))),
    "hyperparameters": ("hyperparameters", draw_hyperparameters),
    "sigma": ("sigma", draw_sigma),
}  # by the file's name: whose it is, and how it is drawn


def make_figure(
    experiment: str, num_rows: int, num_columns: int, legend_rows: int = 1
) -> tuple[Figure, list[Axes]]:
    """Return a figure of a page's width, titled if it has one task, and its panels row by row."""
    height = min(num_rows * PANEL_HEIGHT, PAGE_HEIGHT) + LEGEND_HEIGHT + 0.12 * legend_rows
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
        style = {"color": colour, "linestyle": plot.DASHES[place % len(plot.DASHES)]}
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
