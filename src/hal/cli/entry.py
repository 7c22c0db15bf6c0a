"""The command `hal`: what a command line asks for, and how it ends."""

import sys
from collections.abc import Callable
from functools import partial, wraps
from io import TextIOWrapper
from typing import Any, NoReturn

import tyro
from tyro._errors import ParseErrorEvent, on_parse_error

from hal import __version__
from hal.checks import printable
from hal.cli import commands
from hal.cli.refusals import refusal_of
from hal.cli.train import defaults_of, plain_words, train_from
from hal.config.settings import Config
from hal.errors import FailedError, StoppedError
from hal.runs.signals import is_stop


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
        "studio": commands.studio,
        "plot": commands.plot,
        "compare": commands.compare,
        "runs": commands.runs,
        "reproduce": commands.reproduce,
        "play": commands.play,
        "check": commands.check,
        "methods": commands.methods,
        "tasks": commands.tasks,
    }

    def refuse(event: ParseErrorEvent) -> NoReturn:
        raise ValueError(refusal_of(event, arguments, by_name))

    with on_parse_error(refuse):
        command: Callable[[], None] = tyro.extras.subcommand_cli_from_dict(
            {name: _later(command) for name, command in by_name.items()},
            args=arguments,
            prog="hal",
            description="Hierarchical Affordance Learning.",
        )
    return command


def _later(command: Callable[..., None]) -> Callable[..., Callable[[], None]]:
    """Return a command that only takes its arguments, to be called once more."""

    @wraps(command)
    def take(*values: Any, **named: Any) -> Callable[[], None]:
        return partial(command, *values, **named)

    return take


def main() -> None:
    """Run the command; bad input ends with one line and exit code 2, a fault with 1."""
    if sys.argv[1:] == ["--version"]:
        print(f"hal {__version__}")
        return
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # of any encoding: what it lacks is written as codes
            stream.reconfigure(errors="backslashreplace")
    try:
        parsed(sys.argv[1:])()
    except StoppedError as stop:
        _end(stop, stop.code)
    except ValueError as error:
        _end(error, 2)
    except (FailedError, OSError, MemoryError) as error:
        _end(error, 1)
    except BaseException as error:
        if not is_stop(error):
            raise
        sys.exit(130)


def _end(error: Exception, code: int) -> NoReturn:
    """Say in one line why it ends; some words may be a stranger's."""
    print(f"hal: {printable(str(error) or repr(error))}", file=sys.stderr)
    sys.exit(code)
