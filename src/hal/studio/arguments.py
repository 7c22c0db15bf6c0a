"""What a page sends as a command's arguments, held against the command's annotations."""

import inspect
from collections.abc import Callable
from typing import Any

LONGEST_TEXT, MOST_ITEMS, MOST = 200, 500, 2**53


def checked(command: Callable[..., Any], message: dict[str, Any]) -> dict[str, Any]:
    """Return a command's arguments, if they are all there and of their kinds."""
    wanted = inspect.get_annotations(command)
    wanted.pop("return")
    given = {name: value for name, value in message.items() if name != "do"}
    if given.keys() != wanted.keys():
        raise ValueError(f"arguments {sorted(given)[:10]}; legal: {sorted(wanted)}")
    for name, kind in wanted.items():
        if not _is_of(given[name], kind):
            raise ValueError(f"{name} {repr(given[name])[:60]}; legal: {_in_words(kind)}")
    return given


def _is_of(value: Any, kind: Any) -> bool:
    if kind is int:
        return type(value) is int and abs(value) < MOST
    if kind is float:
        return type(value) in (int, float) and abs(value) < MOST
    if kind is str:
        return isinstance(value, str) and len(value) <= LONGEST_TEXT
    is_list = isinstance(value, list) and len(value) <= MOST_ITEMS
    return is_list and all(_is_of(one, int) for one in value)


def _in_words(kind: Any) -> str:
    words = {int: "whole numbers", float: "numbers", str: f"texts up to {LONGEST_TEXT} letters"}
    return words.get(kind, f"up to {MOST_ITEMS} whole numbers")
