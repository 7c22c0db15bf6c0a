"""Kinds of settings: a type and the values that are legal, written beside each field."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Protocol, get_args, get_origin, get_type_hints


class Legal(Protocol):
    """What a field's annotation says of its values."""

    def holds(self, value: Any) -> bool:
        """Tell whether a value, or one of a pair, is legal."""


@dataclass(frozen=True)
class Range:
    """Numbers from one to another."""

    low: float
    high: float = math.inf
    is_open: bool = False  # the ends are not legal

    def holds(self, value: float) -> bool:
        """Tell whether a number is within."""
        if self.is_open:
            return self.low < value < self.high
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"{'above' if self.is_open else 'from'} {self.low:g}"
        words = "between {:g} and {:g}" if self.is_open else "from {:g} to {:g}"
        return words.format(self.low, self.high)


@dataclass(frozen=True)
class Choice:
    """One of some words."""

    words: tuple[str, ...]

    def holds(self, value: str) -> bool:
        """Tell whether a word is among them."""
        return value in self.words

    def __str__(self) -> str:
        return ", ".join(self.words)


ABOVE_ZERO, FROM_ZERO = Range(0, is_open=True), Range(0)
SHARE, INSIDE = Range(0, 1), Range(0, 1, is_open=True)

Count = Annotated[int, ABOVE_ZERO]
CountOrNone = Annotated[int, FROM_ZERO]
Positive = Annotated[float, ABOVE_ZERO]
NotNegative = Annotated[float, FROM_ZERO]
Share = Annotated[float, SHARE]
Inside = Annotated[float, INSIDE]  # a bound that covers nothing or everything is none
Shares = Annotated[tuple[float, float], SHARE]  # from the first to the second

MOST = 2**53  # beyond it, not every whole number has a floating-point one
KINDS: dict[Any, tuple[Any, str]] = {
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: (int | float, "a number"),
    str: (str, "a word"),
}


@cache
def kinds_of(owner: type) -> dict[str, tuple[Any, Legal | None]]:
    """Return the type of each field of a dataclass, and what is legal for it."""
    kinds: dict[str, tuple[Any, Legal | None]] = {}
    for name, hint in get_type_hints(owner, include_extras=True).items():
        kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        legal = next((note for note in notes if isinstance(note, Range | Choice)), None)
        kinds[name] = kind, legal
    return kinds


def check_field(title: str, value: Any, kind: Any, legal: Legal | None) -> None:
    """Refuse a value of another type, or one that is not legal."""
    if get_origin(kind) is tuple:
        _check_tuple(title, value, get_args(kind))
        items: Sequence[Any] = value
    else:
        types, words = KINDS[kind]
        # True is a whole number to Python, but not to people.
        if not isinstance(value, types) or isinstance(value, bool) != (kind is bool):
            raise ValueError(f"{title} {value!r}; legal: {words}")
        items = (value,)
    if any(isinstance(item, float) and not math.isfinite(item) for item in items):
        raise ValueError(f"{title} {value}; legal: finite numbers")
    if any(isinstance(item, int) and abs(item) > MOST for item in items):
        raise ValueError(f"{title} {value}; legal: up to {MOST}")
    if legal is not None and not all(map(legal.holds, items)):
        shown = f"unknown {title} {value!r}" if isinstance(legal, Choice) else f"{title} {value}"
        raise ValueError(f"{shown}; legal: {legal}")


def _check_tuple(title: str, value: Any, kinds: tuple[Any, ...]) -> None:
    is_pair = len(kinds) == 2 and kinds[1] is not Ellipsis
    types, _ = KINDS[kinds[0]]
    is_good = isinstance(value, tuple) and all(
        isinstance(item, types) and not isinstance(item, bool) for item in value
    )
    if not is_good or (is_pair and len(value) != 2):
        raise ValueError(f"{title} {value!r}; legal: {'a pair of numbers' if is_pair else 'words'}")
