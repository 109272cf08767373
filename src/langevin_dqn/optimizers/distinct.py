"""Which indices of a list are distinct, by writing and reading back: no sort, no hash."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


class Distinct(NamedTuple):
    """The distinct values of a list of indices, by where they occur last: from the list's end to its start.

    Attributes:
        values: the distinct ones, in the first places; ``limit`` behind them.
        slot: for each item of the list, where its value stands in ``values``.
        tail: how many values occur in the list from each item on; the first is the number of all.
    """

    values: jax.Array
    slot: jax.Array
    tail: jax.Array


def distinct(index: jax.Array, scratch: jax.Array) -> tuple[Distinct, jax.Array]:
    """The distinct values of ``index``, and the scratch memory used.

    Args:
        index: integers in [0, limit).
        scratch: int32 of length ``limit``, all -1; given back as it was taken.
    """
    places = jnp.arange(index.size, dtype=jnp.int32)
    scratch = scratch.at[index].max(places)  # the last item of a value speaks for it
    speaker = scratch[index]
    speaks = speaker == places
    count = lax.cumsum(speaks.astype(jnp.int32), reverse=True)
    values = jnp.full(index.size, scratch.size, index.dtype)
    values = values.at[jnp.where(speaks, count - 1, index.size)].set(index)
    return Distinct(values, count[speaker] - 1, count), scratch.at[index].set(-1)


def sum_by_slot(slot: jax.Array, items: jax.Array, scratch: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Each item's sum over the items of the same slot, and the scratch memory used."""
    scratch = scratch.at[slot].set(jnp.arange(slot.size, dtype=jnp.int32))
    speaker = scratch[slot]
    return jnp.zeros_like(items).at[speaker].add(items)[speaker], scratch
