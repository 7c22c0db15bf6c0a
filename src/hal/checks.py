"""Refusals of bad input, in one line that names the value and the legal ones."""

from collections.abc import Sequence

import numpy as np


def check_whole_number(name: str, value: object, least: int, most: int | None = None) -> None:
    """Refuse what is not a whole number from `least` on, to `most` if there is such a bound."""
    is_bool, end = isinstance(value, bool), "" if most is None else f" to {most}"
    if is_bool or not isinstance(value, int | np.integer) or not least <= value <= (most or value):
        raise ValueError(f"{name} {value!r}; legal: whole numbers from {least}{end}")


def check_choice(name: str, value: object, legal: Sequence[object]) -> None:
    """Refuse what is not among the legal values."""
    if value not in legal:
        raise ValueError(f"unknown {name} {value!r}; legal: {', '.join(map(repr, legal))}")


def printable(text: str) -> str:
    """Return a text in one line that commands no terminal: what is not to be seen, as its code."""
    line = (" " if sign.isspace() else sign for sign in text)
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line)


def checked_seeds(seed: object, num_lanes: int) -> list[int | None]:
    """Return a seed per lane: a number counts up from lane to lane, a sequence has one for each."""
    if seed is None:
        return [None] * num_lanes
    if not isinstance(seed, Sequence | np.ndarray) or isinstance(seed, str):
        check_whole_number("seed", seed, 0)
        assert isinstance(seed, int | np.integer)
        return [int(seed) + lane for lane in range(num_lanes)]
    if len(seed) != num_lanes:
        raise ValueError(f"{len(seed)} seeds; legal: one number, or {num_lanes} of them")
    for lane_seed in seed:
        if lane_seed is not None:
            check_whole_number("seed", lane_seed, 0)
    return [None if lane_seed is None else int(lane_seed) for lane_seed in seed]
