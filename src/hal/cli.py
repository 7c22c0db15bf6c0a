"""The command `hal`."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import tyro

from hal import ENV_IDS, GridEnv, __version__
from hal.play import play_in_terminal, play_in_window, play_script
from hal.presets import METHODS, make_config
from hal.run import run_training


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
    seed: int = 0,
    steps: int = 2_000_000,
    episodes: int = 200,
    out: Path | None = None,
) -> None:
    """Train an agent and evaluate it greedily.

    Args:
        task: The milestone that ends an episode; see `hal tasks`.
        method: The method; see `hal methods`.
        seed: Of everything random.
        steps: Environment steps of training.
        episodes: Episodes of the final evaluation.
        out: Folder for `metrics.jsonl` and `evaluation.json`; runs/TASK-METHOD-SEED without it.
    """
    config = make_config(task, method, seed=seed, steps=steps)
    run_training(config, episodes, out or Path("runs") / f"{task}-{method}-{seed}")


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
            {"train": train, "play": play, "methods": methods, "tasks": tasks},
            prog="hal",
            description="Hierarchical Affordance Learning.",
        )
    except ValueError as error:
        print(f"hal: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
