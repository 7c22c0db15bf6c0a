"""Single key presses from a terminal, or from a pipe, under the names that a window gives them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
NAMES = {" ": "space", "\n": "return", "\r": "return", "\x03": "quit", "\x04": "quit"}


@contextmanager
def read_keys() -> Iterator[Iterator[str]]:
    """Give the keys as they are pressed, until the input ends; a terminal does not echo them."""
    try:
        import termios  # noqa: PLC0415 (not on Windows)
        import tty  # noqa: PLC0415
    except ImportError:
        yield _keys()
        return
    if not sys.stdin.isatty():
        yield _keys()
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield _keys()
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _keys() -> Iterator[str]:
    while character := sys.stdin.read(1):
        if character == "\x1b":  # an arrow comes as ESC [ A
            character = sys.stdin.read(1)
            if character == "[":
                yield ARROWS.get(sys.stdin.read(1), "")
                continue
            yield "escape"
        yield NAMES.get(character, character.lower())
