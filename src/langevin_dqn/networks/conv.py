"""Convolutions for pictures."""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import lax

from langevin_dqn.environments.base import ArraySpace
from langevin_dqn.networks.base import BaseNetwork, as_numbers, random_weights
from langevin_dqn.networks.mlp import MLP

_CHANNELS = (16, 32)


@dataclass(frozen=True)
class Conv(BaseNetwork):
    """Two 3×3 convolutions of stride 2 with 16 and 32 channels, then an ``MLP``.

    A picture has its channels last, (H, W, C).

    Attributes:
        hidden: units of each hidden layer behind the convolutions.
        negative_slope: as in ``MLP``.
    """

    hidden: tuple[int, ...] = (50, 50)
    negative_slope: float = 0.0

    @property
    def _dense(self) -> MLP:
        return MLP(self.hidden, self.negative_slope)

    def init(self, key, space, num_actions):
        height, width, *channels = space.shape
        channels += _CHANNELS
        dense_key, *keys = jax.random.split(key, len(channels))
        filters = [
            (random_weights(k, 9 * i, o).reshape(3, 3, i, o), jnp.zeros(o))
            for k, i, o in zip(keys, channels[:-1], channels[1:], strict=True)
        ]
        shrunk = math.prod(math.ceil(side / 2 ** len(filters)) for side in (height, width))
        return filters, self._dense.init(dense_key, ArraySpace((shrunk * channels[-1],)), num_actions)

    def scaled(self, params, factor):
        """Parameters that give the values times ``factor``."""
        filters, rest = params
        return filters, self._dense.scaled(rest, factor)

    def apply(self, params, obs, index=None):
        del index
        filters, rest = params
        x = as_numbers(obs)[None]
        for weights, bias in filters:
            x = lax.conv_general_dilated(x, weights, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias
            x = jnp.where(x >= 0, x, self.negative_slope * x)
        return self._dense.apply(rest, x)
