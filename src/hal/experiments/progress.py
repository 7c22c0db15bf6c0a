"""What a person sees of many runs: a live display in a terminal, plain lines elsewhere."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hal.experiments.costs import Costs, in_words, share_done, time_left
from hal.experiments.engines import Engine
from hal.experiments.suite import RunSpec
from hal.runs.display import say
from hal.runs.folder import is_done, read_evaluation, read_metrics

REFRESH_POLLS = 5


class Progress:
    """All runs in one line, and a line for each that is being trained."""

    def __init__(self, specs: dict[str, RunSpec], runs: Path, engine: Engine) -> None:
        self._specs, self._runs, self._engine = specs, runs, engine  # specs by their folders
        self._costs = Costs(runs)
        self._failed: set[str] = set()
        self._num_polls = 0
        self._live = Live(console=Console(), auto_refresh=False)
        self._is_terminal = self._live.console.is_terminal

    def __enter__(self) -> Self:
        """Open the live display, in a terminal."""
        if self._is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave its last state on the screen."""
        self._live.stop()

    def show(self, running: Sequence[Path]) -> None:
        """Show the runs that are being trained."""
        if self._is_terminal and self._num_polls % REFRESH_POLLS == 0:
            self._live.update(self._picture(running), refresh=True)
        self._num_polls += 1

    def end(self, folder: Path, error: str, is_final: bool) -> None:
        """Tell how a run has ended."""
        title = self._specs[folder.name].title
        if error:
            then = "it has failed for good" if is_final else "it is tried again"
            if is_final:
                self._failed.add(folder.name)
            print(f"hal: {title}: {error}; {then}", file=sys.stderr, flush=True)
        else:
            success = read_evaluation(folder)["success"]
            self.say(f"{self._overall()}: {title}: greedy success {success:.1%}")

    def say(self, line: str) -> None:
        """Print a line, above the live display."""
        if self._is_terminal:
            self._live.console.print(line, markup=False, highlight=False)
        else:
            say(line)

    def _overall(self) -> str:
        specs = [spec for spec in self._specs.values() if spec.folder not in self._failed]
        self._costs.learn(specs)
        num_done = sum(is_done(self._runs / spec.folder) for spec in specs)
        left = time_left(self._costs.seconds_left(specs), self._engine.num_slots)
        return f"{num_done} of {len(self._specs)} runs, about {in_words(left)} left"

    def _picture(self, running: Sequence[Path]) -> Group:
        table = Table.grid(padding=(0, 2))
        for folder in running:
            spec, lines = self._specs[folder.name], read_metrics(folder)
            last = lines[-1] if lines else {}
            success = last.get("episode/success")
            table.add_row(
                Text(spec.title),
                ProgressBar(total=1.0, completed=share_done(lines, spec.config), width=20),
                Text(f"{last['steps_per_second']:,} steps/s" if lines else "starting"),
                Text("" if success is None else f"online success {success:.0%}"),
            )
        return Group(Text(self._overall(), "bold"), table)
