"""Measurements of speed and of learning, run with `make bench-...`."""
