"""`python -m hal` is `hal`."""

from hal.cli import main

main()
