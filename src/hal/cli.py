"""The command `hal`: what a command line asks for, and how it ends."""

import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from functools import partial, wraps
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import arg

from hal import __version__, commands
from hal.config import Config
from hal.errors import FailedError, StoppedError
from hal.presets import make_config

KEEPING = {  # options of `hal train` that a run can be resumed with, and their names in `Keeping`
    "episodes": "num_episodes",
    "checkpoint_seconds": "checkpoint_seconds",
    "wandb": "use_wandb",
    "processes": "use_processes",
}


def train_from(default: Config) -> Callable[..., None]:
    """Return the command `hal train`, whose options are by default those of a config."""

    def train(
        config: Annotated[Config, arg(name="")] = default,
        *,
        env: str | None = None,
        episodes: int = 200,
        out: Path | None = None,
        resume: Path | None = None,
        checkpoint_seconds: float = 60.0,
        wandb: bool = False,
        processes: bool = False,
    ) -> None:
        """Train an agent and evaluate it greedily; or go on with a run that was stopped.

        The defaults shown are those of the task, the method and the preset that are given.

        Args:
            config: What to train.
            env: Instead of a task, an environment: module:function, or a name of `hal tasks`.
            episodes: Episodes of the final evaluation.
            out: A new folder for the run; runs/TASK-METHOD-SEED-TIME without it.
            resume: Go on with the run in this folder, exactly, with its own settings.
            checkpoint_seconds: CPU time between two checkpoints.
            wandb: Log to Weights & Biases too; WANDB_MODE=offline keeps it on this machine.
            processes: With --env: a process for each lane, for environments that are slow.
        """
        from hal.run import Keeping, new_folder, resume_training, run_training

        given = given_options(sys.argv[2:])
        if resume is None:
            overrides = {name: getattr(config, name) for name in given if hasattr(config, name)}
            for name in ("method", "preset"):
                overrides.pop(name, None)
            config = make_config(config.task, config.method, config.preset, **overrides)
            keeping = Keeping(episodes, checkpoint_seconds, wandb, processes)
            run_training(config, out or new_folder(config), keeping)
            return
        if given - KEEPING.keys() - {"resume"} or config.task != Config.task:
            raise ValueError("--resume goes on with the run's own settings; leave out the others")
        values = {
            "episodes": episodes,
            "checkpoint_seconds": checkpoint_seconds,
            "wandb": wandb,
            "processes": processes,
        }
        resume_training(resume, **{KEEPING[name]: values[name] for name in given & KEEPING.keys()})

    return train


def given_options(words: list[str]) -> set[str]:
    """Return the names of the options on a command line."""
    options = [word[2:].partition("=")[0] for word in words if word.startswith("--")]
    return {option.removeprefix("no-").replace("-", "_") for option in options}


def defaults_of(words: list[str]) -> Config:
    """Return the config of the task, method and preset on a command line of `hal train`."""
    chosen: dict[str, str] = {}
    for name in ("method", "preset", "env"):
        for at, word in enumerate(words):
            option, _, value = word.partition("=")
            if option == f"--{name}":
                chosen[name] = value or "".join(words[at + 1 : at + 2])
    has_task = bool(words) and not words[0].startswith("-")
    if has_task and "env" in chosen:
        raise ValueError(f"--env {chosen['env']} and the task {words[0]!r}; legal: one of them")
    task = chosen.pop("env", words[0] if has_task else Config.task)
    return make_config(task, **chosen)


def parsed(arguments: list[str]) -> Callable[[], None]:
    """Return what a command line asks for; what is wrong with it is a ValueError of one line."""
    default = defaults_of(arguments[1:]) if arguments[:1] == ["train"] else Config()
    by_name: dict[str, Callable[..., None]] = {
        "train": train_from(default),
        "eval": commands.evaluate,
        "watch": commands.watch,
        "plot": commands.plot,
        "runs": commands.runs,
        "reproduce": commands.reproduce,
        "play": commands.play,
        "check": commands.check,
        "methods": commands.methods,
        "tasks": commands.tasks,
    }
    errors = StringIO()
    try:
        with redirect_stderr(errors):
            command: Callable[[], None] = tyro.extras.subcommand_cli_from_dict(
                {name: _later(command) for name, command in by_name.items()},
                prog="hal",
                description="Hierarchical Affordance Learning.",
            )
    except SystemExit as stop:
        if stop.code:
            raise ValueError(_one_line(errors.getvalue())) from None
        raise
    return command


def _later(command: Callable[..., None]) -> Callable[..., Callable[[], None]]:
    """Return a command that only takes its options, to be called once more."""

    @wraps(command)
    def take(*values: Any, **options: Any) -> Callable[[], None]:
        return partial(command, *values, **options)

    return take


def _one_line(box: str) -> str:
    """Return the text of a framed message, without its title and its last line, the way to help."""
    lines = [line.strip("│ ") for line in box.splitlines() if line.startswith("│")]
    return " ".join(line for line in lines if line.strip("─") and "full helptext" not in line)


def main() -> None:
    """Run the command; bad input ends with one line and exit code 2, a fault with 1."""
    if sys.argv[1:] == ["--version"]:
        print(f"hal {__version__}")
        return
    try:
        parsed(sys.argv[1:])()
    except StoppedError as stop:
        print(f"hal: {stop}", file=sys.stderr)
        sys.exit(stop.code)
    except ValueError as error:
        print(f"hal: {error}", file=sys.stderr)
        sys.exit(2)
    except (FailedError, OSError, MemoryError) as error:
        print(f"hal: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
