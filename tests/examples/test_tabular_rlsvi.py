"""RLSVI as an agent: it learns, and its draws have the posterior that ``insight.rlsvi`` computes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tabular_rlsvi import TabularRLSVI

import langevin_dqn
from langevin_dqn.agents import Step
from langevin_dqn.environments import ArraySpace, IndexSpace
from langevin_dqn.insight.rlsvi import Rlsvi


@pytest.mark.parametrize(("depth", "most"), [(6, 100), (10, 300)])
def test_learns_deep_sea_in_every_seed(depth, most):
    results = [
        langevin_dqn.train(
            TabularRLSVI(), f"deep_sea:depth={depth}", seed=seed, episodes=most, stop_when_solved=True, keep_agent=True
        )
        for seed in range(5)
    ]
    assert all(result.solved for result in results)
    returns = langevin_dqn.evaluate(results[0].trained, f"deep_sea:depth={depth}", episodes=20)
    assert (returns > 0.5).mean() >= 0.25


def observed(agent, steps):
    state = agent.init(jax.random.key(0), IndexSpace(2), 2, 10)
    for obs, action, reward, next_obs, terminated in steps:
        step = Step(
            jnp.int32(obs), jnp.int32(action), jnp.float32(reward), jnp.int32(next_obs), jnp.bool_(terminated), False
        )
        state = agent.observe(jax.random.key(0), state, step)
    return state


def test_draws_have_the_posterior():
    """Two periods, one state each: the last one's values are normal, the first one's follow from their maximum."""
    agent = TabularRLSVI(prior_variance=2.0, noise_variance=0.5)
    state = observed(agent, [(0, 1, 0.3, 1, False), (1, 0, 1.0, 0, True), (0, 1, 0.3, 1, False), (1, 0, 1.0, 0, True)])
    draw = jax.jit(jax.vmap(lambda key: agent.begin_episode(key, state).q))
    q = np.asarray(draw(jax.random.split(jax.random.key(1), 20_000)), float)
    model = Rlsvi(prior_variance=2.0, noise_variance=0.5)
    assert (q[:, 2] == 0).all()
    for action, visits in ((0, 2), (1, 0)):
        mean, variance = model.posterior(np.array(visits), np.array(1.0))
        assert q[:, 1, action].mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / 20_000))
        assert q[:, 1, action].var() == pytest.approx(variance, rel=0.05)
    mean, variance = model.posterior(np.array(2), 0.3 + q[:, 1].max(-1))  # given the draw of the next period
    rest = q[:, 0, 1] - mean
    assert rest.mean() == pytest.approx(0, abs=4 * np.sqrt(variance / 20_000))
    assert rest.var() == pytest.approx(variance, rel=0.05)
    assert q[:, 0, 0].var() == pytest.approx(2.0, rel=0.05)


def test_the_order_of_states_does_not_matter():
    """Backward induction over a chain whose states are numbered from its end to its start, or the other way."""
    agent, n = TabularRLSVI(noise_variance=1e-6), 5
    for numbers in (list(range(n)), list(range(n))[::-1]):
        state = agent.init(jax.random.key(0), IndexSpace(n), 1, 10)
        for i, at in enumerate(numbers):
            last = i == n - 1
            following = numbers[0] if last else numbers[i + 1]
            step = Step(jnp.int32(at), jnp.int32(0), jnp.float32(1), jnp.int32(following), jnp.bool_(last), False)
            state = agent.observe(jax.random.key(0), state, step)
        q = agent.begin_episode(jax.random.key(1), state).q
        np.testing.assert_allclose(q[jnp.array(numbers), 0], [5, 4, 3, 2, 1], atol=0.05)


def test_other_observations_are_refused():
    with pytest.raises(langevin_dqn.UserError, match="needs a finite state space"):
        TabularRLSVI().init(jax.random.key(0), ArraySpace((3,)), 2, 10)
    with pytest.raises(langevin_dqn.UserError, match="needs a finite state space"):
        langevin_dqn.train(TabularRLSVI(), "catch", episodes=1)
