"""The noisy network: its noise has the published distribution, and the agent acts on one draw per episode."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from noisy_dqn import NoisyMLP, make

import langevin_dqn
from langevin_dqn.environments import ArraySpace, IndexSpace
from langevin_dqn.networks import MLP, BaseNetwork


def test_noise_is_factorised():
    """Of a linear network: weight w has the noise scale·f(a)·f(b) with f(x) = sgn(x)√|x|, the bias scale·f(b)."""
    network = NoisyMLP(hidden=(), sigma=2.0)
    ((mean, scale),) = params = network.init(jax.random.key(0), ArraySpace((4,)), 3)
    assert np.allclose(scale, 2.0 / np.sqrt(4))
    draws = jax.vmap(network.index)(jax.random.split(jax.random.key(1), 20_000))
    outputs = jax.jit(jax.vmap(network.apply, (None, None, 0)))
    bias, first = (np.asarray(outputs(params, jnp.eye(1, 4, 0)[0] * at, draws), float) for at in (0, 1))
    spread = float(scale[0, 0]) ** 2 * np.sqrt(2 / np.pi)  # E f(x)² = E|x|
    assert np.allclose(bias.mean(0), mean[-1], atol=0.05)
    assert np.allclose(bias.var(0), spread, rtol=0.05)
    weight = first - bias
    assert np.allclose(weight.mean(0), mean[0], atol=0.05)
    assert np.allclose(weight.var(0), spread * np.sqrt(2 / np.pi), rtol=0.05)
    ratio = (weight - np.asarray(mean[0])) / (bias - np.asarray(mean[-1]))  # the input's noise, which outputs share
    assert np.allclose(ratio, ratio[:, :1], rtol=0.05, atol=0.05)


def test_an_index_is_a_one_hot_row():
    network = NoisyMLP((3,), 0.5)
    params = network.init(jax.random.key(0), IndexSpace(5), 2)
    key = jax.random.key(1)
    assert np.array_equal(network.apply(params, jnp.int32(2), key), network.apply(params, jnp.eye(5)[2], key))


def test_one_draw_per_episode():
    agent = make(hidden=(4,))
    state = agent.init(langevin_dqn.run_key(0), IndexSpace(5), 2, 10)
    one, same, other = (agent.begin_episode(langevin_dqn.run_key(seed), state) for seed in (1, 1, 2))
    values = [np.asarray(agent.values(s, jnp.int32(1))) for s in (one, same, other)]
    assert np.array_equal(values[0], values[1])
    assert not np.array_equal(values[0], values[2])


@pytest.mark.slow
def test_learns_a_small_sea_and_its_scales():
    result = langevin_dqn.train(make(), "deep_sea:depth=4", seed=0, episodes=200, keep_agent=True)
    assert result.solved
    assert langevin_dqn.evaluate(result.trained, "deep_sea:depth=4").min() > 0.9
    scales = [scale for _, scale in result.trained.state.learner.params]
    assert all(np.ptp(scale) > 1e-3 for scale in scales)


class IndexedRows(MLP):
    """A network with rows and with an index."""

    def index(self, key):
        return jax.random.normal(key)

    def apply(self, params, obs, index=None):
        return super().apply(params, obs) + index


def test_a_network_with_rows_does_not_lose_its_index():
    config = langevin_dqn.preset("dqn", "paper", epsilon=0.0, hidden=(4,))
    agent = langevin_dqn.make_agent(config, IndexedRows((4,)), IndexSpace(5))
    assert agent.choice.kind == "dense"
    state = agent.begin_episode(langevin_dqn.run_key(3), agent.init(langevin_dqn.run_key(0), IndexSpace(5), 2, 10))
    plain = MLP((4,)).apply(jax.tree.map(lambda x: x[0], state.learner.params), jnp.int32(1))
    assert np.allclose(agent.values(state, jnp.int32(1)), plain + state.index[0], atol=1e-6)
    assert isinstance(agent.network, BaseNetwork)
    with pytest.raises(langevin_dqn.UserError, match="row_updates=lazy needs"):
        langevin_dqn.make_agent(config.replace(row_updates="lazy"), IndexedRows((4,)), IndexSpace(5))
