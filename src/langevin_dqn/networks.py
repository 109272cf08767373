"""Value networks: pure functions, written for one observation."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from langevin_dqn.environments.base import ArraySpace, FeatureSpace, IndexSpace, Space

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


def is_index(obs: jax.Array) -> bool:
    """True for an index of a finite state space, false for numbers and for pixels."""
    return jnp.issubdtype(obs.dtype, jnp.integer) and obs.dtype != jnp.uint8


def _numbers(obs: jax.Array) -> jax.Array:
    return obs.astype(jnp.float32) / 255 if obs.dtype == jnp.uint8 else obs


def network_for(space: Space | None, hidden: tuple[int, ...], negative_slope: float) -> Network:
    """What sees ``space`` best by default: pictures (H, W, C) through convolutions, all else through an MLP."""
    if isinstance(space, FeatureSpace):
        return per_action(hidden, negative_slope)
    is_picture = isinstance(space, ArraySpace) and len(space.shape) == 3
    return (convolutional if is_picture else mlp)(hidden, negative_slope)


@lru_cache  # equal settings give the same object, so that jit does not compile again
def mlp(hidden: tuple[int, ...] = (50, 50), negative_slope: float = 0.0) -> Network:
    """A multilayer perceptron with (leaky) ReLU units.

    Weights start as truncated normals of scale 1/sqrt(fan-in), biases at zero, as in the
    authors' code; the paper does not say. For an index, the first layer's product with the
    one-hot vector is a row of its weights.

    Args:
        hidden: units of each hidden layer; without any the network is linear, for an index a table.
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
        if is_index(obs):
            return head(rest, rows[jnp.minimum(obs, rows.shape[0] - 1)])
        return head(rest, _numbers(obs).reshape(-1) @ rows)

    return Network(init, apply, head)


@lru_cache
def per_action(hidden: tuple[int, ...] = (), negative_slope: float = 0.0) -> Network:
    """One function of an action's own features, the same for all actions.

    The last layer has no bias, which would move all actions alike: without hidden layers an
    action's value is the product of its features and the weights.

    Args:
        hidden: units of each hidden layer.
        negative_slope: as in :func:`mlp`.
    """
    inner = mlp(hidden[:-1], negative_slope) if hidden else None

    def init(key, space, num_actions):
        del num_actions
        inner_key, last_key = jax.random.split(key)
        features = space.shape[1]
        if inner is None:
            return None, _weights(last_key, features, 1)[:, 0]
        return inner.init(inner_key, ArraySpace((features,)), hidden[-1]), _weights(last_key, hidden[-1], 1)[:, 0]

    def apply(params, obs):
        below, last = params
        if inner is not None:
            obs = jax.vmap(inner.apply, (None, 0))(below, obs)
            obs = jnp.where(obs >= 0, obs, negative_slope * obs)
        return obs @ last

    return Network(init, apply)


_CHANNELS = (16, 32)


@lru_cache
def convolutional(hidden: tuple[int, ...] = (50, 50), negative_slope: float = 0.0) -> Network:
    """Two 3×3 convolutions of stride 2 with 16 and 32 channels, then :func:`mlp`.

    A picture has its channels last, (H, W, C); they are not looked for anywhere else.

    Args:
        hidden: units of each hidden layer behind the convolutions.
        negative_slope: as in :func:`mlp`.
    """
    dense = mlp(hidden, negative_slope)

    def init(key, space, num_actions):
        height, width, *channels = space.shape
        channels += _CHANNELS
        dense_key, *keys = jax.random.split(key, len(channels))
        filters = [
            (_weights(k, 9 * i, o).reshape(3, 3, i, o), jnp.zeros(o))
            for k, i, o in zip(keys, channels[:-1], channels[1:], strict=True)
        ]
        shrunk = math.prod(math.ceil(side / 2 ** len(filters)) for side in (height, width))
        return filters, dense.init(dense_key, ArraySpace((shrunk * channels[-1],)), num_actions)

    def apply(params, obs):
        filters, rest = params
        x = _numbers(obs)[None]
        for weights, bias in filters:
            x = lax.conv_general_dilated(x, weights, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias
            x = jnp.where(x >= 0, x, negative_slope * x)
        return dense.apply(rest, x)

    return Network(init, apply)


def _weights(key: jax.Array, fan_in: int, fan_out: int) -> jax.Array:
    return jax.random.truncated_normal(key, -2, 2, (fan_in, fan_out)) / math.sqrt(fan_in)
