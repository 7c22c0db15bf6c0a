"""`hal plot`: curves as figures for a paper, or as sparklines in the terminal."""

import math
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, MaxNLocator
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hal.checks import printable
from hal.experiments.curves import (
    DASHES,
    LENGTH,
    RETURN,
    SECONDS,
    STEPS,
    Curve,
    Group,
    common_steps,
    mean_curve,
    read_groups,
)
from hal.files import all_or_nothing, file_name

SUFFIXES = (".png", ".pdf")
COVERAGE = "episode/coverage/"
PANELS = {
    "episode/success": "success rate",
    LENGTH: "episode length (steps)",
    "subpolicy/success": "subpolicy success",
    "subpolicy/wasted": "wasted share of steps",
    "milestones/circles": "circles among milestones",
    "mask/accuracy": "mask accuracy",
    "mask/overpruned": "overpruned share",
    "mask/underpruned": "underpruned share",
    "filter/false_negative_accuracy": "filter: false negatives found",
    "filter/true_negative_accuracy": "filter: true negatives kept",
}
LABELS = PANELS | {RETURN: "return"}
AXES = {STEPS: "environment steps", SECONDS: "CPU seconds"}
TEXT_ROWS = {"episode/success": "success", LENGTH: "length", "mask/accuracy": "mask"}

STYLE: dict[Any, Any] = {
    "font.size": 7,
    "lines.linewidth": 1.1,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # TrueType: some journals refuse matplotlib's Type 3
}
MOST_COLUMNS = 3
PANEL_WIDTH, PANEL_HEIGHT, LEGEND_HEIGHT = 2.4, 1.8, 0.6  # inches; three are a page's width
BLOCKS, NUM_BLOCKS = "▁▂▃▄▅▆▇█", 40  # of a sparkline


def plot_runs(paths: list[Path], out: Path) -> list[Path]:
    """Draw a figure per task and return the files: PNG or PDF by the suffix, both without one."""
    suffixes = (out.suffix,) if out.suffix else SUFFIXES
    check_out(out, suffixes[0], SUFFIXES)
    groups = read_groups(paths)
    with mpl.rc_context(STYLE):
        figures = {task: draw_task(task, groups[task]) for task in groups}
        return save_figures(figures, out, suffixes)


def check_out(out: Path, suffix: str, legal: tuple[str, ...]) -> None:
    """Refuse to write a file of another kind, or nowhere."""
    if suffix not in legal:
        raise ValueError(f"{out}: unknown suffix {suffix!r}; legal: {', '.join(legal)}")
    if not out.absolute().parent.is_dir():
        raise ValueError(f"{out}: there is no folder {out.absolute().parent}")


def save_figures(figures: dict[str, Figure], out: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Write figures of tasks, which are in their names if there are several; return the files."""
    files = []
    for task, figure in figures.items():
        name = f"{out.stem}-{file_name(task)}" if len(figures) > 1 else out.stem
        for suffix in suffixes:
            files.append(out.with_name(name + suffix))
            # What is written first has another suffix, so the format is told.
            with all_or_nothing(files[-1]) as part:
                figure.savefig(part, format=suffix[1:], dpi=300)
    return files


def draw_task(task: str, groups: list[Group]) -> Figure:
    """Return a figure with a panel for each metric that any of a task's groups has."""
    all_lines = [line for group in groups for lines in group.runs for line in lines]
    found = dict.fromkeys(name for line in all_lines for name in line)
    panels = [name for name in PANELS if name in found]
    coverage = [name for name in found if name.startswith(COVERAGE) and len(groups) == 1]
    num_panels = len(panels) + bool(coverage)
    if num_panels == 0:
        raise ValueError(f"the runs of {task} have no metrics to plot yet")
    num_columns = min(MOST_COLUMNS, num_panels)
    num_rows = math.ceil(num_panels / num_columns)
    width, height = max(num_columns, 2) * PANEL_WIDTH, num_rows * PANEL_HEIGHT + LEGEND_HEIGHT
    figure = Figure(figsize=(width, height), layout="constrained")
    for place, name in enumerate(panels, start=1):
        draw_panel(figure.add_subplot(num_rows, num_columns, place), name, groups)
    if coverage:
        draw_coverage(figure.add_subplot(num_rows, num_columns, num_panels), groups[0], coverage)
    figure.suptitle(printable(task), parse_math=False)
    add_legend(figure, groups, width)
    return figure


def add_legend(figure: Figure, groups: list[Group], width: float) -> None:
    """Name the groups once below all panels, in as many columns as fit."""
    lines = [Line2D([], [], **group.style) for group in groups]
    names = [f"{group.label} ({group.num_seeds})" for group in groups]
    is_mean = any(len(group.runs) > 1 for group in groups)
    title = "mean and 95% t-interval over seeds" if is_mean else None
    num_columns = max(int(width / (0.5 + 0.06 * max(map(len, names)))), 1)  # inches
    place: Any = "outside lower center"
    _as_they_are(figure.legend(lines, names, title=title, ncols=num_columns, loc=place))


def _as_they_are(legend: Legend) -> None:
    """Show names as they are: a dollar sign in one is no formula."""
    for text in legend.get_texts():
        text.set_parse_math(False)


def draw_panel(axes: Axes, name: str, groups: list[Group], along: str = STEPS) -> None:
    """Draw a metric of all groups."""
    for group in groups:
        draw_curve(axes, mean_curve(group.runs, name, along), group.style)
    top = max(group.config.environment.horizon for group in groups) if name == LENGTH else 1.0
    label_axes(axes, LABELS[name], None if name.endswith("pruned") else top, along)
    if name == RETURN:
        axes.autoscale(axis="y")


def draw_coverage(axes: Axes, group: Group, names: list[str]) -> None:
    """Draw the share of episodes with each milestone, early ones dark and late ones light."""
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.95, len(names)))
    lines = []
    for i, name in enumerate(names):
        style = {"color": colours[i], "linestyle": DASHES[i % 3]}
        lines.append(draw_curve(axes, mean_curve(group.runs, name), style, shade=0.06))
    label_axes(axes, "episodes with milestone", top=1.0)
    titles = [printable(name.removeprefix(COVERAGE).replace("_", " ")) for name in names]
    place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
    _as_they_are(axes.legend(lines, titles, **place, fontsize=5))


def draw_curve(axes: Axes, curve: Curve, style: dict[str, Any], shade: float = 0.18) -> Line2D:
    """Draw a mean and its interval and return the mean's line; a point between gaps is a dot."""
    known = np.pad(np.isfinite(curve.mean), 1)
    is_alone = known[1:-1] & ~known[:-2] & ~known[2:]
    colour = style["color"]
    axes.plot(curve.steps[is_alone], curve.mean[is_alone], ".", color=colour, markersize=3)
    axes.fill_between(curve.steps, curve.low, curve.high, color=colour, alpha=shade, linewidth=0)
    (line,) = axes.plot(curve.steps, curve.mean, **style)
    return line


def label_axes(axes: Axes, label: str, top: float | None, along: str = STEPS) -> None:
    """Name the axes and let them reach from 0 to a top, which the data set if there is none."""
    label_steps(axes, along)
    axes.set_ylabel(label)
    top = top or axes.get_ylim()[1]
    axes.set_ylim(-0.03 * top, 1.03 * top)
    axes.grid(alpha=0.3, linewidth=0.4)
    axes.spines[["top", "right"]].set_visible(False)


def label_steps(axes: Axes, along: str) -> None:
    """Name the axis of steps or seconds, which begins at 0."""
    axes.set_xlabel(AXES[along])
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))


def plot_text(paths: list[Path]) -> Table:
    """Return a table of sparklines: of what `plot_runs` draws, the most telling curves."""
    table = Table(box=SIMPLE_HEAD, show_lines=True, padding=0)
    table.add_column("group", overflow="fold", min_width=9)
    for name in ("metric", "over steps", "last (95%)"):
        table.add_column(name, no_wrap=True)
    for task, groups in read_groups(paths).items():
        end = max(common_steps(group.runs)[-1] for group in groups)
        for group in groups:
            steps = EngFormatter(places=2, sep="")(common_steps(group.runs)[-1])
            about = (f"{printable(task)} {group.label}", group.num_seeds, f"{steps} steps")
            cells = zip(*text_rows(group, end), strict=True)
            table.add_row(*(Text("\n".join(cell)) for cell in (about, *cells)))
    return table


def text_rows(group: Group, end: float) -> list[tuple[str, str, str]]:
    """Return the name, the sparkline and the last mean of each metric that a group has."""
    rows = []
    for name, title in TEXT_ROWS.items():
        curve = mean_curve(group.runs, name)
        if curve.is_known:
            is_rate = name != LENGTH
            line = sparkline(curve, end, 1.0 if is_rate else group.config.environment.horizon)
            rows.append((title, line, last_value(curve, "{:.0%}" if is_rate else "{:.0f}")))
    return rows


def sparkline(curve: Curve, end: float, top: float) -> str:
    """Return blocks up to a height of `top` for a curve from 0 to `end`; a gap is a space."""
    steps = np.linspace(0, end, NUM_BLOCKS + 1)[1:]
    means = np.interp(steps, curve.steps, curve.mean, left=np.nan, right=np.nan)
    heights = np.clip(means / top, 0, 1) * (len(BLOCKS) - 1)
    return "".join(BLOCKS[round(h)] if np.isfinite(h) else " " for h in heights)


def last_value(curve: Curve, form: str) -> str:
    """Return the last known mean, with its interval if there is one."""
    i = np.flatnonzero(np.isfinite(curve.mean))[-1]
    mean, low, high = (form.format(values[i]) for values in (curve.mean, curve.low, curve.high))
    return f"{mean} ({low} to {high})" if np.isfinite(curve.low[i]) else mean
