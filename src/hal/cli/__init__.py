"""The command `hal`: what a command line asks for, one small function per command.

On top of all rooms: it reads arguments, calls `runs`, `viewer` or `experiments`, and prints. Nobody
uses it but the console script.
"""

from hal.cli.entry import main

__all__ = ["main"]
