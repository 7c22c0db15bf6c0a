"""The agents: HAL, its baselines and ablations, all presets of two classes.

An agent gets observations from lanes of `envs`, answers with actions, and learns; `runs` trains
and asks it. It knows no environment, no file and no screen.
"""
