"""Runs in processes of their own, which end with the one that has started them."""

import signal
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import active_children, get_context

from benchmarks.learn import end_with_parent
from benchmarks.others.running import Run, see_through

Key = tuple[str, str, int]  # testbed, method, seed


def do_all(runs: dict[Key, Run], num_jobs: int) -> bool:
    """Do what is left; tell whether everything went well."""
    is_well = True
    with ProcessPoolExecutor(num_jobs, get_context("spawn"), initializer=_begin) as pool:
        futures = {pool.submit(see_through, run): key for key, run in runs.items()}
        try:
            for future in as_completed(futures):
                error = future.exception()
                is_well &= error is None
                how = "done" if error is None else f"failed, {error}"
                print(f"{how}:", *futures[future], flush=True)
        except KeyboardInterrupt:
            for worker in active_children():
                worker.terminate()
            print("stopped; the same command goes on", flush=True)
            sys.exit(128 + signal.SIGINT)
    return is_well


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells all; the parent decides
    end_with_parent()
