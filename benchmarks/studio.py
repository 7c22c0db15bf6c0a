"""How fast the studio is: `make bench-studio`.

A folder of 200 runs, an episode of 500 steps, a scrub step in Chromium, memory with two agents, and
what it costs to watch runs that train.
"""

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from selenium.webdriver import Chrome
from tests.browser import chromium, serving, set_screen, wait_for
from tests.runs import Lines, make_run

from hal.runs.checkpoint import PRETRAINED
from hal.studio.agents import FINAL
from hal.studio.app import POLL_SECONDS
from hal.studio.desk import Desk
from hal.studio.library import Library
from hal.studio.serve import Server

NUM_RUNS, NUM_LINES, NUM_METRICS, NUM_STEPS, NUM_SCRUBS = 200, 100, 100, 500, 200
# Keys are handled, and the page is laid out anew, before the next one comes.
SCRUB = """
const times = [];
for (let i = 0; i < arguments[0]; i++) {
  const start = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
  document.body.getBoundingClientRect();
  times.push(performance.now() - start);
}
return times.sort((a, b) => a - b);
"""


def seconds(job: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def many_runs(folder: Path) -> None:
    """Make a folder of runs with metrics as long as real ones."""
    names = [f"group/metric-{n}" for n in range(NUM_METRICS)]
    for number in range(NUM_RUNS):
        lines: Lines = [
            {"steps": 1000 * i, "cpu_seconds": 2.0 * i, **dict.fromkeys(names, i / NUM_LINES)}
            for i in range(1, NUM_LINES + 1)
        ]
        make_run(folder / f"run-{number:03d}", lines, seed=number)


def folder_rows(folder: Path) -> Iterator[tuple[str, str]]:
    """Measure a folder of many runs."""
    library = Library([folder])
    desk = Desk(library)
    yield f"{NUM_RUNS} runs open", f"{seconds(lambda: json.dumps(desk.everything())):.2f} s"
    numbers = list(range(NUM_RUNS))
    chosen = {"do": "select", "runs": numbers, "metric": "group/metric-0", "along": "steps"}
    took = seconds(lambda: desk.call({**chosen, "heat": "mask/accuracy"}))
    yield f"curves of all {NUM_RUNS}", f"{took:.2f} s"
    took = min(seconds(library.rows) for _ in range(5))
    share = took / (took + POLL_SECONDS)
    yield f"watching {NUM_RUNS} runs that are not done", f"{share:.1%} of a core"


def agent_rows() -> Iterator[tuple[str, str]]:
    """Measure two agents and their episodes, and what memory all that takes."""
    library = Library([PRETRAINED])
    rows = {row["task"]: row["number"] for row in library.rows()}
    desk = Desk(library)
    play = {"do": "play", "stage": FINAL, "seed": 3, "epsilon": 1.0, "most": NUM_STEPS}
    for side, task in enumerate(rows):
        command = {**play, "side": side, "run": rows[task]}
        first = seconds(lambda command=command: json.dumps(desk.call(command)))  # type: ignore[misc]
        again = seconds(lambda command=command: json.dumps(desk.call(command)))  # type: ignore[misc]
        length = len(desk.episode(side).records) - 1
        yield f"{task}: agent opened, {length} steps", f"{first:.2f} s"
        yield f"{task}: another episode, {length} steps", f"{again:.2f} s"
        why = {"do": "why", "side": side, "step": 5, "milestone": 0}
        yield f"{task}: the first why, with playing", f"{seconds(lambda: desk.call(why)):.2f} s"  # noqa: B023
        yield f"{task}: another why", f"{1000 * seconds(lambda: desk.call(why)):.0f} ms"  # noqa: B023
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    yield "memory, two agents open", f"{memory:.2f} GB"


def scrub_rows(browser: Chrome, server: Server) -> Iterator[tuple[str, str]]:
    """Measure steps through an episode in a browser."""
    set_screen(browser, 1280, 900, "light")
    browser.get(server.address)
    desk = server.desk
    play = {"do": "play", "side": 0, "run": 0, "stage": FINAL, "seed": 3, "epsilon": 1.0}
    desk.call({**play, "most": NUM_STEPS})
    desk.view = "episode"
    browser.refresh()
    words = f"of {NUM_STEPS}"
    wait_for(lambda: words in browser.execute_script("return document.body.innerText"))
    times = browser.execute_script(SCRUB, NUM_SCRUBS)
    yield "a scrub step, median", f"{times[len(times) // 2]:.1f} ms"
    yield "a scrub step, 99% within", f"{times[int(0.99 * len(times))]:.1f} ms"
    browser.get("about:blank")


def main() -> None:
    """Print a table."""
    rows = [*agent_rows()]
    with tempfile.TemporaryDirectory() as folder:
        many_runs(Path(folder) / "runs")
        rows += folder_rows(Path(folder) / "runs")
        server = Server([PRETRAINED / "iron"], "127.0.0.1", 0)
        with chromium(Path(folder) / "browser") as browser, serving(server):
            rows += scrub_rows(browser, server)
    print("| what | measured |\n|---|---|", *(f"| {a} | {b} |" for a, b in rows), sep="\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
