"""What a person sees of a run: a live display in a terminal, plain lines elsewhere."""

import os
import shlex
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from hal.checks import printable
from hal.config.settings import Config

NUM_LINES = 20  # of a run's plain form
REFRESH_SECONDS = 0.5
BAR_WIDTH = 20
SILENT_SHARE = 0.1  # of a run, after which it is odd that nothing has happened
EIGHTHS = " ▏▎▍▌▋▊▉█"


class Display:
    """Shows how a run goes: `show` after every step, with metrics when there are new ones."""

    def __init__(
        self, config: Config, milestones: tuple[str, ...], folder: Path, num_steps: int
    ) -> None:
        self.config = config
        self.milestones = milestones
        self.console = Console()
        self.metrics: dict[str, Any] = {}
        self._next_line = 0  # steps
        self._has_warned = False
        self._next_refresh = 0.0
        self._progress = Progress(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
            auto_refresh=False,
        )
        title = f"{config.task} {config.method}, seed {config.seed}"
        self._bar = self._progress.add_task(
            printable(title), total=config.steps, completed=num_steps
        )
        self._live = Live(console=self.console, auto_refresh=False)
        say(f"{title}: {config.steps:,} steps, in {folder}")

    def __enter__(self) -> Self:
        """Open the live display, in a terminal."""
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave its last state on the screen."""
        if self.console.is_terminal:
            self._refresh()
            self._live.stop()

    def show(self, num_steps: int, metrics: dict[str, Any] | None) -> None:
        """Show progress and, if there are any, new metrics."""
        if not self.console.is_terminal:
            is_last = num_steps >= self.config.steps
            if metrics is not None and (is_last or num_steps >= self._next_line):
                self._next_line = num_steps + self.config.steps // NUM_LINES
                say(progress_line(self.config, metrics))
            return
        self.metrics.update(metrics or {})
        if metrics is not None or time.monotonic() >= self._next_refresh:
            self._next_refresh = time.monotonic() + REFRESH_SECONDS
            self._progress.update(self._bar, completed=min(num_steps, self.config.steps))
            self._refresh()

    def warn(self, num_steps: int, has_events: bool) -> None:
        """Say once, when there has been time for some, that no milestone is ever collected."""
        has_had_time = num_steps >= self.config.steps * SILENT_SHARE
        if has_had_time and not has_events and not self._has_warned:
            self._has_warned = True
            task = shlex.quote(self.config.task)
            say(f"no episode has collected any milestone so far; look with: hal check {task}")

    def _refresh(self) -> None:
        parts = Group(self._progress, *metric_tables(self.config, self.milestones, self.metrics))
        self._live.update(Panel(parts, expand=False), refresh=True)


def metric_tables(
    config: Config, milestones: tuple[str, ...], metrics: dict[str, Any]
) -> list[Table]:
    """Return the metrics of the moment: overall, and small bars per milestone."""
    overall = Table.grid(padding=(0, 2))
    rows = [
        ("online success", "episode/success", "{:.1%}"),
        ("episode length", "episode/length", "{:.0f}"),
        ("subpolicy success", "subpolicy/success", "{:.1%}"),
        *(
            [
                ("mask accuracy", "mask/accuracy", "{:.1%}"),
                ("overpruned", "mask/overpruned", "{:.1%}"),
                ("underpruned", "mask/underpruned", "{:.1%}"),
            ]
            if config.has_mask
            else []
        ),
        ("steps per CPU second", "steps_per_second", "{:,}"),
    ]
    for title, name, form in rows:
        overall.add_row(title, form.format(metrics[name]) if name in metrics else "-")
    bars = Table.grid(padding=(0, 2))
    for milestone in milestones:
        share = metrics.get(f"subpolicy/success/{milestone}")
        if share is not None:
            shown = Text(printable(milestone)), Text(bar(share), "green"), Text(f"{share:4.0%}")
            bars.add_row(*shown)
    return [overall, bars] if bars.row_count else [overall]


def bar(share: float) -> str:
    """Return a share as a bar of text, to an eighth of a character."""
    eighths = round(share * BAR_WIDTH * 8)
    whole, rest = divmod(eighths, 8)
    return (EIGHTHS[8] * whole + (EIGHTHS[rest] if rest else "")).ljust(BAR_WIDTH)


def progress_line(config: Config, values: dict[str, Any]) -> str:
    """Return the most telling metrics in one line."""
    parts = [
        f"{min(values['steps'] / config.steps, 1):4.0%}",
        f"{values['steps']:,} steps",
        f"{values['steps_per_second']:,}/s",
    ]
    shown = [("online success", "episode/success"), ("subpolicy success", "subpolicy/success")]
    if config.has_mask:
        shown.append(("mask accuracy", "mask/accuracy"))
    parts += [f"{title} {values[name]:.2f}" for title, name in shown if name in values]
    return "  ".join(parts)


def say(text: str) -> None:
    """Print a line; nobody listening is no reason to stop."""
    try:
        print(printable(text), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def success_line(result: dict[str, Any]) -> str:
    """Return the success rate with its interval, in one line."""
    return (
        f"greedy success {result['success']:.1%} (95% interval {result['success_low']:.1%}"
        f" to {result['success_high']:.1%}, {result['episodes']} episodes),"
        f" length {result['length']:.0f}"
    )


def evaluation_table(result: dict[str, Any], milestones: tuple[str, ...], is_masked: bool) -> str:
    """Return an evaluation as lines: the success rate, the mask, and each milestone's coverage."""
    lines = [success_line(result)]
    if is_masked and "mask/accuracy" not in result:  # nobody tells the truth
        lines.append(f"mask prunes {result['mask/pruned']:.1%}")
    elif is_masked:
        lines.append(
            f"mask accuracy {result['mask/accuracy']:.1%}, overpruned"
            f" {result.get('mask/overpruned', 0):.1%}, underpruned"
            f" {result.get('mask/underpruned', 0):.1%}"
        )
    for name in milestones:
        share = result[f"coverage/{name}"]
        lines.append(f"{printable(name):15} in {share:6.1%} of episodes")
    return "\n".join(lines)
