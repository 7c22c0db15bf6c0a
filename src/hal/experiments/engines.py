"""Where runs are trained: processes of this machine, or a Ray cluster.

An engine starts a run that has a folder, tells which runs have ended and how, and stops them all.
Whether a run is done is up to its folder.
"""

import logging
import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Protocol

from hal.errors import FailedError
from hal.experiments.worker import train_run

MEMORY = 1_500_000_000  # bytes of a run, at most
LOST_WORKERS = 3  # that a run survives on Ray without being counted as failed
STOPPING_SECONDS = 60.0  # until a process that does not stop is killed


def num_cores() -> int:
    """Return how many cores this process may use."""
    can_tell = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if can_tell else os.cpu_count() or 1


class Engine(Protocol):
    """What the schedule asks of an engine."""

    @property
    def num_slots(self) -> int:
        """How many runs there can be at once."""

    def start(self, folder: Path) -> None:
        """Begin a run, or go on with it."""

    def ended(self) -> dict[Path, str]:
        """Return the runs that have ended since the last call, with their last words."""

    def stop(self) -> None:
        """Stop all runs, so that they can go on later."""


class LocalEngine:
    """Single-threaded processes of this machine."""

    def __init__(self, num_slots: int) -> None:
        self.num_slots = num_slots
        self._processes: dict[Path, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}

    def start(self, folder: Path) -> None:
        """Begin a run, or go on with it."""
        errors = TemporaryFile()  # noqa: SIM115 (open as long as the process runs)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "hal.experiments.worker", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for us; we tell them
        )
        self._processes[folder] = process, errors

    def ended(self) -> dict[Path, str]:
        """Return the runs that have ended since the last call, with their last words."""
        ended = {}
        for folder, (process, errors) in list(self._processes.items()):
            if process.poll() is not None:
                ended[folder] = self._last_words(process, errors)
                del self._processes[folder]
        return ended

    def stop(self) -> None:
        """Stop all runs; each leaves a checkpoint."""
        for process, _ in self._processes.values():
            assert process.stdin is not None
            process.stdin.close()
        for process, errors in self._processes.values():
            try:
                process.wait(STOPPING_SECONDS)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                process.kill()
                process.wait()
            errors.close()
        self._processes.clear()

    @staticmethod
    def _last_words(process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> str:
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
        errors.close()
        assert process.stdin is not None
        process.stdin.close()
        return f"{lines[-1] if lines else 'it said nothing'} (exit code {process.returncode})"


class RayEngine:
    """Tasks of a Ray cluster whose nodes have the runs' folder at the same path.

    A run is in the worker's own process, so that it ends, and lets go of its lock, with that.
    """

    def __init__(self, address: str) -> None:
        if find_spec("ray") is None:
            raise ValueError('--ray needs Ray: pip install "hal-rl[ray]"')
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        self._ray: Any = import_module("ray")
        try:
            where = None if address == "auto" else address
            self._ray.init(where, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError, RuntimeError, self._ray.exceptions.RayError) as error:
            raise FailedError(f"no Ray cluster at {address}: {error}") from error
        resources = {"num_cpus": 1, "memory": MEMORY, "max_retries": LOST_WORKERS}
        self._train = self._ray.remote(**resources)(train_run)
        self._tasks: dict[Any, Path] = {}

    @property
    def num_slots(self) -> int:
        """How many runs there can be at once on the nodes, which may come and go.

        One that has to wait makes a cluster grow that can.
        """
        there = self._ray.cluster_resources()
        return max(int(min(there.get("CPU", 0), there.get("memory", 0) // MEMORY)), 1)

    def start(self, folder: Path) -> None:
        """Begin a run, or go on with it."""
        self._tasks[self._train.remote(str(folder.absolute()))] = folder

    def ended(self) -> dict[Path, str]:
        """Return the runs that have ended since the last call, with their last words."""
        tasks = list(self._tasks)
        if not tasks:
            return {}
        done, _ = self._ray.wait(tasks, num_returns=len(tasks), timeout=0)
        return {self._tasks.pop(task): self._answer(task) for task in done}

    def stop(self) -> None:
        """Stop all runs; each goes on from its last checkpoint."""
        for task in self._tasks:
            self._ray.cancel(task, force=True)
        self._ray.shutdown()

    def _answer(self, task: Any) -> str:
        try:
            return self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            return " ".join(str(error).split())
