"""Value networks: pure functions, written for one observation."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn.environments.base import IndexSpace, Space

Params = Any


class Network(NamedTuple):
    """A network is an ``(init, apply)`` pair; ``vmap`` adds batches and members.

    Attributes:
        init: ``init(key, space, num_actions) -> params``.
        apply: ``apply(params, obs) -> q``, one value per action.
        head: set where the first layer is a row lookup for index observations. Then
            ``params`` is a pair ``(rows, rest)`` and ``apply((rows, rest), obs)`` equals
            ``head(rest, rows[obs])``, so that an optimizer may treat rows one by one.
    """

    init: Callable[[jax.Array, Space, int], Params]
    apply: Callable[[Params, jax.Array], jax.Array]
    head: Callable[[Params, jax.Array], jax.Array] | None = None


@lru_cache  # equal settings give the same object, so that jit does not compile again
def mlp(hidden: tuple[int, ...] = (50, 50), negative_slope: float = 0.0) -> Network:
    """A multilayer perceptron with (leaky) ReLU units.

    Weights start as truncated normals of scale 1/sqrt(fan-in), biases at zero, as in the
    authors' code; the paper does not say. For an index, the first layer's product with the
    one-hot vector is a row of its weights.

    Args:
        hidden: units of each hidden layer.
        negative_slope: 0 for ReLU, 0.1 for the paper's LeakyReLU.
    """

    def init(key, space, num_actions):
        fan_in = space.n if isinstance(space, IndexSpace) else math.prod(space.shape)
        sizes = (fan_in, *hidden, num_actions)
        keys = jax.random.split(key, len(sizes) - 1)
        weights = [_weights(k, i, o) for k, i, o in zip(keys, sizes[:-1], sizes[1:], strict=True)]
        biases = [jnp.zeros(o) for o in sizes[1:]]
        return weights[0], (biases[0], list(zip(weights[1:], biases[1:], strict=True)))

    def head(rest, row):
        bias, layers = rest
        x = row + bias
        for weights, b in layers:  # a unit at exactly 0 passes its gradient on
            x = jnp.where(x >= 0, x, negative_slope * x) @ weights + b
        return x

    def apply(params, obs):
        rows, rest = params
        if jnp.issubdtype(obs.dtype, jnp.integer):
            return head(rest, rows[jnp.minimum(obs, rows.shape[0] - 1)])
        return head(rest, obs.reshape(-1) @ rows)

    return Network(init, apply, head)


def _weights(key: jax.Array, fan_in: int, fan_out: int) -> jax.Array:
    return jax.random.truncated_normal(key, -2, 2, (fan_in, fan_out)) / math.sqrt(fan_in)
