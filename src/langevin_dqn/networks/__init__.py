"""Value networks: frozen dataclasses of pure functions, written for one observation."""

from langevin_dqn.environments.base import ArraySpace, FeatureSpace, Space
from langevin_dqn.networks.base import BaseNetwork, Network
from langevin_dqn.networks.conv import Conv
from langevin_dqn.networks.mlp import MLP
from langevin_dqn.networks.per_action import PerAction

__all__ = ["MLP", "BaseNetwork", "Conv", "Network", "PerAction", "network_for"]


def network_for(space: Space | None, hidden: tuple[int, ...], negative_slope: float) -> Network:
    """The default network: ``PerAction`` for a feature space, ``Conv`` for images (H, W, C), otherwise ``MLP``."""
    if isinstance(space, FeatureSpace):
        return PerAction(hidden, negative_slope)
    is_picture = isinstance(space, ArraySpace) and len(space.shape) == 3
    return Conv(hidden, negative_slope) if is_picture else MLP(hidden, negative_slope)
