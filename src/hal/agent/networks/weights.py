"""Weights of networks by name."""

from torch import Tensor, nn


def named(prefix: str, network: nn.Module) -> dict[str, Tensor]:
    """Return a network's weights, their names under a prefix."""
    return {f"{prefix}.{name}": tensor for name, tensor in network.state_dict().items()}


def load_named(prefix: str, network: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Set a network's weights from those under a prefix."""
    network.load_state_dict(below(prefix, tensors))


def below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors under a prefix, by the rest of their names."""
    start = f"{prefix}."
    return {name[len(start) :]: t for name, t in tensors.items() if name.startswith(start)}
