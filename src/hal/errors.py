"""What can happen to a run; bad input is a plain ValueError."""

import shlex
from pathlib import Path


class DamagedError(ValueError):
    """A file is not what was written."""


class ContractError(ValueError):
    """An environment does not do what it must, see `hal check`."""


class DivergedError(Exception):
    """Learning has left the finite numbers."""


class FailedError(Exception):
    """The machine failed the run; its checkpoints are whole."""


class StoppedError(Exception):
    """Somebody stopped the run; it can go on."""

    def __init__(self, folder: Path, num_steps: int, code: int) -> None:
        super().__init__(f"stopped after {num_steps:,} steps; {how_to_go_on(folder)}")
        self.code = code


def how_to_go_on(folder: Path) -> str:
    """Return the command that resumes a run, in words."""
    return f"go on with: hal train --resume {shlex.quote(str(folder))}"
