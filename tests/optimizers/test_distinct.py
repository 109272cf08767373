"""Distinct indices and sums by slot, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from langevin_dqn.optimizers.distinct import distinct, sum_by_slot

LIMIT, SIZE = 9, 12
found_in = jax.jit(distinct)
summed = jax.jit(sum_by_slot)
lists = st.lists(st.integers(0, LIMIT - 1), min_size=SIZE, max_size=SIZE)


@settings(max_examples=200, deadline=None)
@given(lists)
def test_distinct_values_slots_and_counts(items):
    index = np.array(items)
    found, scratch = found_in(jnp.asarray(index), jnp.full(LIMIT, -1, jnp.int32))
    total = int(found.tail[0])
    values = np.asarray(found.values)
    assert sorted(values[:total]) == sorted(set(items))
    assert (values[total:] == LIMIT).all()
    np.testing.assert_array_equal(values[np.asarray(found.slot)], index)
    for start in range(SIZE):  # values of any tail of the list stand first
        assert set(values[: int(found.tail[start])]) == set(items[start:])
    assert (np.asarray(scratch) == -1).all()


@settings(max_examples=100, deadline=None)
@given(lists, st.integers(0, 2**31))
def test_sums_by_slot(items, seed):
    slot = np.array(items)
    values = np.random.default_rng(seed).normal(size=(SIZE, 3))
    expected = np.array([values[slot == s].sum(0) for s in slot])
    got, _ = summed(jnp.asarray(slot), jnp.asarray(values, jnp.float32), jnp.zeros(LIMIT, jnp.int32))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
