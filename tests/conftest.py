"""Tests run without a screen, torch on one thread, as training does, and a home of their own."""

import os
import tempfile

import torch

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
torch.set_num_threads(1)
_STATE = tempfile.TemporaryDirectory()  # goes with the process
os.environ["XDG_STATE_HOME"] = _STATE.name
