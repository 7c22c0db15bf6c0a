"""Methods in other people's environments: `make bench-others`.

`testbeds.py` says where, `running.py` does one run, `jobs.py` all, `measures.py` says their worth,
`tables.py` and `curves.py` show all of them. `--dry-run` tells what is left to do, and its cost.
"""
