"""One function of each action's own features."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from langevin_dqn.environments.base import ArraySpace
from langevin_dqn.networks.base import BaseNetwork, random_weights
from langevin_dqn.networks.mlp import MLP


@dataclass(frozen=True)
class PerAction(BaseNetwork):
    """One function of an action's own features, the same for all actions.

    The last layer has no bias, which would move all actions alike: without hidden layers an
    action's value is the product of its features and the weights.

    Attributes:
        hidden: units of each hidden layer.
        negative_slope: as in ``MLP``.
    """

    hidden: tuple[int, ...] = ()
    negative_slope: float = 0.0

    @property
    def _inner(self) -> MLP | None:
        return MLP(self.hidden[:-1], self.negative_slope) if self.hidden else None

    def init(self, key, space, num_actions):
        del num_actions
        inner_key, last_key = jax.random.split(key)
        features = space.shape[1]
        if self._inner is None:
            return None, random_weights(last_key, features, 1)[:, 0]
        below = self._inner.init(inner_key, ArraySpace((features,)), self.hidden[-1])
        return below, random_weights(last_key, self.hidden[-1], 1)[:, 0]

    def scaled(self, params, factor):
        """Parameters that give the values times ``factor``."""
        below, last = params
        return below, last * factor

    def apply(self, params, obs, index=None):
        del index
        below, last = params
        if self._inner is not None:
            obs = jax.vmap(self._inner.apply, (None, 0))(below, obs)
            obs = jnp.where(obs >= 0, obs, self.negative_slope * obs)
        return obs @ last
