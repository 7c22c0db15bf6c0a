"""How fast the studio is: `make bench-studio`.

A folder of 200 runs, an episode of 500 steps, a scrub step in Chromium, memory with two agents, and
what it costs to watch runs that train.
"""

import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from selenium.webdriver import Chrome
from tests.browser import chromium, serving, set_screen, wait_for
from tests.runs import Lines, make_run

from hal.runs.checkpoint import PRETRAINED
from hal.studio.agents import FINAL
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


def cost(job: Callable[[], object]) -> str:
    """Return how long something takes, and how much of that is CPU time."""
    start, cpu_start = time.perf_counter(), time.process_time()
    job()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    return f"{cpu:.3f} s CPU, {wall:.2f} s"


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
    yield f"{NUM_RUNS} runs open", cost(lambda: json.dumps(desk.everything()))
    numbers = list(range(NUM_RUNS))
    chosen = {"do": "select", "runs": numbers, "metric": "group/metric-0", "along": "steps"}
    yield f"curves of all {NUM_RUNS}", cost(lambda: desk.call({**chosen, "heat": "mask/accuracy"}))
    yield f"a look at {NUM_RUNS} runs that train", cost(library.rows)


def packed(desk: Desk, command: dict[str, object]) -> str:
    """Return an answer as it is sent."""
    return json.dumps(desk.call(command))


def agent_rows() -> Iterator[tuple[str, str]]:
    """Measure two agents and their episodes, and what memory all that takes."""
    library = Library([PRETRAINED])
    rows = {row["task"]: row["number"] for row in library.rows()}
    desk = Desk(library)
    play = {"do": "play", "stage": FINAL, "seed": 3, "epsilon": 1.0, "most": NUM_STEPS}
    for side, task in enumerate(rows):
        command = {**play, "side": side, "run": rows[task]}
        yield f"{task}: agent opened, episode of {NUM_STEPS}", cost(partial(packed, desk, command))
        yield f"{task}: another episode of {NUM_STEPS}", cost(partial(packed, desk, command))
        assert len(desk.episode(side).records) == NUM_STEPS + 1
        why = {"do": "why", "side": side, "step": 5, "milestone": 0}
        yield f"{task}: first why, with playing for examples", cost(partial(packed, desk, why))
        yield f"{task}: another why", cost(partial(packed, desk, why))
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
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    start = thread_seconds(browser)
    times = browser.execute_script(SCRUB, NUM_SCRUBS)
    cpu = (thread_seconds(browser) - start) / NUM_SCRUBS
    middle, late = times[NUM_SCRUBS // 2], times[int(0.99 * NUM_SCRUBS)]
    yield "a scrub step", f"{1000 * cpu:.1f} ms CPU, {middle:.0f} ms, 99% within {late:.0f} ms"
    browser.get("about:blank")


def thread_seconds(browser: Chrome) -> float:
    """Return how much CPU time the page has taken."""
    told = browser.execute_cdp_cmd("Performance.getMetrics", {})
    metrics = {one["name"]: one["value"] for one in told["metrics"]}
    return float(metrics["TaskDuration"])


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


if __name__ == "__main__":
    main()
