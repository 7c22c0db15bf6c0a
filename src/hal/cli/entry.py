"""The command `hal`: what a command line asks for, and how it ends."""

import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from functools import partial, wraps
from io import StringIO
from typing import Any

import tyro

from hal import __version__
from hal.cli import commands
from hal.cli.train import defaults_of, plain_words, train_from
from hal.config.settings import Config
from hal.errors import FailedError, StoppedError


def parsed(arguments: list[str]) -> Callable[[], None]:
    """Return what a command line asks for; what is wrong with it is a ValueError of one line."""
    default, from_file = Config(), dict[str, Any]()
    if arguments[:1] == ["train"]:
        default, from_file = defaults_of(arguments[1:])
        arguments = plain_words(arguments)
    by_name: dict[str, Callable[..., None]] = {
        "train": train_from(default, from_file, arguments[1:]),
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
                args=arguments,
                prog="hal",
                description="Hierarchical Affordance Learning.",
            )
    except SystemExit as stop:
        if stop.code:
            raise ValueError(_one_line(errors.getvalue())) from None
        raise
    return command


def _later(command: Callable[..., None]) -> Callable[..., Callable[[], None]]:
    """Return a command that only takes its arguments, to be called once more."""

    @wraps(command)
    def take(*values: Any, **named: Any) -> Callable[[], None]:
        return partial(command, *values, **named)

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
