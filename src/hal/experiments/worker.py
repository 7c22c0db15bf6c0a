"""One run in a process of its own: `python -m hal.experiments.worker RUN`.

Its standard input is a pipe that nobody writes to. It ends with the process that holds the other
end, whatever happens to that one; then the run stops too, with a checkpoint.
"""

import os
import signal
import sys
import threading

from hal.cli import main


def _stop_with_parent() -> None:
    os.read(0, 1)  # sys.stdin would be locked when the interpreter ends
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    sys.argv[1:] = ["train", "--resume", sys.argv[1]]
    main()
