"""Other people's environments: anything of Gymnasium's that signals milestones.

By name (`find.py`) -> held to the contract (`contract.py`) -> many of them (`vectorising.py`) ->
what agents take (`lanes.py`). `milestones.py` has wrappers for environments that signal none.
"""
