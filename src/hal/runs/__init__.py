"""The life of a run: training, evaluation, a folder on disk, checkpoints, metrics, a display.

It makes the environment and the agent of a config and has data go round between them. The rooms
above read its folders and play its agents (`policy.py`).
"""
