"""One run in a process of its own: `python -m hal.experiments.worker RUN`.

Its standard input is a pipe that nobody writes to. It ends with the process that holds the other
end, whatever happens to that one; then the run stops too, with a checkpoint.
"""

import os
import signal
import sys
import threading
from pathlib import Path

PATIENCE = 60.0  # seconds in which whoever was at a run before has to let go of it


def train_run(folder: str) -> str:
    """Begin a run or go on with it; return its last words, none if it is done."""
    try:
        # Here, as it may fail on a node.
        from hal.runs.folder import is_done  # noqa: PLC0415
        from hal.runs.lifecycle import resume_training  # noqa: PLC0415

        if not is_done(Path(folder)):  # else only the answer was lost
            resume_training(Path(folder), patience=PATIENCE)
    except Exception as error:
        return " ".join(str(error).split()) or repr(error)
    return ""


def _stop_with_parent() -> None:
    os.read(0, 1)  # sys.stdin would be locked when the interpreter ends
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    sys.exit(train_run(sys.argv[1]) or None)
