"""The commands of `hal`, but for `train`.

What a command needs beyond its arguments it imports itself: torch alone takes seconds.
"""

import sys
from contextlib import closing
from itertools import count, islice
from json import dumps
from pathlib import Path
from typing import Literal

from rich.console import Console
from tyro.conf import Positional

from hal.checks import check_choice, check_whole_number
from hal.config.presets import METHODS
from hal.envs.grid import ENV_IDS
from hal.envs.grid.rules import DEFAULT_TASK, GAMES
from hal.envs.grid.settings import GridSettings


def evaluate(
    run: Positional[str],
    *,
    episodes: int = 200,
    json: bool = False,
    env: str | None = None,
    trust: bool = False,
) -> None:
    """Evaluate a finished run's agent greedily, in fresh episodes.

    Args:
        run: The run's folder; or the task of an agent that comes with the package.
        episodes: How many episodes.
        json: Print JSON.
        env: The run's environment, module:function, to agree that it is imported.
        trust: Import whatever environment the run names. A run of one's own needs neither.
    """
    from hal.runs.checkpoint import load_by_name
    from hal.runs.display import evaluation_table
    from hal.runs.lifecycle import evaluate_policy

    policy = load_by_name(run, env, trust)
    result = evaluate_policy(policy, episodes)
    table = evaluation_table(result, policy.milestones, policy.config.has_mask)
    print(dumps(result, indent=2) if json else table)


def watch(
    run: Positional[str] = DEFAULT_TASK,
    *,
    seed: int | None = None,
    episodes: int = 1,
    max_steps: int = 500,
    window: bool = False,
    gif: Path | None = None,
    mp4: Path | None = None,
    env: str | None = None,
    trust: bool = False,
) -> None:
    """Watch a trained agent, with what it believes: affordances, values, its subtask.

    In the terminal, unless a window or a film is asked for.

    Args:
        run: The run's folder; or the task of an agent that comes with the package.
        seed: Number of the first world; a random one without it.
        episodes: How many episodes.
        max_steps: Steps after which an episode is watched no longer.
        window: Show it in a window.
        gif: Write it there, as a GIF.
        mp4: Write it there, as a film.
        env: The run's environment, module:function, to agree that it is imported.
        trust: Import whatever environment the run names. A run of one's own needs neither.
    """
    from hal.runs.checkpoint import load_by_name
    from hal.viewer.film import check_folder
    from hal.viewer.play import show_episode
    from hal.viewer.watch import env_of, episode

    for name, value in (("episodes", episodes), ("max-steps", max_steps)):
        check_whole_number(name, value, 1)
    for argument, path in (("--gif", gif), ("--mp4", mp4)):
        if path is not None:
            check_folder(argument, path)
    policy = load_by_name(run, env, trust)
    seeds = [None] * episodes if seed is None else islice(count(seed), episodes)
    with closing(env_of(policy)) as world:
        frames = (frame for number in seeds for frame in episode(policy, world, number, max_steps))
        last = show_episode(frames, in_window=window, gif=gif, mp4=mp4)
    print(f"the last episode took {last.step} steps")
    for path in (gif, mp4):
        if path is not None:
            print(f"see {path}")


def plot(
    runs: Positional[tuple[Path, ...]],
    *,
    out: Path = Path("curves"),
    text: bool = False,
) -> None:
    """Draw learning curves: the mean over seeds with its 95% interval, one figure per task.

    Args:
        runs: Folders of runs, or folders that contain some.
        out: The figure, a name that ends in .png or .pdf, or in neither for both.
        text: In the terminal instead.
    """
    from hal.experiments.plot import plot_runs, plot_text

    if text:
        Console().print(plot_text(list(runs)))
        return
    for path in plot_runs(list(runs), out):
        print(path)


def compare(runs: Positional[tuple[Path, ...]], *, out: Path | None = None) -> None:
    """Compare agents: what they reach, at what cost, and where their time goes; a table per task.

    Args:
        runs: Folders of runs, or folders that contain some.
        out: Draw it there too: a name that ends in .png, .pdf or .html.
    """
    from hal.experiments.compare import compare_runs

    tables, files = compare_runs(list(runs), out)
    Console().print(*tables)
    for path in files:
        print(path)


def runs(folder: Positional[Path] = Path("runs")) -> None:
    """List the runs below a folder.

    Args:
        folder: The folder.
    """
    from hal.runs.listing import runs_table

    Console().print(runs_table(folder))


def studio(
    runs: Positional[tuple[Path, ...]] = (),
    *,
    port: int = 8642,
    host: str = "127.0.0.1",
    browser: bool = True,
) -> None:
    """See, question and steer agents in the browser.

    Args:
        runs: Folders of runs, or folders that contain some; the agents in the package without any.
        port: Where the page is served; 0 for any that is free.
        host: Whom it is served to: this machine alone, unless it says otherwise.
        browser: Open the browser.
    """
    from importlib.util import find_spec

    missing = [name for name in ("starlette", "uvicorn", "websockets") if find_spec(name) is None]
    if missing:
        raise ValueError(f'the studio needs {missing[0]}: pip install "hal-rl[studio]"')
    from hal.studio.serve import serve

    check_whole_number("port", port, 0, 65_535)
    serve(list(runs), host, port, browser)


def reproduce(
    experiment: Positional[str],
    *,
    seeds: int = 5,
    preset: Literal["fast", "faithful", "paper"] = "fast",
    out: Path = Path("reproduced"),
    jobs: int | None = None,
    ray: str | None = None,
    steps: int | None = None,
    episodes: int = 200,
    dry_run: bool = False,
) -> None:
    """Do an experiment of the paper: its runs, tables, figures and verdicts, in a report.

    What is done already is not done again; the same command goes on where it was interrupted.

    Args:
        experiment: learning, milestones, stochastic, agnostic, components, hyperparameters, sigma,
            departures, faithful, paper, or all; or report, to draw figures and report anew from
            the tables in the folder.
        seeds: Runs of each variant, up to 5; some experiments have fewer.
        preset: Scale of the runs.
        out: The folder of runs and results.
        jobs: Runs at once, one thread each; as many as cores without it. Not with --ray.
        ray: Train on the Ray cluster at this address instead; auto for the one that is running,
            or a new one on this machine. All nodes must have the folder, at the same path.
        steps: Environment steps of each run; the experiment's own without it.
        episodes: Episodes of each run's greedy evaluation.
        dry_run: Only list the runs and what they cost.
    """
    from hal.experiments.engines import LocalEngine, RayEngine, num_cores
    from hal.experiments.reproduce import plan_of, redraw, reproduce, show_plan
    from hal.runs.lifecycle import Keeping

    if not next(path for path in (out, *out.absolute().parents) if path.exists()).is_dir():
        raise ValueError(f"--out {out}; legal: a folder, or a new one in a folder")
    if experiment == "report":
        redraw(out)
        return
    if ray is not None and jobs is not None:
        raise ValueError("--jobs is of this machine; leave it out with --ray")
    plan = plan_of(experiment, seeds, preset, steps)
    keeping = Keeping(num_episodes=episodes)
    num_jobs = num_cores() if jobs is None else jobs
    check_whole_number("jobs", num_jobs, 1)
    if dry_run:
        show_plan(plan, out, num_jobs)
    else:
        engine = LocalEngine(num_jobs) if ray is None else RayEngine(ray)
        show_plan(plan, out, engine.num_slots)
        try:
            reproduce(plan, out, engine, keeping)
        except KeyboardInterrupt:
            print("hal: stopped; the same command goes on", file=sys.stderr)
            raise


def play(
    game: Positional[str],
    *,
    task: str | None = None,
    seed: int | None = None,
    text: bool = False,
    scripted: bool = False,
    gif: Path | None = None,
) -> None:
    """Play a game yourself, or watch the scripted player.

    Args:
        game: The game, see `hal tasks`.
        task: The milestone that ends the episode; see `hal tasks`.
        seed: Number of the world; a random one without it.
        text: In the terminal instead of a window.
        scripted: Watch an episode of the scripted player.
        gif: With --scripted: write the episode there.
    """
    from hal.envs.grid.single import GridEnv
    from hal.viewer.film import check_folder
    from hal.viewer.play import play_in_terminal, play_in_window, script, show_episode

    if gif is not None and not scripted:
        raise ValueError("--gif goes with --scripted")
    if gif is not None:
        check_folder("--gif", gif)
    games = {known.name: known for known in GAMES}
    check_choice("game", game, tuple(games))
    env = GridEnv(task or games[game].milestones[-1])
    if env.game.name != game:
        raise ValueError(f"task {task!r} is not one of {game}; see `hal tasks`")
    if scripted:
        last = show_episode(script(env, seed), in_window=not text and gif is None, gif=gif)
        print(f"{last.collected} after {last.step} steps" + (f"; see {gif}" if gif else ""))
    elif text:
        play_in_terminal(env, seed)
    else:
        play_in_window(env, seed)


def check(
    env: Positional[str],
    *,
    steps: int = 4_000,
    seed: int = 0,
) -> None:
    """Run an environment and say whether an agent can learn in it, and what to change.

    Args:
        env: module:function, or a name of `hal tasks`.
        steps: Random steps to take.
        seed: Of the environment and the steps.
    """
    from hal.runs.check import try_env

    check_whole_number("steps", steps, 1)
    if not try_env(env, steps, seed):
        sys.exit(1)


def methods() -> None:
    """List the methods, with the paper's names."""
    for name, method in METHODS.items():
        print(f"{name:10} {method.title}")


def tasks() -> None:
    """List the tasks, and other environments for --env."""
    from hal.envs.external.find import names_of_adapters

    for env_id, task in ENV_IDS.items():
        milestones = GridSettings(task).milestones or ()
        print(f"{task:15} {env_id:30} {len(milestones):2} milestones")
    for name in names_of_adapters():
        print(f"--env {name}")
