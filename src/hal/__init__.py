"""Hierarchical Affordance Learning: environments, agents, experiments."""

from hal.envs import ENV_IDS, GridEnv, GridVectorEnv

__version__ = "0.1.0"
__all__ = ["ENV_IDS", "GridEnv", "GridVectorEnv", "__version__"]
