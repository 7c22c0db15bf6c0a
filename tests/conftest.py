"""Tests run without a screen, and torch on one thread, as training does."""

import os

import torch

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
torch.set_num_threads(1)
