"""Settings: groups with their ranges, presets, names, and the files that hold them.

A config is made before anything else, and each class is given its group of it. Config knows which
tasks there are from `envs`; the agent and all rooms above it use config.
"""
