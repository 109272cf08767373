"""What the authors' released code does otherwise than the paper, where it needs code of its own.

Most differences are plain settings (``presets.py``). A prior network that takes Langevin noise is
not: in the authors' code the prior is among the variables that the optimizer moves, with its gradient
stopped, so that only the noise reaches it.
"""

from dataclasses import dataclass
from typing import Any

import jax
from jax import lax

from langevin_dqn.config import AgentConfig
from langevin_dqn.networks.base import BaseNetwork, Network, values


@dataclass(frozen=True)
class MovingPrior(BaseNetwork):
    """A network plus a scaled prior of the same kind, which takes noise but no gradient.

    Attributes:
        network: the network.
        scale: of the prior's values.
    """

    network: Network
    scale: float

    def init(self, key, space, num_actions):
        own_key, prior_key = jax.random.split(key)
        return {
            "network": self.network.init(own_key, space, num_actions),
            "prior": self.network.init(prior_key, space, num_actions),
        }

    def apply(self, params, obs, index=None):
        prior = values(self.network, lax.stop_gradient(params["prior"]), obs, index)
        return values(self.network, params["network"], obs, index) + self.scale * prior

    def index(self, key):
        draw = getattr(self.network, "index", None)
        return None if draw is None else draw(key)


def is_prior(params: dict[str, Any]) -> dict[str, Any]:
    """True for the parameters of a moving prior, which no penalty pulls."""
    return {
        "network": jax.tree.map(lambda _: False, params["network"]),
        "prior": jax.tree.map(lambda _: True, params["prior"]),
    }


def prior_moves(config: AgentConfig) -> bool:
    return config.prior_noise and config.prior_scale > 0 and config.noise_variance > 0
