"""Convolutions for pictures."""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

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
        x = as_numbers(obs)
        for weights, bias in filters:
            x = convolve(x, weights) + bias
            x = jnp.where(x >= 0, x, self.negative_slope * x)
        return self._dense.apply(rest, x)


def convolve(x: jax.Array, weights: jax.Array) -> jax.Array:
    """A 3×3 convolution of stride 2 with zeros around the picture ("SAME"), as one product of patches and weights.

    In a compiled loop on a CPU, ``lax.conv_general_dilated`` takes 7 to 9 times as long
    (``tools/convolution_cost.py``).
    """
    height, width, _ = x.shape
    (rows, top), (columns, left) = (_patches_along(side) for side in (height, width))
    x = jnp.pad(x, (top, left, (0, 0)))
    patches = x[rows[:, None, :, None], columns[None, :, None, :]]
    return patches.reshape(len(rows), len(columns), -1) @ weights.reshape(-1, weights.shape[-1])


def _patches_along(side: int) -> tuple[np.ndarray, tuple[int, int]]:
    """Where the patches are along one side of the padded picture, (patches, 3), and the zeros before and after it."""
    count = math.ceil(side / 2)
    zeros = max(2 * count + 1 - side, 0)
    return 2 * np.arange(count)[:, None] + np.arange(3), (zeros // 2, zeros - zeros // 2)
