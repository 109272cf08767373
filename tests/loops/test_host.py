"""The loop for environments on the host, against the compiled one; budgets, checks and evaluation."""

import jax
import numpy as np
import pytest

import langevin_dqn
from langevin_dqn import UserError, make_env
from langevin_dqn.environments import HostEnvironment

#: One buffer size for all, so that runs of any length share a program.
SMALL = {"hidden": (5,), "batch_size": 8, "buffer_size": 40}

pytestmark = pytest.mark.usefixtures("quick_compilation")

reset = jax.jit(lambda env: env.reset(jax.random.key(0)))
step = jax.jit(lambda env, state, action: env.step(jax.random.key(0), state, action))


class OnTheHost:
    """A JAX environment behind the host's protocol; for those without randomness."""

    max_return = None

    def __init__(self, env_id):
        self.env = make_env(env_id)
        self.observation_space, self.num_actions = self.env.observation_space, self.env.num_actions

    def reset(self, seed=None):
        self.state, obs = reset(self.env)
        return np.asarray(obs)

    def step(self, action):
        self.state, obs, reward, terminated, truncated = step(self.env, self.state, np.int32(action))
        return np.asarray(obs), float(reward), bool(terminated), bool(truncated)

    def close(self):
        raise AssertionError("who passes a live environment closes it")


def test_the_two_kinds_are_told_apart():
    assert isinstance(OnTheHost("deep_sea:depth=4"), HostEnvironment)
    assert not isinstance(make_env("deep_sea:depth=4"), HostEnvironment)


@pytest.mark.parametrize(
    ("agent", "changes"),
    [
        ("dqn", {"epsilon": 0.5}),
        ("langevin_dqn", {"epsilon": 0.5, "row_updates": "sleeping", "regularizer": 0.0, "update_timing": "within"}),
    ],
)
def test_both_loops_make_the_same_run(agent, changes):
    env_id = "deep_sea:depth=4"
    runs = [
        langevin_dqn.train(agent, env, seed=2, episodes=40, keep_agent=True, **SMALL, **changes)
        for env in (env_id, OnTheHost(env_id))
    ]
    np.testing.assert_array_equal(runs[0].returns, runs[1].returns)
    np.testing.assert_array_equal(runs[0].lengths, runs[1].lengths)
    assert (runs[0].updates, runs[0].steps) == (runs[1].updates, runs[1].steps)
    assert len(set(runs[0].returns.tolist())) > 2, "a run in which nothing happens shows nothing"
    params = [jax.tree.leaves(run.trained.state.params) for run in runs]
    for compiled, on_host in zip(*params, strict=True):
        np.testing.assert_allclose(compiled, on_host, rtol=1e-3, atol=1e-4)


BOTH = pytest.mark.parametrize("kind", [str, OnTheHost])


@BOTH
def test_a_budget_of_steps(kind):
    """23 steps of a sea of depth 5 are four episodes and a cut one, which is not among the returns."""
    whole = langevin_dqn.train("dqn", kind("deep_sea:depth=5"), episodes=23, steps=1000, **SMALL)
    cut = langevin_dqn.train("dqn", kind("deep_sea:depth=5"), steps=23, **SMALL)
    assert (cut.steps, cut.episodes) == (23, 4)
    np.testing.assert_array_equal(cut.returns, whole.returns[:4])
    assert cut.lengths.tolist() == [5] * 4
    assert all(len(values) == 4 for values in cut.measures.values())
    assert (whole.steps, whole.episodes) == (23 * 5, 23)


@BOTH
def test_checks_fall_between_episodes(kind):
    """Every 7 steps or more, at the ends of episodes of 5: after 10, 15 and 25 steps."""
    seen = []

    def third_time(trained):
        seen.append(trained)
        return len(seen) == 3

    result = langevin_dqn.train("dqn", kind("deep_sea:depth=5"), steps=40, stop_when=third_time, check_every=7, **SMALL)
    assert result.steps == 25
    assert [int(trained.state.episode) for trained in seen] == [2, 3, 5]  # still readable, though training went on


@pytest.mark.parametrize("budget", [{"steps": 0}, {"episodes": 0}, {"episodes": 1, "check_every": 0}])
def test_empty_budgets(budget):
    with pytest.raises(UserError, match="nothing to run"):
        langevin_dqn.train("dqn", "deep_sea:depth=4", **budget)


@BOTH
def test_evaluation_is_greedy_and_learns_nothing(kind):
    env = kind("probe_action")
    trained = langevin_dqn.train("dqn", env, episodes=150, epsilon=1.0, keep_agent=True, **SMALL).trained
    before = jax.tree.map(np.asarray, trained.state)
    returns = langevin_dqn.evaluate(trained, env, episodes=30)
    assert returns.tolist() == [1.0] * 30  # with its ε of 1, half of them
    jax.tree.map(np.testing.assert_array_equal, before, jax.tree.map(np.asarray, trained.state))


@BOTH
def test_evaluation_draws_a_member_per_episode(kind):
    """Two members that want different actions share the episodes between them."""
    env = kind("probe_action")
    changes = {"members": 2, "prior_scale": 0.0, "updates_per_step": 0}
    trained = langevin_dqn.train("boot_dqn", env, episodes=1, keep_agent=True, **changes, **SMALL).trained
    bias = trained.state.params[1][1][-1][1]
    wishes = bias.at[:].set(np.array([[100.0, 0.0], [0.0, 100.0]]))
    first, (inner, layers) = trained.state.params
    params = first, (inner, [*layers[:-1], (layers[-1][0], wishes)])
    divided = langevin_dqn.Trained(trained.agent, trained.state._replace(params=params))
    returns = langevin_dqn.evaluate(divided, env, episodes=60)
    assert set(returns.tolist()) == {-1.0, 1.0}
    assert abs(returns.mean()) < 0.6  # 4.6 standard errors
    np.testing.assert_array_equal(returns, langevin_dqn.evaluate(divided, env, episodes=60))
    assert not np.array_equal(returns, langevin_dqn.evaluate(divided, env, episodes=60, seed=1))


def test_the_agent_is_kept_only_on_request():
    assert langevin_dqn.train("dqn", "probe_action", episodes=1, **SMALL).trained is None
    with pytest.raises(UserError, match="nothing to run"):
        langevin_dqn.evaluate(None, "probe_action", episodes=0)


def test_a_diverging_run_on_the_host_says_so():
    result = langevin_dqn.train("dqn", OnTheHost("deep_sea:depth=5"), episodes=50, learning_rate=1e30, **SMALL)
    assert "not finite" in result.diverged
    assert result.episodes < 50


def test_progress_on_the_host():
    seen = []
    langevin_dqn.train("dqn", OnTheHost("deep_sea:depth=4"), episodes=8, progress=seen.append, **SMALL)
    assert seen[-1].episodes == 8
    assert [r.steps for r in seen] == sorted(r.steps for r in seen)
