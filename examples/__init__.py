"""Environments to learn from: see docs/tutorial.md."""
