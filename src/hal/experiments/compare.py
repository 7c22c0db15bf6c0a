"""`hal compare`: why one agent beats another, as a table, a figure, or a page of both.

Groups, curves and panels are those of `hal plot`; `measures.py` has what groups are judged by.
"""

import sys
from collections.abc import Callable
from io import BytesIO
from math import inf, isfinite
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hal.checks import printable
from hal.experiments.compare_figure import draw_comparison
from hal.experiments.curves import SECONDS, STEPS, Group, mean_curve, read_groups
from hal.experiments.measures import (
    CIRCLES,
    MASK,
    SUCCESS,
    WASTED,
    Measure,
    first_at,
    measure_of,
    overall,
    untold,
)
from hal.experiments.page import page_of, picture, table
from hal.experiments.plot import STYLE, check_out, last_value, save_figures
from hal.files import write_text

SUFFIXES = (".png", ".pdf", ".html")
UNKNOWN, NEVER = "-", "never"
OVERALL = {WASTED: "wasted", CIRCLES: "circles", MASK[0]: "mask right"}
NOTE = "Mean (95% t-interval over seeds). Wasted, circles, mask: over all of training."
INTRO = """<p>Groups of runs that differ in nothing but their seeds. Success and return are of
training, with exploration, at its end; wasted steps, circles and the mask over all of it. Steps and
CPU seconds are those at which the mean over seeds first is at the level in the column's head, a
dotted line in the figure.</p>
<p>Wasted are the steps of options that did not get what they pursued. A circle is a milestone that
an episode collects again with none new to it since the last time.</p>"""


class Comparison:
    """The groups of a task, and what they are compared by; cells may have two lines."""

    def __init__(self, task: str, groups: list[Group]) -> None:
        self.task, self.groups = task, groups
        self.measure = measure_of(groups)

    @property
    def head(self) -> list[str]:
        """Return the table's columns."""
        at = self.measure.level_title
        title = self.measure.title.replace(" ", "\n")
        return ["group", title, f"steps to\n{at}", f"CPU to\n{at}", *OVERALL.values()]

    @property
    def rows(self) -> list[list[str]]:
        """Return a row of the table for each group."""
        return [_row(group, self.measure) for group in self.groups]

    def draw(self) -> Figure:
        """Return the figure."""
        return draw_comparison(self.task, self.groups, self.measure)


def compare_runs(paths: list[Path], out: Path | None) -> tuple[list[Table], list[Path]]:
    """Return a table per task, and the files that were written."""
    if out is not None:
        check_out(out, out.suffix, SUFFIXES)
    tasks = [Comparison(task, groups) for task, groups in read_groups(paths).items()]
    for one in tasks:
        for group in one.groups:
            _say_untold(one.task, group)
    files = [] if out is None else _write(tasks, out)
    return [_table(one) for one in tasks], files


def _say_untold(task: str, group: Group) -> None:
    words = " and ".join(untold(group))
    if words:
        what = f"{task} {group.label} is shown without {words}, which not all of its runs tell"
        print(f"hal: {printable(what)}", file=sys.stderr)


def _row(group: Group, measure: Measure) -> list[str]:
    """Return the cells of a group."""
    curve = mean_curve(group.runs, measure.name)
    reached = "{:.0%}" if measure.name == SUCCESS else "{:.3g}"
    shares = (overall(group, name) for name in OVERALL)
    return [
        f"{group.label}\n({group.num_seeds})",
        last_value(curve, reached).replace(" (", "\n(") if curve.is_known else UNKNOWN,
        _cost(first_at(group, measure, STEPS), EngFormatter(places=2, sep="")),
        _cost(first_at(group, measure, SECONDS), "{:,.0f} s".format),
        *(UNKNOWN if share is None else f"{share:.0%}" for share in shares),
    ]


def _cost(amount: float, in_words: Callable[[float], str]) -> str:
    if isfinite(amount):
        return in_words(amount)
    return NEVER if amount == inf else UNKNOWN


def _table(one: Comparison) -> Table:
    title, note = Text(printable(one.task)), Text(NOTE)
    shown = Table(title=title, caption=note, box=SIMPLE_HEAD, padding=0, show_lines=True)
    shown.add_column(one.head[0], overflow="fold", min_width=9)
    for place, name in enumerate(one.head[1:]):
        shown.add_column(name, no_wrap=True, justify="right" if place else "left")
    for row in one.rows:
        shown.add_row(*map(Text, row))
    return shown


def _write(tasks: list[Comparison], out: Path) -> list[Path]:
    """Write a figure per task, or one page of all."""
    with mpl.rc_context(STYLE):
        figures = {one.task: one.draw() for one in tasks}
        if out.suffix != ".html":
            return save_figures(figures, out, (out.suffix,))
        sections = {
            f"task-{place}": (printable(one.task), _section(one, figures[one.task]))
            for place, one in enumerate(tasks, start=1)
        }
    write_text(out, page_of("HAL: runs compared", INTRO, sections))
    return [out]


def _section(one: Comparison, figure: Figure) -> str:
    """Return the table and the figure as HTML."""
    png = BytesIO()
    figure.savefig(png, format="png", dpi=300)
    head, *rows = ([cell.replace("\n", " ") for cell in row] for row in (one.head, *one.rows))
    names = ", ".join(group.label for group in one.groups)
    caption = f"{names} on {printable(one.task)}."
    return table(NOTE, head, rows) + picture(png.getvalue(), caption)
