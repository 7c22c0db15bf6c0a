"""Environments: the paper's two games in `grid`, other people's in `external`.

`observations.py` says what an agent reads in them, `lanes.py` what it asks of them. They know
nothing of agents; rooms above may use them, they use only `pictures`.
"""
