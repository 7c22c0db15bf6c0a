"""Networks: observations -> encoder -> torso -> heads, and how they are trained.

Two kinds: sums of embeddings (`embedding.py`), fast on a core, and the paper's convolutions
(`convolution.py`). Only the agent's own modules use them.
"""
