"""The paper's figures: tables of results -> PNG and PDF for print; what has no data is left out."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from hal.envs.grid.settings import GridSettings
from hal.experiments import departures, plot
from hal.experiments.curves import COLOURS, LENGTH, mean_curve
from hal.experiments.panels import (
    FILTER,
    MASK,
    RAMPS,
    SUCCESS,
    Handles,
    add_legend,
    draw_effects,
    draw_panel,
    draw_sweep,
    label_ticks,
    make_figure,
    measured,
    over_seeds,
    rate_of,
    series_of,
)
from hal.experiments.plot import SUFFIXES
from hal.experiments.results import Results, finals
from hal.experiments.suite import EXPERIMENTS, SWEEPS
from hal.files import all_or_nothing


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


def draw_departures(results: Results) -> Figure:
    """Draw what each departure from the paper changes, on each task."""
    tasks = EXPERIMENTS[departures.NAME].tasks
    found = [departures.effects(results, task) for task in tasks]
    height = 0.16 * max(len(effects) for effects in found) + 0.6
    figure, panels = make_figure(departures.NAME, 1, len(tasks), panel_height=height)
    handles = Handles()
    for axes, task, effects in zip(panels, tasks, found, strict=True):
        handles |= draw_effects(axes, effects)
        axes.set_title(task)
    add_legend(figure, handles, over_seeds(results))
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
    "departures": ("departures", draw_departures),
    "faithful": (
        "faithful",
        partial(draw_grid, experiment="faithful", metrics=(SUCCESS, "mask/accuracy")),
    ),
    "paper": ("paper", partial(draw_grid, experiment="paper", metrics=(SUCCESS, "mask/accuracy"))),
}  # by the file's name: whose it is, and how it is drawn
