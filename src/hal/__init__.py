"""Hierarchical Affordance Learning: environments, agents, experiments."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hal.envs.grid import ENV_IDS

if TYPE_CHECKING:
    from hal.config.presets import make_config
    from hal.config.settings import Config
    from hal.envs.grid.single import GridEnv
    from hal.envs.grid.vector import GridVectorEnv
    from hal.runs.checkpoint import load, load_pretrained
    from hal.runs.evaluation import evaluate
    from hal.runs.policy import Policy
    from hal.runs.training import train

__version__ = "0.1.0"
__all__ = [
    "ENV_IDS",
    "Config",
    "GridEnv",
    "GridVectorEnv",
    "Policy",
    "__version__",
    "evaluate",
    "load",
    "load_pretrained",
    "make_config",
    "train",
]
# Found on demand: who only wants the environments need not wait for torch, nor others for numba.
_LAZY = {
    "Config": "hal.config.settings",
    "GridEnv": "hal.envs.grid.single",
    "GridVectorEnv": "hal.envs.grid.vector",
    "Policy": "hal.runs.policy",
    "evaluate": "hal.runs.evaluation",
    "load": "hal.runs.checkpoint",
    "load_pretrained": "hal.runs.checkpoint",
    "make_config": "hal.config.presets",
    "train": "hal.runs.training",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'hal' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
