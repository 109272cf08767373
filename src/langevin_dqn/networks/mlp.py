"""A multilayer perceptron."""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from langevin_dqn.environments.base import IndexSpace
from langevin_dqn.networks.base import BaseNetwork, as_numbers, is_index, random_weights


@dataclass(frozen=True)
class MLP(BaseNetwork):
    """A multilayer perceptron with (leaky) ReLU units.

    For an index observation the first layer's product with the one-hot vector is a row of its
    weights. Weights start as truncated normals of scale 1/sqrt(fan-in), biases at zero.

    Attributes:
        hidden: units of each hidden layer; without any the network is linear, for an index a table.
        negative_slope: 0 for ReLU, 0.1 for the paper's LeakyReLU.
    """

    hidden: tuple[int, ...] = (50, 50)
    negative_slope: float = 0.0

    def init(self, key, space, num_actions):
        fan_in = space.n if isinstance(space, IndexSpace) else math.prod(space.shape)
        sizes = (fan_in, *self.hidden, num_actions)
        keys = jax.random.split(key, len(sizes) - 1)
        weights = [random_weights(k, i, o) for k, i, o in zip(keys, sizes[:-1], sizes[1:], strict=True)]
        biases = [jnp.zeros(o) for o in sizes[1:]]
        return weights[0], (biases[0], list(zip(weights[1:], biases[1:], strict=True)))

    def head(self, rest, row):
        """The network behind the first layer."""
        bias, layers = rest
        x = row + bias
        for weights, b in layers:  # a unit at exactly 0 passes its gradient on
            x = jnp.where(x >= 0, x, self.negative_slope * x) @ weights + b
        return x

    def scaled(self, params, factor):
        """Parameters that give the values times ``factor``: the last layer's, times it."""
        rows, (bias, layers) = params
        if not layers:
            return jax.tree.map(lambda x: x * factor, (rows, (bias, layers)))
        weights, last_bias = layers[-1]
        return rows, (bias, [*layers[:-1], (weights * factor, last_bias * factor)])

    def apply(self, params, obs, index=None):
        del index
        rows, rest = params
        if is_index(obs):
            return self.head(rest, rows[jnp.minimum(obs, rows.shape[0] - 1)])
        return self.head(rest, as_numbers(obs).reshape(-1) @ rows)
