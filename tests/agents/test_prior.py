"""A prior of a stated standard deviation, and one that moves (``langevin_dqn.agents.prior``).

Statistical tests use fixed keys; each docstring gives its level.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from small_agents import PICTURES, begin, fill, key, same_bits, small, two_transitions

from langevin_dqn import UserError, make_agent, make_env, preset, run_key
from langevin_dqn.agents import episode
from langevin_dqn.agents import prior as priors
from langevin_dqn.environments import ArraySpace, HostEnvironment, IndexSpace
from langevin_dqn.keys import prepare_key
from langevin_dqn.loops import compiled, host
from langevin_dqn.networks import MLP


def prior_values(agent, state, observations):
    """(members, observations, actions): what the prior adds to Q."""
    without = agent.with_numbers(prior_std=1e-12)
    both = [jax.vmap(lambda obs, a=a: a.ensemble_values(state, obs))(observations) for a in (agent, without)]
    return np.moveaxis(np.asarray(both[0] - both[1]), 1, 0)


@pytest.mark.parametrize("states", [9, 400])
def test_every_member_has_the_stated_standard_deviation_over_all_states(states):
    space = IndexSpace(states)
    agent = make_agent(preset("ensemble_langevin_dqn", members=3, prior_std=0.7, hidden=(20,)), space=space)
    assert agent.random_steps == 0, "an index needs no look at the environment"
    found = prior_values(agent, begin(agent, space=space), jnp.arange(states))
    np.testing.assert_allclose(found.std((1, 2)), 0.7, rtol=1e-4)
    assert np.abs(np.corrcoef(found.reshape(3, -1))[~np.eye(3, dtype=bool)]).max() < 0.9, "members are not the same"


def test_other_observations_are_measured_in_random_steps():
    """Cartpole's observations in 1,000 random steps; the loop makes them, and they are no part of the run."""
    env = make_env("cartpole")
    agent = make_agent(preset("boot_dqn", members=2, prior_std=0.3), space=env.observation_space)
    start = compiled.begin(agent, env, run_key(0), 5)
    seen = episode.random_steps(env, prepare_key(run_key(0)), agent.random_steps).obs
    assert seen.shape[0] == 1000
    np.testing.assert_allclose(prior_values(agent, start.state, seen).std((1, 2)), 0.3, rtol=1e-3)
    assert int(start.all_steps) == 0
    assert int(start.state.replay.size.sum()) == 0


def test_random_steps_are_whole_episodes_of_the_environment():
    """Every observation follows from the one before it, except after an end."""
    env = make_env("deep_sea:depth=4")
    steps = jax.tree.map(np.asarray, episode.random_steps(env, key(3), 22))
    ends = np.flatnonzero(steps.terminated | steps.truncated)
    assert ends.tolist() == [3, 7, 11, 15, 19]
    following = np.setdiff1d(np.arange(21), ends)
    np.testing.assert_array_equal(steps.next_obs[following], steps.obs[following + 1])
    assert (steps.obs[np.r_[0, ends + 1]] == 0).all()
    assert set(steps.action) == {0, 1}


def test_the_prior_stays_while_the_agent_learns():
    agent = small("ensemble_langevin_dqn", "recommended", members=2, prior_std=0.5)
    state = fill(agent, begin(agent, space=PICTURES, actions=3), 0, two_transitions())
    after = agent.begin_episode(key(2), agent.learn(key(1), state, jnp.int32(5)))
    assert same_bits(after.prior, state.prior)
    assert not same_bits(after.learner.params, state.learner.params)


def test_what_is_stored_with_a_transition_is_the_prior_of_then():
    agent = small("ensemble_langevin_dqn", "recommended", members=2, prior_std=0.5)
    state = begin(agent, space=PICTURES, actions=3)
    obs, action, *_, after, _ = two_transitions()
    stored = fill(agent, state, 0, two_transitions()).replay.data.extras
    values = prior_values(agent, state, jnp.stack([obs[0], after[0]]))
    np.testing.assert_allclose(stored["prior"][0, 0], values[:, 0, action[0]], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(stored["next_prior"][0, 0], values[:, 1], rtol=1e-4, atol=1e-5)


def test_a_standardised_prior_is_stored_as_it_acts():
    space = IndexSpace(9)
    agent = make_agent(preset("ensemble_langevin_dqn", members=2, prior_std=0.7, hidden=(20,)), space=space)
    state = begin(agent, space=space)
    assert np.abs(np.asarray(state.prior.inverse_std) - 1).min() > 0.1
    one = (np.array([3], np.int32), np.array([1], np.int32), np.ones(1, np.float32), np.array([5], np.int32), [False])
    stored = fill(agent, state, 0, tuple(map(np.asarray, one))).replay.data.extras
    values = prior_values(agent, state, jnp.arange(9))
    np.testing.assert_allclose(stored["prior"][0, 0], values[:, 3, 1], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(stored["next_prior"][0, 0], values[:, 5], rtol=1e-4, atol=1e-5)


def moving(**changes):
    settings = {"prior_std": 0.5, "prior_lifetime": 20.0, "prior_networks": 6} | changes
    return small("langevin_dqn", "recommended", **settings)


def test_a_moving_prior_learns_on_the_prior_of_now():
    """Its stored parts, mixed with the weights of this episode, are what it acts on in this episode."""
    agent = moving()
    state = fill(agent, begin(agent, space=PICTURES, actions=3), 0, two_transitions())
    obs, action, *_, after, _ = two_transitions()
    for seed in range(3):
        state = agent.begin_episode(key(seed), state)
        extras = {name: np.asarray(x) for name, x in state.replay.data.extras.items()}
        mixture = 0.5 * np.asarray(state.prior.mixture[0])
        values = prior_values(agent, state, jnp.stack([obs[1], after[1]]))[0]
        np.testing.assert_allclose(mixture @ extras["prior"][0, 1, 0], values[0, action[1]], rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(mixture @ extras["next_prior"][0, 1, 0], values[1], rtol=1e-3, atol=1e-5)


def test_an_update_with_a_moving_prior_is_that_of_the_prior_of_now():
    """A mixture of the first part alone learns the same, if that part is the mixed prior."""
    agent = moving(noise_variance=0.0, value_scaling="fixed")
    state = fill(agent, begin(agent, space=PICTURES, actions=3), 0, two_transitions())
    state = agent.begin_episode(key(5), state)
    one = jnp.zeros_like(state.prior.mixture).at[:, 0].set(1.0)

    def first_part(x):
        mixed = jnp.einsum("k,bpk...->bp...", state.prior.mixture[0], x[:, :, 0])[:, :, None]
        return jnp.zeros_like(x).at[:, :, :, 0].set(mixed)

    extras = {name: first_part(x) for name, x in state.replay.data.extras.items()}
    same = state._replace(
        prior=state.prior._replace(mixture=one),
        replay=state.replay._replace(data=state.replay.data._replace(extras=extras)),
    )
    left, right = (agent.learn(key(1), s, jnp.int32(3)).learner.params for s in (state, same))
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_the_walk_keeps_its_length_and_forgets_at_the_stated_rate():
    """The correlation after n steps is e^(-n/T), within 0.05 over 2,000 walks: 5 standard errors and 1/K terms."""
    lifetime, networks, walks = 20.0, 8, 2000
    start = priors.init(key(0), MLP((3,)), IndexSpace(4), 2, members=walks, networks=networks)
    now = start
    for number in range(1, 41):
        now = now._replace(steps=now.steps + 2)  # two steps per episode
        now = priors.moved(jax.random.fold_in(key(1), number), now, jnp.float32(2 * lifetime), jnp.float32(0))
        np.testing.assert_allclose(jnp.linalg.norm(now.mixture, axis=1), 1, rtol=1e-5)
        if number in (1, 10, 20, 40):
            correlation = float((start.mixture * now.mixture).sum(1).mean())
            assert correlation == pytest.approx(np.exp(-number / lifetime), abs=0.05)
    # The direction is as likely to point anywhere as at the start: signs of all weights, level 1e-4.
    positive = int((np.asarray(now.mixture) > 0).sum())
    assert stats.binomtest(positive, walks * networks).pvalue > 1e-4


def test_what_contradicts_itself():
    for changes, message in (
        ({"prior_std": 0.5, "prior_scale": 3.0}, "prior_std and prior_scale exclude each other"),
        ({"prior_std": 0.5, "prior_noise": True}, "prior_std and prior_noise exclude each other"),
        ({"prior_lifetime": 5.0}, "prior_lifetime needs a prior_std"),
    ):
        with pytest.raises(UserError, match=message):
            preset("dqn", **changes)


def test_an_agent_that_only_acts_needs_no_steps():
    """A state without memory acts as before; a prior has no part in what is remembered."""
    agent = moving()
    state = agent.without_memory(begin(agent, space=PICTURES, actions=3))
    assert state.replay is None
    assert agent.act(key(0), state, jnp.ones((2, 3))) in (0, 1, 2)


def test_keys_of_priors_differ_by_member():
    agent = small("boot_dqn", "recommended", members=3)
    rows = np.asarray(begin(agent).prior.params[0])
    assert len(np.unique(rows[:, 0, 0, 0])) == 3


def test_a_lifetime_that_is_traced_may_be_0():
    prior = priors.Prior(None, jnp.ones((1, 4)), jnp.eye(1, 4), steps=jnp.int32(0), moved_at=jnp.int32(0))
    for steps in (0, 5):
        now = priors.moved(key(1), prior._replace(steps=jnp.int32(steps)), jnp.float32(0), jnp.float32(0))
        assert float(jnp.linalg.norm(now.mixture)) == pytest.approx(1)


def test_the_lifetime_grows_with_the_steps_and_no_steps_move_nothing():
    start = priors.init(key(0), MLP((3,)), IndexSpace(4), 2, members=500, networks=8)
    start = start._replace(steps=jnp.int32(10_000), moved_at=jnp.int32(9_900))
    now = priors.moved(key(1), start, jnp.float32(10), jnp.float32(0.1))
    correlation = float((start.mixture * now.mixture).sum(1).mean())
    assert correlation == pytest.approx(np.exp(-100 / 1000), abs=0.02)
    again = priors.moved(key(2), now, jnp.float32(10), jnp.float32(0.1))
    np.testing.assert_allclose(again.mixture, now.mixture, rtol=1e-5, atol=1e-6)


def test_random_steps_for_the_scale_leave_the_prior_of_an_index_alone():
    """``warmup`` asks for random steps; the prior stays standardised over all states, not over those that were seen."""
    env = make_env("deep_sea:depth=6")
    config = preset("boot_dqn", members=2, prior_std=0.3, value_scaling="warmup")
    agent = make_agent(config, space=env.observation_space)
    assert agent.random_steps > 0
    state = compiled.begin(agent, env, run_key(0), 5).state
    found = prior_values(agent, state, jnp.arange(36)).std((1, 2)) / state.scale.scale
    np.testing.assert_allclose(found, 0.3, rtol=1e-3)


def test_on_the_host_random_steps_are_made_too():
    """An environment whose observations are 0 and 2 by turns: the prior's values of those two have the stated std."""

    class Turns(HostEnvironment):
        observation_space, num_actions, max_return, made = ArraySpace((1,)), 2, None, 0

        def reset(self, seed=None):
            self.now = 0.0
            return np.array([self.now], np.float32)

        def step(self, action):
            self.made, self.now = self.made + 1, 2.0 - self.now
            return np.array([self.now], np.float32), 0.0, self.made % 4 == 0, False

        def close(self):
            pass

    env = Turns()
    agent = make_agent(preset("boot_dqn", members=2, prior_std=0.3, hidden=(6,)), space=env.observation_space)
    *_, last = host.run(agent, env, run_key(0), seed=0, episodes=2, steps=None, check_every=None, seconds=1e9)
    assert env.made == 1000 + last.steps == 1008
    assert int(last.state.replay.size.sum()) == 2 * 8 // 2  # one buffer, masked: nothing of the random steps
    found = prior_values(agent, last.state, jnp.float32([[0.0], [2.0]]))
    np.testing.assert_allclose(found.std((1, 2)), 0.3, rtol=1e-3)
