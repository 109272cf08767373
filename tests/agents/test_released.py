"""What the authors' released code does otherwise than the paper, by numbers worked out in NumPy.

One update has all its rules at once; each rule is then left out of the NumPy side, to see that the
comparison would notice. Statistical tests use fixed keys; each docstring gives its level.
"""

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
    quick_jit,
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

import langevin_dqn
from langevin_dqn import make_agent, preset
from langevin_dqn.agents.released import MovingPrior

RULES = {
    "mean_over_members": True,
    "shared_minibatch": True,
    "target_noise": 0.5,
    "insertion": "mask",
    "insertion_probability": 0.5,
    "regularizer": 3.0,
    "regularizer_form": "mean",
    "independent_target": True,
}


@pytest.fixture(scope="module")
def updates():
    """400 single updates of three members from one state, with every rule of the released code but the noise."""
    config = preset("ensemble_langevin_dqn", "released", hidden=(5, 4), batch_size=8, members=3).replace(
        **RULES, noise_variance=0.0, prior_scale=2.0, adam_eps=1.0, learning_rate=0.5, bias_correction=False
    )
    agent = make_agent(config)
    state = begin(agent, space=PICTURES, actions=3)
    rng = np.random.default_rng(1)
    params, target = shifted(rng, state.learner.params), shifted(rng, state.learner.target)
    state = with_learner(state, params=params, target=target)._replace(prior=shifted(rng, state.prior))
    state = next(
        filled
        for filled in (fill(agent, state, seed, two_transitions()) for seed in range(50))
        if np.asarray(filled.replay.data.extras["mask"])[0, :2].tolist() == [[1, 0, 1], [1, 1, 0]]
    )
    after = update_often(agent, keys(6, 400), state)
    moved = [
        np.concatenate([np.asarray(x[:, m], np.float64).reshape(400, -1) for x in jax.tree.leaves(after)], axis=1)
        for m in range(3)
    ]
    return config, state, moved


def by_numpy(config, state, m, without=""):
    """Member m after an update, for each of the nine minibatches: so often the first transition, else the second."""
    theta, target, prior = (member_of(x, m) for x in (state.learner.params, state.learner.target, state.prior))
    extras = {name: np.asarray(x, np.float64)[0, :2, m] for name, x in state.replay.data.extras.items()}
    transitions, size = two_transitions(), float(state.replay.size[0])
    gradients = []
    for i in range(2):
        noise = 0.0 if without == "target_noise" else extras["target_noise"][i]
        gradient = td_slopes([x[i] for x in transitions], theta, target, prior, config, target_noise=noise)
        gradients.append(gradient if without == "mask" else extras["mask"][i] * gradient)
    penalty = jax.tree.map(lambda x: 2 * config.regularizer / (size * x.size) * x, theta)  # of λ/|D| · mean θ²
    if without == "mean regulariser":
        penalty = jax.tree.map(lambda x: 2 * config.regularizer / size * x, theta)
    members = 1 if without == "mean_over_members" else config.members
    found = []
    for k in range(9):
        gradient = (k * gradients[0] + (8 - k) * gradients[1]) / 8 / members + flat_of(penalty)
        found.append(flat_of(theta) + first_step(gradient, config))
    return np.array(found)


def test_one_released_update_is_numpys(updates):
    """Loss over batch and members, mean regulariser, noise on the reward, masked samples as zeros."""
    config, state, moved = updates
    assert state.replay.size.tolist() == [2]
    assert np.abs(np.asarray(state.replay.data.extras["target_noise"])[0, :2]).min() > 0.01
    for m in range(3):
        candidates = by_numpy(config, state, m)
        _, distance = nearest(candidates, moved[m])
        assert distance.max() < 5e-6
        assert min(np.abs(a - b).max() for i, a in enumerate(candidates) for b in candidates[:i]) > 1e-4


@pytest.mark.parametrize("rule", ["mean_over_members", "mean regulariser", "target_noise", "mask"])
def test_each_rule_shows_in_that_update(updates, rule):
    """Without it NumPy says something else, by a hundred times what is allowed above."""
    config, state, moved = updates
    assert max(nearest(by_numpy(config, state, m, rule), moved[m])[1].max() for m in range(3)) > 5e-4


def test_members_share_a_minibatch(updates):
    """All members meet the first transition equally often, in each of 400 updates; Binomial(8, ½), level 1e-4."""
    config, state, moved = updates
    met = [nearest(by_numpy(config, state, m), moved[m])[0] for m in range(3)]
    np.testing.assert_array_equal(met[0], met[1])
    np.testing.assert_array_equal(met[0], met[2])
    lump = np.array([0, 0, 0, 1, 2, 3, 4, 4, 4])
    expected = 400 * np.bincount(lump, stats.binom.pmf(np.arange(9), 8, 0.5))
    assert stats.chisquare(np.bincount(lump[met[0]], minlength=5), expected).pvalue > 1e-4


def test_target_noise_is_drawn_once_per_transition_and_member():
    """N(0, σ²) in the buffer: Kolmogorov-Smirnov per member, |r| < 5/√2000 between members and in time; level 1e-4."""
    agent = small("langevin_dqn", "released", members=2, target_noise=0.3)
    state = fill(agent, begin(agent), 7, repeated(np.int32(0), 1, 0.0, np.int32(1), False, 2000))
    noise = np.asarray(state.replay.data.extras["target_noise"], np.float64)[0, :2000]
    assert noise.shape == (2000, 2)
    assert not np.asarray(state.replay.data.reward).any()  # it is kept beside the reward
    for m in range(2):
        assert stats.kstest(noise[:, m] / 0.3, "norm").pvalue > 1e-4
        assert abs(np.corrcoef(noise[1:, m], noise[:-1, m])[0, 1]) < 5 / np.sqrt(2000)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 5 / np.sqrt(2000)


# The prior that moves


def moving(**changes):
    return small("ensemble_langevin_dqn", members=2, prior_noise=True, **changes)


@pytest.mark.slow
def test_a_moving_prior_is_in_the_goal_and_takes_no_gradient():
    """Q and its target each add their own prior; neither gradient nor penalty moves it. Noise of 1e-15 does not show.

    The target's prior differs from the one that learns, as it does once that has moved.
    """
    config = preset("ensemble_langevin_dqn", "paper", hidden=(5, 4), batch_size=8, members=2).replace(
        prior_noise=True, noise_variance=1e-30, adam_eps=1.0, learning_rate=0.5, prior_scale=2.0, discount=0.9,
        regularizer=5.0, regularizer_form="mean",
    )  # fmt: skip
    agent = make_agent(config)
    assert isinstance(agent.network, MovingPrior)
    state, other = (begin(agent, seed, PICTURES, 3) for seed in (0, 1))
    rng = np.random.default_rng(1)
    state = with_learner(state, params=shifted(rng, state.learner.params), target=shifted(rng, other.learner.params))
    obs, action, reward, after, _ = (x[0] for x in two_transitions())
    state = fill(agent, state, 0, repeated(obs, action, reward, after, False, 6))
    learned = update(agent, key(0), state).learner.params
    for m in range(2):
        before, target = member_of(state.learner.params, m), member_of(state.learner.target, m)
        transition = (obs, action, float(reward), after, False)
        gradient = td_slopes(
            transition, before["network"], target["network"], before["prior"], config, target_prior=target["prior"]
        )
        wrong = td_slopes(transition, before["network"], target["network"], before["prior"], config)
        penalty = flat_of(jax.tree.map(lambda x: 2 * 5.0 / (6 * x.size) * x, before["network"]))
        moved = flat_of(member_of(learned, m)["network"]) - flat_of(before["network"])
        np.testing.assert_allclose(moved, first_step(gradient + penalty, config), atol=5e-6)
        assert np.abs(moved - first_step(wrong + penalty, config)).max() > 5e-4
        np.testing.assert_allclose(flat_of(member_of(learned, m)["prior"]), flat_of(before["prior"]), atol=1e-12)


@pytest.fixture(scope="module")
def moving_states():
    """Nine updates of an ensemble with moving priors: the learner's state before and after each."""
    agent = moving(noise_variance=0.01, hidden=(50, 50), target_period=4)
    rng = np.random.default_rng(0)
    transitions = (
        rng.integers(0, 3, 300).astype(np.int32),
        rng.integers(0, 2, 300).astype(np.int32),
        rng.normal(size=300).astype(np.float32),
        rng.integers(0, 3, 300).astype(np.int32),
        rng.random(300) < 0.3,
    )
    states = [fill(agent, begin(agent), 0, transitions)]
    for k in keys(0, 9):
        states.append(update(agent, k, states[-1]))
    return [state.learner for state in states]


def test_prior_moves_with_prior_noise(moving_states):
    """Each step is N(0, 2α_kσ²/(|D|ε)), as if v = 0: variance within 5 standard errors, level 6e-7."""
    for k in (1, 2):
        moved = flat_of(moving_states[k].params["prior"]) - flat_of(moving_states[k - 1].params["prior"])
        alpha = 1e-3 * np.sqrt(1 - 0.999**k) / (1 - 0.9**k)
        expected = 2 * alpha * 0.01 / (300 * 1e-6)
        assert moved.var() == pytest.approx(expected, rel=5 * np.sqrt(2 / moved.size))


def test_the_target_copies_the_moving_prior_with_the_rest(moving_states):
    """Every fourth update, and only then: the target's network and prior become those that learn."""
    for number in range(1, 10):
        now, before = moving_states[number], moving_states[number - 1]
        source = now.params if number % 4 == 0 else before.target
        for part in ("network", "prior"):
            assert same_bits(now.target[part], source[part]), (number, part)
        assert not same_bits(now.params["prior"], before.params["prior"])


# The first updates


learn = quick_jit(lambda agent, key, state, steps: agent.learn(key, state, steps).learner.counter.updates)


@pytest.mark.parametrize(("least", "held", "updates"), [(10, 9, 0), (10, 10, 15), (0, 0, 0), (0, 1, 15)])
def test_no_updates_before_the_buffer_holds_enough(least, held, updates):
    """Three updates for each of five steps, from ``min_replay_size`` transitions on; with 0, from the first one on."""
    agent = small("dqn", "released", min_replay_size=least, updates_per_step=3)
    state = begin(agent)
    if held:
        state = fill(agent, state, 0, repeated(np.int32(0), 1, 0.5, np.int32(1), False, held))
    assert int(learn(agent, key(0), state, jnp.int32(5))) == updates


@pytest.mark.slow
def test_the_smallest_buffer_decides():
    agent = small("boot_dqn", members=2, min_replay_size=10)
    state = fill(agent, begin(agent), 0, repeated(np.int32(0), 1, 0.5, np.int32(1), False, 30))
    for sizes, updates in (([9, 20], 0), ([20, 9], 0), ([10, 20], 5)):
        held = state._replace(replay=state.replay._replace(size=jnp.int32(sizes)))
        assert int(learn(agent, key(0), held, jnp.int32(5))) == updates


@pytest.mark.slow
def test_a_run_waits_for_its_first_transitions(quick_compilation):
    """Episodes of 4 steps: before the fourth there are 12, which is the first time that 10 are there."""
    result = langevin_dqn.train(
        "ensemble_langevin_dqn", "deep_sea:depth=4", preset="released", episodes=20, members=2, hidden=(5,),
        min_replay_size=10,
    )  # fmt: skip
    assert result.updates == 4 * (20 - 3)
