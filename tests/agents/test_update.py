"""One update of alg2 against NumPy: drift, minibatches, noise, penalty, targets, priors and members.

Statistical tests use fixed keys; each docstring gives its level.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from small_agents import (
    PICTURES,
    begin,
    fill,
    first_step,
    flat_of,
    key,
    keys,
    member_of,
    nearest,
    repeated,
    same_bits,
    shifted,
    small,
    td_slopes,
    two_transitions,
    update,
    update_often,
    with_learner,
)

from langevin_dqn import make_agent, preset

CASES = {
    "dqn": {"discount": 0.9},
    "boot_dqn": {
        "members": 2, "insertion_probability": 1.0, "discount": 0.8, "loss_scale": 0.5, "negative_slope": 0.1,
    },
}  # fmt: skip


@pytest.fixture(scope="module", params=[pytest.param("dqn", marks=pytest.mark.slow), "boot_dqn"])
def one_update(request):
    """Many single updates from one state, each with its own minibatch of two transitions."""
    config = preset(request.param, "paper", hidden=(5, 4), batch_size=8, adam_eps=1.0, learning_rate=0.5).replace(
        **CASES[request.param]
    )
    agent = make_agent(config)
    state = begin(agent, seed=0, space=PICTURES, actions=3)
    rng = np.random.default_rng(1)
    other = begin(agent, seed=1, space=PICTURES, actions=3)
    params, target = shifted(rng, state.learner.params), shifted(rng, other.learner.params)
    state = with_learner(state, params=params, target=target)._replace(prior=shifted(rng, state.prior))
    transitions = two_transitions()
    state = fill(agent, state, 0, transitions)
    after = update_often(agent, keys(6, 400), state)
    candidates = []
    for m in range(config.members):
        theta, target = member_of(state.learner.params, m), member_of(state.learner.target, m)
        prior = member_of(state.prior, m) if config.prior_scale else None
        gradients = [td_slopes([x[i] for x in transitions], theta, target, prior, config) for i in range(2)]
        mixtures = [(k * gradients[0] + (8 - k) * gradients[1]) / 8 for k in range(9)]
        candidates.append(np.array([flat_of(theta) + first_step(g, config) for g in mixtures]))
    moved = [
        np.array([flat_of(jax.tree.map(lambda x, i=i, m=m: x[i, m], after)) for i in range(400)])
        for m in range(config.members)
    ]
    return candidates, moved


def test_one_update_is_alg2(one_update):
    """Every parameter moves as NumPy says: TD target from target network and prior, γ, no bootstrap at the end."""
    for candidates, moved in zip(*one_update, strict=True):
        apart = min(np.abs(a - b).max() for i, a in enumerate(candidates) for b in candidates[:i])
        _, distance = nearest(candidates, moved)
        assert distance.max() < 5e-6
        assert apart > 1e-4, "the nine possible minibatches must be told apart"


def test_minibatches_are_uniform_with_replacement(one_update):
    """Binomial(8, ½) of the first transition: chi-square, level 1e-4 per member."""
    expected = 400 * stats.binom.pmf(np.arange(9), 8, 0.5)
    lump = np.array([0, 0, 0, 1, 2, 3, 4, 4, 4])
    for candidates, moved in zip(*one_update, strict=True):
        which, _ = nearest(candidates, moved)
        counts = np.bincount(lump[which], minlength=5)
        assert stats.chisquare(counts, np.bincount(lump, expected)).pvalue > 1e-4


@pytest.mark.parametrize("one_update", ["boot_dqn"], indirect=True)
def test_members_draw_their_own_minibatches(one_update):
    """Uncorrelated counts, |r| < 0.25 = 5/√400. Level 6e-7."""
    candidates, moved = one_update
    first, second = (nearest(c, m)[0] for c, m in zip(candidates, moved, strict=True))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.25


# The noise


@pytest.fixture(scope="module")
def noisy_updates():
    """4,000 first updates of two members with unlike buffers, each buffer holding one transition many times."""
    config = preset("ensemble_langevin_dqn", "paper", hidden=(5, 4), batch_size=8, members=2).replace(
        noise_variance=0.5,
        regularizer=40.0,
        adam_eps=1.0,
        learning_rate=0.5,
        insertion_probability=0.5,
        prior_scale=0.0,
    )
    agent = make_agent(config)
    state = fill(agent, begin(agent), 6, repeated(np.int32(1), 0, 0.7, np.int32(2), True, times=12))
    after = update_often(agent, keys(12, 4000), state)
    moves = []
    for m in range(2):
        flat = np.concatenate(
            [np.asarray(x[:, m], np.float64).reshape(4000, -1) for x in jax.tree.leaves(after)], axis=1
        )
        moves.append(flat - flat_of(member_of(state.learner.params, m)))
    return config, state, np.asarray(state.replay.size), moves


def drift_and_variance(config, state, sizes, m):
    theta = member_of(state.learner.params, m)
    one_hot = np.eye(3)
    transition = (one_hot[1], 0, 0.7, one_hot[2], True)
    gradient = td_slopes(transition, theta, theta, None, config)
    gradient = gradient + 2 * config.regularizer * config.noise_variance / sizes[m] * flat_of(theta)
    alpha = config.learning_rate * np.sqrt(1 - config.adam_b2) / (1 - config.adam_b1)
    root = np.sqrt((1 - config.adam_b2) * gradient**2)
    return first_step(gradient, config), 2 * alpha * config.noise_variance / (sizes[m] * (root + config.adam_eps))


def test_noise_of_an_update_counts_each_members_data(noisy_updates):
    """Variance 2α_kσ²/(|D_m|(√v+ε)) within 3% over all parameters (level 1e-8), and 12% for each (level 1e-5)."""
    config, state, sizes, moves = noisy_updates
    assert sizes[0] != sizes[1]
    assert sizes.min() > 0
    assert sizes.max() < 12
    for m in range(2):
        ratio = moves[m].var(axis=0) / drift_and_variance(config, state, sizes, m)[1]
        assert ratio.mean() == pytest.approx(1, abs=0.03)
        assert np.abs(ratio - 1).max() < 0.12


def test_mean_update_is_loss_and_regulariser(noisy_updates):
    """The mean over keys is alg4's step for the gradient plus σ_w²/|D|·2λθ; z < 5 for each parameter, level 1e-4."""
    config, state, sizes, moves = noisy_updates
    for m in range(2):
        drift, variance = drift_and_variance(config, state, sizes, m)
        z = (moves[m].mean(axis=0) - drift) / np.sqrt(variance / 4000)
        assert np.abs(z).max() < 5


def test_members_draw_their_own_noise(noisy_updates):
    """|r| < 5/√n over all parameters and keys. Level 6e-7."""
    config, state, sizes, moves = noisy_updates
    scaled = [
        (moves[m] - moves[m].mean(axis=0)) / np.sqrt(drift_and_variance(config, state, sizes, m)[1]) for m in range(2)
    ]
    assert abs(np.mean(scaled[0] * scaled[1])) < 5 / np.sqrt(scaled[0].size)


# Targets, priors, members


def learning_states(agent, updates, seed=0):
    """The states after each of ``updates`` updates on a few transitions, the first state leading."""
    state = begin(agent, seed)
    rng = np.random.default_rng(seed)
    transitions = (
        rng.integers(0, 3, 300).astype(np.int32),
        rng.integers(0, 2, 300).astype(np.int32),
        rng.normal(size=300).astype(np.float32),
        rng.integers(0, 3, 300).astype(np.int32),
        rng.random(300) < 0.3,
    )
    states = [fill(agent, state, seed, transitions)]
    for k in keys(seed, updates):
        states.append(update(agent, k, states[-1]))
    return states


ENSEMBLE = {"agent": "ensemble_langevin_dqn", "members": 2}


@pytest.mark.parametrize("period", [4, 3])
def test_target_is_copied_every_period_and_only_then(period):
    states = [state.learner for state in learning_states(small(**ENSEMBLE, target_period=period), 9)]
    assert same_bits(states[0].target, states[0].params), "the first target is θ_0"
    for number in range(1, 10):
        assert int(states[number].counter.updates) == number
        assert not same_bits(states[number].params, states[number - 1].params)
        source = states[number].params if number % period == 0 else states[number - 1].target
        assert same_bits(states[number].target, source), number


def test_prior_never_moves_in_the_paper_reading():
    states = learning_states(small(**ENSEMBLE), 5)
    assert any(np.abs(x).max() > 0 for x in jax.tree.leaves(states[0].prior))
    assert all(same_bits(state.prior, states[0].prior) for state in states)
    assert not same_bits(states[-1].learner.params, states[0].learner.params)


def test_members_stay_apart():
    params = learning_states(small(**ENSEMBLE), 3)[-1].learner.params
    assert not np.array_equal(flat_of(member_of(params, 0)), flat_of(member_of(params, 1)))


def test_equal_members_are_parted_by_noise():
    """Same parameters, prior and data for both: only the noise can part them."""
    agent = small(**ENSEMBLE)
    state = begin(agent)

    def both_first(tree):
        return jax.tree.map(lambda x: jnp.stack([x[0], x[0]]), tree)

    state = state._replace(prior=both_first(state.prior))
    state = with_learner(state, params=both_first(state.learner.params), target=both_first(state.learner.target))
    state = fill(agent, state, 0, repeated(np.int32(0), 1, 0.5, np.int32(1), False, 6))
    for leaf in jax.tree.leaves(update(agent, key(0), state).learner.params):
        assert not np.array_equal(leaf[0], leaf[1])


def test_a_member_without_data_does_not_learn():
    """alg3 samples each member's own buffer; while that is empty there is nothing to learn from."""
    agent = small("boot_dqn", members=2)
    state = begin(agent)
    filled = (fill(agent, state, s, repeated(np.int32(1), 0, 0.7, np.int32(2), True, 1)) for s in range(20))
    state = next(state for state in filled if state.replay.size.tolist() == [0, 1])
    before, after = state.learner.params, update(agent, key(0), state).learner.params
    assert same_bits(member_of(after, 0), member_of(before, 0))
    assert not same_bits(member_of(after, 1), member_of(before, 1))


def test_learning_is_a_function_of_the_key():
    first, again, other = (learning_states(small(**ENSEMBLE), 3, seed)[-1] for seed in (0, 0, 1))
    assert same_bits(first, again)
    assert not same_bits(first.learner.params, other.learner.params)


@pytest.mark.slow
def test_the_first_update_with_a_loss_that_is_not_finite_is_remembered():
    """Later updates do not overwrite it; the agent is finite until then."""
    agent = small("dqn", learning_rate=0.0)
    state = begin(agent)
    good = repeated(np.int32(1), 0, 0.7, np.int32(2), True, 2)
    state = update(agent, key(0), fill(agent, state, 0, good))
    assert bool(agent.is_finite(state))
    bad = fill(agent, state, 0, repeated(np.int32(1), 0, np.inf, np.int32(2), True, 50))
    for number in range(2):
        bad = update(agent, key(number), bad)
    assert int(bad.learner.counter.nonfinite_update) == 2
    assert not bool(agent.is_finite(bad))
    assert "update 2" in agent.explain_divergence(bad)


@pytest.mark.parametrize(("form", "weight"), [("sum", 0.25), ("mean", 1 / 6)])
def test_the_gradient_of_either_penalty(form, weight):
    """σ_w²λ/|D|·Σθ² is the paper's, λ/|D|·mean θ² that of the released code, for each tensor."""
    agent = small("langevin_dqn", regularizer=3.0, regularizer_form=form, noise_variance=0.25)
    problem = dataclasses.replace(agent.learner.problem, no_penalty_on=None)
    params = {"w": jnp.arange(6.0).reshape(2, 3)}
    gradient = {"w": jnp.ones((2, 3))}
    found = problem.add_penalty(gradient, params, jnp.float32(10))
    np.testing.assert_allclose(found["w"], 1 + 2 * 3 * weight / 10 * params["w"], rtol=1e-6)
