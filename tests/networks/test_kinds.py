"""The core's networks against NumPy, and their initial weights."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_agents import network

from langevin_dqn.environments.base import ArraySpace, FeatureSpace, IndexSpace
from langevin_dqn.networks import MLP, Conv, PerAction
from langevin_dqn.networks.base import random_weights


def numpy_of(tree):
    return jax.tree.map(lambda x: np.asarray(x, np.float64), tree)


@pytest.mark.parametrize("slope", [0.0, 0.1])
def test_an_mlp_is_numpys(slope):
    net, rng = MLP((5, 4), slope), np.random.default_rng(0)
    params = net.init(jax.random.key(0), ArraySpace((2, 3)), 3)
    params = jax.tree.map(lambda x: x + rng.normal(size=x.shape).astype(np.float32), params)
    for obs in rng.normal(size=(5, 2, 3)).astype(np.float32):
        np.testing.assert_allclose(
            net.apply(params, jnp.asarray(obs)), network(numpy_of(params), obs, slope), rtol=1e-4, atol=1e-5
        )


def test_a_row_is_the_one_hot_product_and_the_state_after_the_last_reads_the_last():
    net = MLP((5,))
    rows, rest = params = net.init(jax.random.key(0), IndexSpace(4), 2)
    for index in range(4):
        expected = network(numpy_of(params), np.eye(4)[index], 0.0)
        np.testing.assert_allclose(net.apply(params, jnp.int32(index)), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(net.apply(params, jnp.int32(index)), net.head(rest, rows[index]))
    np.testing.assert_array_equal(net.apply(params, jnp.int32(4)), net.apply(params, jnp.int32(3)))


def test_without_hidden_layers_an_mlp_is_a_table():
    params = MLP(()).init(jax.random.key(0), IndexSpace(4), 2)
    np.testing.assert_array_equal(MLP(()).apply(params, jnp.int32(2)), params[0][2])


def test_initial_weights():
    """Truncated normals at ±2, scaled by 1/√fan-in: std 0.8796/√fan-in, within 5 standard errors (level 6e-7)."""
    weights = np.asarray(random_weights(jax.random.key(0), 100, 400)) * 10
    assert np.abs(weights).max() <= 2
    assert weights.std() == pytest.approx(0.87962566, rel=5 * np.sqrt(0.5 / weights.size))
    _, (bias, layers) = MLP((5, 4)).init(jax.random.key(0), IndexSpace(3), 2)
    assert not any(np.asarray(b).any() for b in (bias, *(b for _, b in layers)))


def test_a_picture_is_convolved_twice():
    """Two 3×3 convolutions of stride 2 with padding, by loops in NumPy, then the MLP."""
    net = Conv((5,), 0.1)
    filters, dense = params = net.init(jax.random.key(0), ArraySpace((5, 6, 2)), 3)
    x = picture = np.random.default_rng(0).normal(size=(5, 6, 2)).astype(np.float32)
    for weights, bias in numpy_of(filters):
        height, width, _ = x.shape
        rows, columns = -(-height // 2), -(-width // 2)
        # "SAME": as much in all as makes ceil(side / 2) windows, the smaller half first.
        tops = [max((n - 1) * 2 + 3 - side, 0) for n, side in ((rows, height), (columns, width))]
        padded = np.pad(x, [(t // 2, t - t // 2) for t in tops] + [(0, 0)])
        out = np.zeros((rows, columns, weights.shape[-1]))
        for r in range(rows):
            for c in range(columns):
                out[r, c] = np.tensordot(padded[2 * r : 2 * r + 3, 2 * c : 2 * c + 3], weights, 3) + bias
        x = np.where(out >= 0, out, 0.1 * out)
    assert x.shape == (2, 2, 32)
    np.testing.assert_allclose(
        net.apply(params, jnp.asarray(picture)), network(numpy_of(dense), x, 0.1), rtol=1e-4, atol=1e-5
    )


def test_one_function_of_each_actions_features():
    space, rng = FeatureSpace((4, 3)), np.random.default_rng(0)
    obs = rng.normal(size=(4, 3)).astype(np.float32)
    linear = PerAction(())
    _, last = linear.init(jax.random.key(0), space, 4)
    np.testing.assert_allclose(linear.apply((None, last), jnp.asarray(obs)), obs @ np.asarray(last), rtol=1e-5)
    net = PerAction((5, 4), 0.1)
    below, last = net.init(jax.random.key(0), space, 4)
    hidden = np.array([network(numpy_of(below), row, 0.1) for row in obs])
    expected = np.where(hidden >= 0, hidden, 0.1 * hidden) @ np.asarray(last, np.float64)
    np.testing.assert_allclose(net.apply((below, last), jnp.asarray(obs)), expected, rtol=1e-4, atol=1e-5)
    order = [2, 0, 3, 1]
    np.testing.assert_allclose(net.apply((below, last), jnp.asarray(obs[order])), expected[order], rtol=1e-4, atol=1e-5)
