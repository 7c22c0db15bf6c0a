"""The figure of `hal compare`: progress, milestones, wasted time and the mask, a row each."""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure, SubFigure

from hal.checks import printable
from hal.experiments.curves import SECONDS, STEPS, Group, mean_curve
from hal.experiments.measures import CIRCLES, MASK, WASTED, Measure
from hal.experiments.plot import COVERAGE, add_legend, draw_panel, label_steps

Panel = tuple[str, str]  # a metric, and along what it is drawn
Row = tuple[float, Callable[[SubFigure], None]]  # its height, and what draws it

WIDTH, LEGEND_HEIGHT, PANEL_HEIGHT = 7.2, 0.8, 1.8  # inches
MAP_HEIGHT, LINE_HEIGHT = 0.75, 0.13  # around a map, of a milestone or a line of its title
LETTERS = 80  # of titles side by side
MOST_COLUMNS = 3
LEAST_DIFFERENCE = 0.1  # at the ends of the colours, so that noise is pale


@dataclass(frozen=True)
class Map:
    """Shares by milestone and step."""

    title: str
    steps: np.ndarray
    shares: np.ndarray  # (milestones, steps)
    is_difference: bool = False


def draw_comparison(task: str, groups: list[Group], measure: Measure) -> Figure:
    """Return a figure with a row for each thing that any of a task's groups tells."""
    progress = [(measure.name, along) for along in (STEPS, SECONDS)]
    time, mask = ([(name, STEPS) for name in names] for names in ((WASTED, CIRCLES), MASK))
    panels = [[one for one in row if _is_told(groups, *one)] for row in (progress, time, mask)]
    rows: list[Row] = [
        (PANEL_HEIGHT, partial(draw_row, panels=row, groups=groups, measure=measure))
        for row in panels
        if row
    ]
    milestones = milestones_of(groups)
    if milestones:
        rows.insert(bool(panels[0]), _row_of(maps_of(groups, milestones), milestones))
    if not rows:
        raise ValueError(f"the runs of {task} have no metrics to compare yet")
    heights = [height for height, _ in rows]
    figure = Figure(figsize=(WIDTH, LEGEND_HEIGHT + sum(heights)), layout="constrained")
    parts = figure.subfigures(len(rows), 1, height_ratios=heights, squeeze=False)
    for part, (_, draw) in zip(parts.flat, rows, strict=True):
        draw(part)
    figure.suptitle(printable(task), parse_math=False)
    add_legend(figure, groups, WIDTH)
    return figure


def _is_told(groups: list[Group], name: str, along: str) -> bool:
    return any(mean_curve(group.runs, name, along).is_known for group in groups)


def draw_row(
    part: SubFigure, panels: Sequence[Panel], groups: list[Group], measure: Measure
) -> None:
    """Draw metrics side by side, with the level that the table is about."""
    row = part.subplots(1, len(panels), squeeze=False)
    for axes, (name, along) in zip(row.flat, panels, strict=True):
        draw_panel(axes, name, groups, along)
        if name == measure.name:
            axes.axhline(measure.level, color="grey", linestyle=":", linewidth=0.8, zorder=0)


def milestones_of(groups: list[Group]) -> list[str]:
    """Return the milestones of all groups, in the order of the largest set."""
    found = []
    for group in groups:
        names = (name for lines in group.runs for line in lines for name in line)
        found.append(dict.fromkeys(name for name in names if name.startswith(COVERAGE)))
    return list(dict.fromkeys(chain(*sorted(found, key=len, reverse=True))))


def maps_of(groups: list[Group], milestones: list[str]) -> list[Map]:
    """Return each group's coverage and, of two groups, the difference."""
    maps = []
    for group in groups:
        curves = [mean_curve(group.runs, name) for name in milestones]
        maps.append(Map(group.label, curves[0].steps, np.array([one.mean for one in curves])))
    if len(maps) == 2:
        maps.append(_difference(*maps))
    letters = LETTERS // min(len(maps), MOST_COLUMNS)
    return [replace(one, title=textwrap.fill(one.title, letters)) for one in maps]


def _difference(one: Map, other: Map) -> Map:
    """Return what one has more than another, as far as both go."""
    steps = np.union1d(one.steps, other.steps)
    steps = steps[steps <= min(one.steps[-1], other.steps[-1])]
    first, second = (
        np.array([np.interp(steps, m.steps, row, left=np.nan) for row in m.shares])
        for m in (one, other)
    )
    return Map(f"{one.title} less {other.title}", steps, first - second, is_difference=True)


def _row_of(maps: list[Map], milestones: list[str]) -> Row:
    lines = len(milestones) + 1 + max(one.title.count("\n") for one in maps)
    height = ceil(len(maps) / MOST_COLUMNS) * (MAP_HEIGHT + LINE_HEIGHT * lines)
    return height, partial(draw_maps, maps=maps, milestones=milestones)


def draw_maps(part: SubFigure, maps: list[Map], milestones: list[str]) -> None:
    """Draw what is covered in the same colours for all, and a difference in its own."""
    num_columns = min(len(maps), MOST_COLUMNS)
    panels = list(part.subplots(ceil(len(maps) / num_columns), num_columns, squeeze=False).flat)
    for axes in panels[len(maps) :]:
        axes.remove()
    end = max(one.steps[-1] for one in maps)
    names = [printable(name.removeprefix(COVERAGE).replace("_", " ")) for name in milestones]
    bars: dict[str, tuple[QuadMesh, list[Axes]]] = {}
    for place, (axes, one) in enumerate(zip(panels, maps, strict=False)):
        mesh = draw_map(axes, one)
        axes.set_title(one.title, parse_math=False)
        axes.set_yticks(np.arange(len(names)) + 0.5, [] if place % num_columns else names)
        for text in axes.get_yticklabels():
            text.set_parse_math(False)
        label_steps(axes, STEPS)
        axes.set_xlim(0, end)
        label = "difference" if one.is_difference else "episodes with milestone"
        bars.setdefault(label, (mesh, []))[1].append(axes)
    for label, (mesh, own) in bars.items():
        part.colorbar(mesh, ax=own, label=label, aspect=30)


def draw_map(axes: Axes, one: Map) -> QuadMesh:
    """Draw a map, grey where nothing is known."""
    colours, low, high = "viridis", 0.0, 1.0
    if one.is_difference:
        high = float(np.nanmax(np.abs(one.shares), initial=LEAST_DIFFERENCE))
        colours, low = "PuOr", -high
    edges = np.concatenate([[0], one.steps])
    rows = np.arange(len(one.shares) + 1)
    axes.set_facecolor("lightgrey")
    axes.invert_yaxis()
    return axes.pcolormesh(
        edges, rows, one.shares, cmap=colours, vmin=low, vmax=high, rasterized=True
    )
