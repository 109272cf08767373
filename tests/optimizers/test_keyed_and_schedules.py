"""Schedules for every setting, an optimizer that keeps its key, and arguments that are refused."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import langevin_dqn
from langevin_dqn import UserError, keyed, langevin_adam, langevin_sgd

GRADIENT = {"w": jnp.array([0.3, -2.0, 0.0]), "b": jnp.ones(2)}


def key(seed=0):
    return jax.random.key(seed)


def walk(optimizer, steps=4, **arguments):
    state, moves = optimizer.init(GRADIENT), []
    for step in range(steps):
        move, state = optimizer.update(GRADIENT, state, key=key(step), num_data=10, **arguments)
        moves.append(move)
    return moves


def same(left, right):
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        np.testing.assert_array_equal(a, b)


SETTINGS = {"learning_rate": 0.1, "noise_variance": 0.5, "b1": 0.8, "b2": 0.95, "eps": 1e-3}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_constant_schedule_is_the_constant(name):
    for before, now in zip(
        walk(langevin_adam(**SETTINGS)),
        walk(langevin_adam(**SETTINGS | {name: lambda count: jnp.float32(SETTINGS[name])})),
        strict=True,
    ):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-6), before, now)


@pytest.mark.parametrize("make", [langevin_sgd, langevin_adam])
def test_a_schedule_of_the_noise_is_read_at_every_update(make):
    """σ_w² of 0, then of 2: the first update is the one without noise, the second the one of a constant 2."""
    scheduled = walk(make(0.1, lambda count: jnp.where(count == 0, 0.0, 2.0)), 2)
    same(scheduled[0], walk(make(0.1, 0.0), 1)[0])
    same(scheduled[1], walk(make(0.1, 2.0), 2)[1])


def test_optax_schedules_fit():
    optimizer = langevin_adam(optax.cosine_decay_schedule(1e-2, 10), optax.linear_schedule(1e-2, 0.0, 10))
    assert all(np.isfinite(leaf).all() for move in walk(optimizer, 12) for leaf in jax.tree.leaves(move))


def test_keyed_splits_its_key_and_keeps_the_data_size():
    inner = langevin_adam(0.1, 0.5)
    optimizer = keyed(inner, key=key(7), num_data=10)
    state, by_hand, following = optimizer.init(GRADIENT), inner.init(GRADIENT), key(7)
    for size in (10, 10, 25):
        move, state = optimizer.update(GRADIENT, state, GRADIENT, **({} if size == 10 else {"num_data": size}))
        following, now = jax.random.split(following)
        expected, by_hand = inner.update(GRADIENT, by_hand, key=now, num_data=jnp.float32(size))
        same(move, expected)
    assert float(state.num_data) == 25


def test_keyed_runs_in_a_chain_under_jit_and_with_an_old_key():
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0), keyed(langevin_sgd(0.1, 0.5), key=jax.random.PRNGKey(0), num_data=10)
    )
    state = optimizer.init(GRADIENT)
    moves = []
    for _ in range(2):
        move, state = jax.jit(optimizer.update)(GRADIENT, state)
        moves.append(np.asarray(move["w"]))
    assert not np.array_equal(*moves)


@pytest.mark.parametrize("make", [langevin_sgd, langevin_adam])
@pytest.mark.parametrize("num_data", [0, -3, 0.5, None, "many", np.float32(0), jnp.zeros(()), float("nan")])
def test_a_data_size_below_one_is_refused(make, num_data):
    optimizer = make(0.1, 0.5)
    with pytest.raises(UserError, match=r"num_data=.* must be at least 1"):
        optimizer.update(GRADIENT, optimizer.init(GRADIENT), key=key(), num_data=num_data)


@pytest.mark.parametrize("make", [langevin_sgd, langevin_adam])
@pytest.mark.parametrize("wrong", [None, 0, "key", jnp.zeros(3), jax.random.split(jax.random.key(0), 2)])
def test_what_is_no_key_is_refused_under_jit_too(make, wrong):
    optimizer = make(0.1, 0.5)
    state = optimizer.init(GRADIENT)
    with pytest.raises(UserError, match="key must be one random key"):
        optimizer.update(GRADIENT, state, key=wrong, num_data=10)
    with pytest.raises(UserError, match="key must be one random key"):
        jax.jit(lambda g, s: optimizer.update(g, s, key=wrong, num_data=10))(GRADIENT, state)


def test_a_traced_data_size_and_a_batch_of_keys_under_vmap_stay_possible():
    optimizer = langevin_dqn.langevin_adam(0.1, 0.5)
    state = optimizer.init(GRADIENT)
    keys = jax.random.split(key(), 3)
    moves = jax.jit(jax.vmap(lambda k, n: optimizer.update(GRADIENT, state, key=k, num_data=n)[0], (0, 0)))(
        keys, jnp.array([1.0, 10.0, jnp.inf])
    )
    assert moves["w"].shape == (3, 3)
