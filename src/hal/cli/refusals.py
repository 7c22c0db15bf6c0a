"""What is wrong with a command line, in one line, from what the parser knows of it.

The parser's own messages are pictures: framed, coloured in a terminal, drawn by its encoding.
"""

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from tyro import _errors as events

from hal.config.names import plain_name
from hal.config.settings import GROUPS, Config, values_of

Commands = Mapping[str, Callable[..., None]]


def refusal_of(event: events.ParseErrorEvent, words: list[str], commands: Commands) -> str:
    """Return what is wrong with a command line, and what would be legal."""
    match event:
        case events.MissingSubcommand():
            return f"a command is missing; legal: {', '.join(commands)}"
        case events.UnrecognizedArgs():
            return _unknown(event.tokens, words[0], commands)
        case events.MissingArgs():
            missing = event.missing_arguments[0].arg.field.intern_name
            return f"`hal {words[0]}` lacks the {missing}; see: hal {words[0]} --help"
        case events.BadValue():
            return f"{_name_of(event.argument)} lacks a value; legal: {_kind_of(event.argument)}"
        case events.InvalidChoice():
            return f"{_name_of(event.argument)} {event.value}; legal: {', '.join(event.choices)}"
        case events.InstantiationFailure(argument=None):
            return event.message
        case events.InstantiationFailure():
            name, kind = _name_of(event.argument), _kind_of(event.argument)
            return f"{name}: {event.message}; legal: {kind}"
    return f"these arguments are not legal; see: hal {words[0]} --help"


def _unknown(tokens: list[str], command: str, commands: Commands) -> str:
    if command not in commands:
        return f"unknown command {command!r}; legal: {', '.join(commands)}"
    name = next((token for token in tokens if token.startswith("-")), None)
    if name is None:
        return f"`hal {command}` does not take {tokens[0]!r}; see: hal {command} --help"
    name = name.partition("=")[0]
    near = get_close_matches(name, _names_of(command, commands), n=3)
    others = f"perhaps {' or '.join(near)}; " if near else ""
    return f"`hal {command}` has no argument {name}; {others}see: hal {command} --help"


def _names_of(command: str, commands: Commands) -> list[str]:
    """Return the arguments of a command as they are written, settings among those of `train`."""
    names = set(inspect.signature(commands[command]).parameters) - set(GROUPS)
    if command == "train":
        names |= {name for path in values_of(Config()) for name in (path, plain_name(path))}
    return [f"--{name.replace('_', '-')}" for name in sorted(names)]


def _name_of(argument: Any) -> str:
    return str(argument.display_name())


def _kind_of(argument: Any) -> str:
    return str(argument.lowered.metavar)
