"""Whether an environment that only a file names may be imported.

A run's folder may be a stranger's, and to import `module:function` is to run it. So somebody must
have agreed: on the command line, or by having trained the run. Of that there is a note in the
user's own folder: the run's random id, which is in its folder too, and its task.
"""

import os
import re
import secrets
import sys
from contextlib import suppress
from pathlib import Path

from hal.files import read_bytes, write_text

ID = "run.id"  # in a run's folder


def note_own(run: Path, task: str) -> None:
    """Remember that this user trains a run, if its task is to be imported."""
    if ":" not in task:
        return
    number = secrets.token_hex(16)
    write_text(run / ID, number + "\n")
    with suppress(OSError, RuntimeError):  # without a home of one's own, one has to agree
        notes = _notes()
        notes.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_text(notes / number, task + "\n")


def check_consent(task: str, folder: Path, env: str | None, trust: bool) -> None:
    """Refuse a task that is to be imported, is named by a file of a folder, and nobody agreed to.

    The user has agreed by naming it (`env`), by trusting the file, or by having trained the run.
    Unless they named it, nothing in the folder itself is imported.
    """
    if env not in (None, task):
        raise ValueError(f"--env {env}; legal: the run's own, {task}")
    if ":" not in task or env == task:
        return
    module = task.partition(":")[0]
    agree = f"if you know it, agree with --env {task}"
    if is_inside(module, folder):
        raise ValueError(f"{folder} would import {module} from that folder itself; {agree}")
    if not trust and not _is_own(folder, task):
        others = "or --trust (in Python: trust=True)"
        raise ValueError(
            f"{folder} would import {module}, and was not trained here; {agree} {others}"
        )


def is_inside(module: str, folder: Path) -> bool:
    """Tell whether a module, or a package it is in, could be found in a folder; imports nothing."""
    words, root = module.split("."), folder.resolve()
    for entry in {os.getcwd(), *sys.path}:
        for end in range(1, len(words) + 1):
            place = Path(entry, *words[:end])
            found = [place, *place.parent.glob(f"{place.name}.*")]
            if any(one.exists() and one.resolve().is_relative_to(root) for one in found):
                return True
    return False


def _is_own(run: Path, task: str) -> bool:
    with suppress(OSError, RuntimeError, ValueError):
        number = read_bytes(run / ID).decode().strip()
        is_id = re.fullmatch("[0-9a-f]{32}", number) is not None
        return is_id and read_bytes(_notes() / number).decode().strip() == task
    return False


def _notes() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "hal" / "runs"
