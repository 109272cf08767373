"""The value agent's acting, values and learning before each episode, against the paper's lines (alg1, alg3).

Statistical tests use fixed keys; each docstring gives its level, the chance that a correct
agent would fail under a fresh key.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from small_agents import (
    PICTURES,
    begin,
    flat_of,
    key,
    keys,
    member_of,
    network,
    quick_jit,
    same_bits,
    small,
    two_transitions,
    with_learner,
)

import langevin_dqn
from langevin_dqn import UserError
from langevin_dqn.environments import IndexSpace

pytestmark = pytest.mark.usefixtures("quick_compilation")

act_often = quick_jit(lambda agent, keys, state, obs: jax.vmap(lambda k: agent.act(k, state, obs))(keys))


def with_output_bias(state, bias):
    """All parameters 0 but the last layer's bias, (members, actions): Q is that bias."""
    zeros = jax.tree.map(jnp.zeros_like, state.learner.params)
    rows, (first, layers) = zeros
    layers = [*layers[:-1], (layers[-1][0], jnp.broadcast_to(jnp.asarray(bias, jnp.float32), layers[-1][1].shape))]
    return with_learner(state, params=(rows, (first, layers)))


def action_counts(agent, state, actions=4, draws=8000):
    return np.bincount(np.asarray(act_often(agent, keys(1, draws), state, jnp.int32(1))), minlength=actions)


def test_greedy_ties_are_uniform():
    """Four equal values: chi-square, level 1e-4."""
    agent = small("dqn", epsilon=0.0)
    assert stats.chisquare(action_counts(agent, with_output_bias(begin(agent, actions=4), 0.0))).pvalue > 1e-4


def test_only_the_best_actions_tie():
    """Two of four values share the maximum: the others never act; binomial, level 1e-4."""
    agent = small("dqn", epsilon=0.0)
    counts = action_counts(agent, with_output_bias(begin(agent, actions=4), [0.0, 2.0, 1.0, 2.0]))
    assert counts[0] == counts[2] == 0
    assert stats.binomtest(int(counts[1]), int(counts.sum())).pvalue > 1e-4


def test_epsilon_greedy_frequencies():
    """unif(A) with chance ε, the best included: chi-square against 1-ε+ε/4 and ε/4, level 1e-4."""
    agent = small("dqn", epsilon=0.3)
    state = with_output_bias(begin(agent, actions=4), [0.0, 0.0, 5.0, 1.0])
    state = agent.begin_episode(key(0), state)
    expected = 8000 * np.array([0.075, 0.075, 0.775, 0.075])
    assert stats.chisquare(action_counts(agent, state), expected).pvalue > 1e-4


@pytest.mark.parametrize(("decay", "expected"), [(0, [0.5, 0.5, 0.5]), (1, [0.5, 0.1, 0.1]), (2, [0.5, 0.3, 0.1])])
def test_epsilon_falls_over_so_many_episodes(decay, expected):
    """From the first to the last value in a straight line; without a decay it stays."""
    agent = small("dqn", epsilon=0.5, epsilon_final=0.1, epsilon_decay_episodes=decay)
    found = [float(agent.epsilon(jnp.int32(episode))) for episode in (1, 2, 3)]
    assert found == pytest.approx(expected)


def test_decaying_epsilon_ends_where_it_should():
    """ε falls from 0.5: binomial at the first and third of four episodes (level 1e-4); none after the decay."""
    agent = small("dqn", epsilon=0.5, epsilon_final=0.0, epsilon_decay_episodes=4)
    state = with_output_bias(begin(agent, actions=4), [0.0, 0.0, 5.0, 1.0])
    greedy = []
    for _ in range(6):
        state = agent.begin_episode(key(0), state)
        greedy.append(int(action_counts(agent, state)[2]))
    assert stats.binomtest(greedy[0], 8000, 1 - 0.75 * 0.5).pvalue > 1e-4
    assert stats.binomtest(greedy[2], 8000, 1 - 0.75 * 0.25).pvalue > 1e-4
    assert greedy[0] < greedy[1] < greedy[2] < greedy[3] < 8000
    assert greedy[4] == greedy[5] == 8000


def test_acting_member_is_uniform_and_acts_alone():
    """Line 9 of alg3: chi-square over members, level 1e-4; member m prefers action m, so the action tells m."""
    agent = small("ensemble_langevin_dqn", members=5, prior_scale=0.0)
    state = with_output_bias(begin(agent, actions=5), np.eye(5))

    @quick_jit
    def first_actions(state, keys):
        def one(key):
            drawn = agent.begin_episode(key, state)
            acts = [agent.act(jax.random.fold_in(key, i), drawn, jnp.int32(i)) for i in range(3)]
            return drawn.member, jnp.stack(acts)

        return jax.vmap(one)(keys)

    member, actions = map(np.asarray, first_actions(state, keys(2, 5000)))
    np.testing.assert_array_equal(actions, np.repeat(member[:, None], 3, axis=1))
    assert stats.chisquare(np.bincount(member, minlength=5)).pvalue > 1e-4


def test_exploiting_is_greedy():
    """In evaluation there is no ε: 500 times the best action."""
    agent = small("dqn", epsilon=1.0)
    state = agent.begin_episode(key(0), with_output_bias(begin(agent, actions=4), [0.0, 0.0, 5.0, 1.0]))
    exploit = quick_jit(lambda agent, keys: jax.vmap(lambda k: agent.exploit(k, state, jnp.int32(1)))(keys))
    assert (np.asarray(exploit(agent, keys(1, 500))) == 2).all()
    assert action_counts(agent, state)[2] < 8000 / 2


def test_values_include_the_prior():
    agent = small("ensemble_langevin_dqn", members=3, hidden=(20, 20))
    state = begin(agent, space=PICTURES, actions=3)
    obs = two_transitions()[0][0]
    got = np.asarray(agent.ensemble_values(state, jnp.asarray(obs)))
    assert got.shape == (3, 3)
    for m in range(3):
        own, prior = (network(member_of(p, m), obs, 0.0) for p in (state.learner.params, state.prior))
        np.testing.assert_allclose(got[m], own + 3 * prior, rtol=1e-4, atol=1e-5)
        assert np.abs(prior).max() > 1e-3
        acting = state._replace(member=jnp.int32(m))
        np.testing.assert_allclose(agent.values(acting, jnp.asarray(obs)), got[m], rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_index_observations_equal_their_pictures():
    """A row lookup and the product with the one-hot picture give one value."""
    agent = small("langevin_dqn")
    state = begin(agent, space=IndexSpace(6))
    for index in range(6):
        picture = np.eye(6, dtype=np.float32)[index].reshape(2, 3)
        np.testing.assert_allclose(
            agent.ensemble_values(state, jnp.int32(index)),
            agent.ensemble_values(state, jnp.asarray(picture)),
            rtol=1e-5,
            atol=1e-6,
        )


def test_members_start_apart():
    state = begin(small("ensemble_langevin_dqn", members=2))
    for tree in (state.learner.params, state.prior):
        assert not np.array_equal(flat_of(member_of(tree, 0)), flat_of(member_of(tree, 1)))


def test_the_target_starts_equal_or_from_its_own_draw():
    paper, released = (begin(small("langevin_dqn", reading)).learner for reading in ("paper", "released"))
    assert same_bits(paper.target, paper.params)
    assert not same_bits(released.target, released.params)


def test_numbers_can_be_replaced_where_they_are_in_the_program():
    agent = small("dqn")
    other = agent.with_numbers(learning_rate=0.5)
    assert float(other.numbers["learning_rate"]) == 0.5
    assert float(agent.numbers["learning_rate"]) == pytest.approx(1e-3)
    assert jax.tree.structure(other) == jax.tree.structure(agent)
    for name in ("noise_variance", "learning_rte"):  # without noise there is none in the program
        with pytest.raises(UserError) as caught:
            agent.with_numbers(**{name: 0.1})
        assert name in caught.value.message
        assert caught.value.hint


@pytest.fixture(scope="module")
def trained():
    """Runs of one program."""

    def run(seed, **changes):
        return langevin_dqn.train(
            "ensemble_langevin_dqn", "deep_sea:depth=4", preset="paper", seed=seed, episodes=100, members=5, **changes
        )

    return run


def test_same_seed_same_returns(trained):
    first, again, other = trained(0), trained(0), trained(1)
    np.testing.assert_array_equal(first.returns, again.returns)
    assert first.updates == again.updates
    assert not np.array_equal(first.returns, other.returns)


def test_updates_come_before_each_episode(trained):
    """U updates for each step of the episode before; none before there is data (alg1, line 4)."""
    assert trained(0).updates == 99 * 4


def test_it_learns_a_shallow_sea(trained):
    """Seven of these eight seeds do; a uniform policy solves none in 100 episodes but by luck in the first four."""
    results = [trained(seed) for seed in range(8)]
    assert sum(r.returns[-20:].mean() > 0.9 for r in results) >= 6
    for result in results:
        assert result.learning_time == langevin_dqn.runs.metrics.learning_time(result.returns, 0.99)


def test_stop_when_solved(trained):
    """It stops in the very episode, and until there it is the same run."""
    whole, stopped = trained(3), trained(3, stop_when_solved=True)
    assert whole.solved
    assert stopped.episodes == stopped.learning_time == whole.learning_time
    np.testing.assert_array_equal(stopped.returns, whole.returns[: stopped.episodes])


def test_returns_are_those_of_deep_sea(trained):
    """Either the treasure at 0.99, or minus a multiple of 0.01/4."""
    returns = trained(0).returns.astype(np.float64)
    treasure = np.isclose(returns, 0.99, atol=1e-6)
    steps = -returns[~treasure] / 0.0025
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)
    assert (np.round(steps) >= 0).all()
    assert (np.round(steps) <= 3).all()


@pytest.mark.parametrize(
    ("changes", "has_mask"),
    [
        ({"insertion": "mask", "insertion_probability": 0.5}, True),
        ({"insertion": "mask", "insertion_probability": 1.0}, False),  # every member keeps every transition
        ({"insertion": "buffers", "insertion_probability": 0.5}, False),  # kept in a buffer, or not
    ],
)
def test_a_mask_is_stored_only_where_members_share_what_not_all_learn_from(changes, has_mask):
    state = begin(small("boot_dqn", members=2, **changes))
    assert ("mask" in state.replay.data.extras) == has_mask
