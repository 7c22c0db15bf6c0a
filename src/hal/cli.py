"""The command `hal`."""

import sys
from json import dumps
from pathlib import Path
from typing import Annotated, Literal

import tyro

from hal import ENV_IDS, GridEnv, __version__
from hal.checkpoint import load_agent
from hal.play import play_in_terminal, play_in_window, play_script
from hal.presets import METHODS, make_config
from hal.run import evaluate_agent, evaluation_table, run_training


def play(
    game: Annotated[Literal["crafting", "treasure"], tyro.conf.Positional],
    *,
    task: str | None = None,
    seed: int | None = None,
    text: bool = False,
    scripted: bool = False,
    gif: Path | None = None,
) -> None:
    """Play a game yourself, or watch the scripted player.

    Args:
        game: The game.
        task: The milestone that ends the episode; see `hal tasks`.
        seed: Number of the world; a random one without it.
        text: In the terminal instead of a window.
        scripted: Watch an episode of the scripted player.
        gif: With --scripted: write the episode there.
    """
    if gif is not None and not scripted:
        raise ValueError("--gif goes with --scripted")
    if gif is not None and not gif.absolute().parent.is_dir():
        raise ValueError(f"--gif {gif}: there is no folder {gif.absolute().parent}")
    env = GridEnv(task or {"crafting": "diamond", "treasure": "treasure"}[game])
    if env.game.name != game:
        raise ValueError(f"task {task!r} is not one of {game}; see `hal tasks`")
    if scripted:
        last = play_script(env, seed, gif, in_window=not text)
        print(f"{last.collected} after {last.step} steps" + (f"; see {gif}" if gif else ""))
    elif text:
        play_in_terminal(env, seed)
    else:
        play_in_window(env, seed)


def train(
    task: Annotated[str, tyro.conf.Positional],
    *,
    method: str = "hal",
    preset: str = "fast",
    seed: int = 0,
    steps: int | None = None,
    device: str = "cpu",
    episodes: int = 200,
    out: Path | None = None,
) -> None:
    """Train an agent and evaluate it greedily.

    Args:
        task: The milestone that ends an episode; see `hal tasks`.
        method: The method; see `hal methods`.
        preset: The scale: fast (what learns soonest on a core) or paper (the paper's settings).
        seed: Of everything random.
        steps: Environment steps of training; the preset's without it.
        device: cpu, cuda or auto.
        episodes: Episodes of the final evaluation.
        out: A new folder for the run; runs/TASK-METHOD-SEED without it.
    """
    overrides = {} if steps is None else {"steps": steps}
    config = make_config(task, method, preset, seed=seed, device=device, **overrides)
    run_training(config, episodes, out or Path("runs") / f"{task}-{method}-{seed}")


def evaluate(
    run: Annotated[Path, tyro.conf.Positional],
    *,
    episodes: int = 200,
    json: bool = False,
) -> None:
    """Evaluate a finished run's agent greedily, in fresh episodes.

    Args:
        run: The run's folder.
        episodes: How many episodes.
        json: Print JSON.
    """
    agent = load_agent(run)
    result = evaluate_agent(agent, episodes)
    print(dumps(result, indent=2) if json else evaluation_table(result, agent.milestones))


def methods() -> None:
    """List the methods."""
    for name, (description, _) in METHODS.items():
        print(f"{name:10} {description}")


def tasks() -> None:
    """List the tasks and the environments' names."""
    for env_id, task in ENV_IDS.items():
        env = GridEnv(task)
        print(f"{task:15} {env_id:30} {len(env.milestones):2} milestones")


def main() -> None:
    """Run the command; bad input ends with one line and exit code 2."""
    if sys.argv[1:] == ["--version"]:
        print(f"hal {__version__}")
        return
    try:
        tyro.extras.subcommand_cli_from_dict(
            {"train": train, "eval": evaluate, "play": play, "methods": methods, "tasks": tasks},
            prog="hal",
            description="Hierarchical Affordance Learning.",
        )
    except ValueError as error:
        print(f"hal: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"hal: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
