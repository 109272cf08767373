"""Greedy episodes of trained agents, in which nothing is learned."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from on_the_host import OnTheHost

import langevin_dqn
from langevin_dqn import UserError

#: One buffer size for all, so that runs of any length share a program.
SMALL = {"hidden": (5,), "batch_size": 8, "buffer_size": 40}

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.mark.parametrize("kind", [str, pytest.param(OnTheHost, marks=pytest.mark.slow)])
def test_evaluation_is_greedy_and_learns_nothing(kind):
    env = kind("probe_action")
    trained = langevin_dqn.train(
        "dqn", env, preset="paper", episodes=150, epsilon=1.0, keep_agent=True, **SMALL
    ).trained
    before = jax.tree.map(np.asarray, trained.state)
    returns = langevin_dqn.evaluate(trained, env, episodes=30)
    assert returns.tolist() == [1.0] * 30  # with its ε of 1, half of them
    jax.tree.map(np.testing.assert_array_equal, before, jax.tree.map(np.asarray, trained.state))


@pytest.mark.parametrize("kind", [pytest.param(str, marks=pytest.mark.slow), OnTheHost])
def test_evaluation_draws_a_member_per_episode(kind):
    """Two members that want different actions share the episodes between them."""
    env = kind("probe_action")
    changes = {"members": 2, "prior_scale": 0.0, "updates_per_step": 0}
    trained = langevin_dqn.train(
        "boot_dqn", env, preset="paper", episodes=1, keep_agent=True, **changes, **SMALL
    ).trained
    bias = trained.state.learner.params[1][1][-1][1]
    wishes = bias.at[:].set(np.array([[100.0, 0.0], [0.0, 100.0]]))
    first, (inner, layers) = trained.state.learner.params
    params = first, (inner, [*layers[:-1], (layers[-1][0], wishes)])
    learner = trained.state.learner._replace(params=params)
    divided = replace(trained, state=trained.state._replace(learner=learner))
    returns = langevin_dqn.evaluate(divided, env, episodes=60)
    assert set(returns.tolist()) == {-1.0, 1.0}
    assert abs(returns.mean()) < 0.6  # 4.6 standard errors
    np.testing.assert_array_equal(returns, langevin_dqn.evaluate(divided, env, episodes=60))
    assert not np.array_equal(returns, langevin_dqn.evaluate(divided, env, episodes=60, seed=1))


def test_the_agent_is_kept_only_on_request():
    assert langevin_dqn.train("dqn", "probe_action", preset="paper", episodes=1, **SMALL).trained is None
    with pytest.raises(UserError, match="out of range"):
        langevin_dqn.evaluate(None, "probe_action", episodes=0)
