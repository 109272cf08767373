"""The Langevin optimizers for loops that call ``update(grads, state, params)`` and nothing more."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from langevin_dqn.optimizers.langevin import check_key, check_num_data


class KeyedState(NamedTuple):
    """What ``keyed`` keeps.

    Attributes:
        key: the words of the next update's key, from which it is split.
        num_data: |D|.
        inner: the optimizer's own state.
    """

    key: jax.Array
    num_data: jax.Array
    inner: Any


def keyed(
    optimizer: optax.GradientTransformationExtraArgs, *, key: jax.Array, num_data: float
) -> optax.GradientTransformationExtraArgs:
    """A Langevin optimizer that keeps its key and |D| in its state, for loops such as Flax's ``TrainState``.

    Every update splits the key. |D| keeps its value until an update is given another ``num_data``, or until the state
    is replaced: ``state._replace(num_data=...)``. Members of an ensemble need a key each: put another into each
    member's state, or use the optimizer as it is.

    Args:
        optimizer: what ``langevin_sgd`` or ``langevin_adam`` returns.
        key: the first key.
        num_data: |D|.

    Examples:
        >>> import jax, jax.numpy as jnp, langevin_dqn
        >>> adam = langevin_dqn.langevin_adam(1e-3, noise_variance=1e-4)
        >>> optimizer = langevin_dqn.keyed(adam, key=jax.random.key(0), num_data=1_000)
        >>> params = jnp.zeros(3)
        >>> state = optimizer.init(params)
        >>> gradient = jnp.ones(3)
        >>> updates, state = optimizer.update(gradient, state, params)
        >>> updates, state = optimizer.update(gradient, state, params, num_data=1_001)
        >>> float(state.num_data)
        1001.0
    """
    check_key(key)
    check_num_data(num_data)
    typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    words = jax.random.key_data(key) if typed else key
    kind = jax.random.key_impl(key) if typed else None

    def init(params):
        return KeyedState(words, jnp.asarray(num_data, jnp.float32), optimizer.init(params))

    def update(updates, state, params=None, *, num_data=None, **extra):
        if num_data is None:
            num_data = state.num_data
        else:
            check_num_data(num_data)
        following, now = jax.random.split(jax.random.wrap_key_data(state.key, impl=kind))
        steps, inner = optimizer.update(updates, state.inner, params, key=now, num_data=num_data, **extra)
        return steps, KeyedState(jax.random.key_data(following), jnp.asarray(num_data, jnp.float32), inner)

    return optax.GradientTransformationExtraArgs(init, update)
