"""Many runs on an engine: each is seen through, tried again once if it fails, and told of."""

import time
from collections import Counter, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from hal.experiments.engines import Engine
from hal.runs.folder import is_done

MOST_TRIES = 2
POLL_SECONDS = 0.2


class Watcher(Protocol):
    """Who is told how it goes."""

    def show(self, running: Sequence[Path]) -> None:
        """Show the runs that are being trained."""

    def end(self, folder: Path, error: str, is_final: bool) -> None:
        """Tell that a run has ended: well without an error, else for good or to be tried again."""


def run_all(folders: Sequence[Path], engine: Engine, watcher: Watcher) -> dict[Path, str]:
    """See runs through, wherever they were stopped; return those that failed, and why."""
    waiting = deque(dict.fromkeys(folder for folder in folders if not is_done(folder)))
    running: set[Path] = set()
    tries, failed = Counter[Path](), {}
    while waiting or running:
        while waiting and len(running) < engine.num_slots:
            folder = waiting.popleft()
            engine.start(folder)
            running.add(folder)
            tries[folder] += 1
        for folder, last_words in engine.ended().items():
            running.remove(folder)
            error = "" if is_done(folder) else last_words or "its evaluation is missing"
            is_final = not error or tries[folder] == MOST_TRIES
            if not is_final:
                waiting.append(folder)
            elif error:
                failed[folder] = error
            watcher.end(folder, error, is_final)
        watcher.show(sorted(running))
        time.sleep(POLL_SECONDS)
    return failed
