"""Methods in other people's environments: `make bench-others`.

`testbeds.py` says where, `running.py` does one run, `measures.py` says what it is worth,
`tables.py` and `curves.py` show all of them. `--dry-run` tells what is left to do, and its cost.
"""
