"""Lanes in processes of their own, which may die or hang as they like."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import parent_process
from multiprocessing.connection import wait
from typing import Any

import gymnasium
from gymnasium.vector import AsyncVectorEnv, AutoresetMode

from hal.errors import ContractError

GRACE = 5.0  # seconds that lanes have to close

Make = Callable[[], gymnasium.Env[Any, Any]]


class ProcessLanes(AsyncVectorEnv):
    """Gymnasium's lanes in processes; one that dies is told, and all can be closed.

    Args:
        make: makes the environment of a lane.
        name: of the environment.
        num_envs: how many lanes.
        shares_memory: whether observations go through memory that all have, which texts cannot.
    """

    def __init__(self, make: Make, name: str, num_envs: int, shares_memory: bool) -> None:
        gymnasium.logger.min_level = gymnasium.logger.ERROR + 1  # faults are told in one line
        self.name = name
        try:
            with self._mourning():
                super().__init__(
                    [partial(_in_a_process, make)] * num_envs,
                    shared_memory=shares_memory,
                    autoreset_mode=AutoresetMode.NEXT_STEP,
                )
        except BaseException:
            if hasattr(self, "processes"):
                self.close()
            raise

    def reset_async(self, *args: Any, **kwargs: Any) -> None:
        """Ask all lanes for a reset."""
        with self._mourning():
            super().reset_async(*args, **kwargs)

    def reset_wait(self, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Take what they answer."""
        with self._mourning():
            return super().reset_wait(*args, **kwargs)

    def step_async(self, actions: Any) -> None:
        """Ask all lanes for a step."""
        with self._mourning():
            super().step_async(actions)

    def step_wait(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take what they answer."""
        with self._mourning():
            return super().step_wait(*args, **kwargs)

    def close_extras(self, timeout: float | None = None, terminate: bool = False) -> None:
        """Ask the lanes to close, whatever they are at; end those that do not."""
        deadline = time.monotonic() + GRACE
        try:
            for pipe in filter(None, self.parent_pipes):
                with suppress(OSError):
                    pipe.send(("close", None))
            for pipe, process in zip(self.parent_pipes, self.processes, strict=True):
                with suppress(Exception):  # what is still unread keeps a lane waiting
                    while pipe is not None and pipe.poll(max(deadline - time.monotonic(), 0)):
                        pipe.recv()
                process.join(max(deadline - time.monotonic(), 0))
        finally:
            for process in self.processes:
                process.kill()
            for process in self.processes:
                process.join()

    @contextmanager
    def _mourning(self) -> Iterator[None]:
        """Say which lane's process has died, if one has."""
        try:
            yield
        except (EOFError, ConnectionError) as error:
            ended = wait([process.sentinel for process in self.processes], GRACE)
            lane = next((i for i, p in enumerate(self.processes) if p.sentinel in ended), 0)
            self.processes[lane].join(GRACE)
            how = _ending(self.processes[lane].exitcode)
            raise ContractError(f"{self.name}: the process of lane {lane} {how}") from error


def _ending(code: int | None) -> str:
    """Return how a process has ended, in words."""
    if code is None:
        return "hung up"
    if code >= 0:
        return f"ended with exit code {code}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


def _in_a_process(make: Make) -> gymnasium.Env[Any, Any]:
    """Make an environment in a process of its own, which leaves it to its parent to be stopped."""
    if parent_process() is None:
        return make()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    try:
        return make()
    except Exception as error:  # which the parent did not meet when it made one
        sys.exit(f"hal: {error}")
