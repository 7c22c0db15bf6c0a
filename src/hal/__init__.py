"""Hierarchical Affordance Learning: environments, agents, experiments."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hal.envs import ENV_IDS, GridEnv, GridVectorEnv

if TYPE_CHECKING:
    from hal.checkpoint import load, load_pretrained
    from hal.config import Config
    from hal.evaluation import evaluate
    from hal.policy import Policy
    from hal.presets import make_config
    from hal.training import train

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
# Found on demand: who only wants the environments need not wait for torch.
_LAZY = {
    "Config": "hal.config",
    "Policy": "hal.policy",
    "evaluate": "hal.evaluation",
    "load": "hal.checkpoint",
    "load_pretrained": "hal.checkpoint",
    "make_config": "hal.presets",
    "train": "hal.training",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'hal' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
