"""Rules whose posterior is known: Bayes' rule in closed form, choices by hand or by their exact chances.

Frequencies by binomial or chi-square tests with fixed keys, at level 1e-4.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from langevin_dqn import UserError, make_env, prng
from langevin_dqn.insight import bandits
from langevin_dqn.insight.bandits import Belief

LEVEL, DRAWS = 1e-4, 4_000


def belief_after(env, pulls):
    belief = Belief.prior(env)
    for arm, reward in pulls:
        belief = belief.after(env.design[arm], reward, env.reward_noise)
    return belief


def choices(rule, belief, design, t=1, draws=DRAWS):
    @partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
    def many(keys):
        return jax.vmap(lambda key: rule(key, belief, design, jnp.int32(t)))(keys)

    return np.asarray(many(jax.random.split(jax.random.key(3, impl=prng.PRNG), draws)))


PULLS = ((0, 1.0), (2, -0.5), (0, 2.5), (1, 0.25), (0, 0.5))


def test_the_posterior_of_independent_arms():
    """Mean sum/(n + σ²/s²) and variance σ²/(n + σ²/s²), arm by arm."""
    env = make_env("bandit:arms=4,mean_std=2,reward_noise=0.5")
    belief = belief_after(env, PULLS)
    counts, sums, ratio = np.array([3, 1, 1, 0]), np.array([4, 0.25, -0.5, 0]), 0.5**2 / 2**2
    covariance = np.linalg.inv(belief.precision)
    np.testing.assert_allclose(covariance, np.diag(0.5**2 / (counts + ratio)), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(covariance @ belief.shift, sums / (counts + ratio), rtol=1e-5)


def test_the_posterior_of_linear_arms():
    """Ridge regression, (ΦᵀΦ + σ²/s² I)⁻¹Φᵀr with covariance σ²(ΦᵀΦ + σ²/s² I)⁻¹."""
    env = make_env("linear_bandit:arms=4,features=3,mean_std=2,reward_noise=0.5")
    belief = belief_after(env, PULLS)
    rows = np.asarray(env.features, np.float64)[[arm for arm, _ in PULLS]]
    rewards = np.array([reward for _, reward in PULLS])
    inverse = np.linalg.inv(rows.T @ rows + 0.5**2 / (2**2 / 3) * np.eye(3))
    covariance = np.linalg.inv(np.asarray(belief.precision, np.float64))
    np.testing.assert_allclose(covariance, 0.5**2 * inverse, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(covariance @ belief.shift, inverse @ rows.T @ rewards, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("env_id", ["bandit:arms=2", "linear_bandit:arms=2,features=3,mean_seed=3"])
def test_thompson_pulls_as_often_as_an_arm_is_best(env_id):
    """P(arm 0 is best) = Φ(difference of means / its standard deviation); for linear arms these correlate."""
    env = make_env(env_id)
    belief = belief_after(env, [(0, 0.4)] * 20 + [(1, 0.3)])
    covariance = np.linalg.inv(np.asarray(belief.precision, np.float64))
    contrast = np.asarray(env.design[0] - env.design[1], np.float64)
    chance = stats.norm.cdf(contrast @ covariance @ belief.shift / np.sqrt(contrast @ covariance @ contrast))
    assert 0.05 < chance < 0.95
    pulled = choices(bandits.thompson(), belief, env.design)
    assert stats.binomtest(int((pulled == 0).sum()), DRAWS, chance).pvalue > LEVEL


def test_epsilon_greedy_by_hand():
    """Posterior means 1, 0.5 and 0 (prior and noise of variance 1: a reward r alone has mean r/2)."""
    env = make_env("bandit:arms=3")
    belief = belief_after(env, ((0, 2.0), (1, 1.0)))
    assert (choices(bandits.epsilon_greedy(0), belief, env.design, draws=50) == 0).all()
    counts = np.bincount(choices(bandits.epsilon_greedy(0.6), belief, env.design), minlength=3)
    assert stats.chisquare(counts, DRAWS * np.array([0.6, 0.2, 0.2])).pvalue > LEVEL
    ties = np.bincount(choices(bandits.epsilon_greedy(0), Belief.prior(env), env.design), minlength=3)
    assert stats.chisquare(ties).pvalue > LEVEL


def test_ucb_by_hand():
    """Means 1, 0.5, 0 and variances 1/2, 1/2, 1: the bounds cross at sqrt(2 log t) = 1/(1 - sqrt(1/2)), t = 340."""
    env = make_env("bandit:arms=3")
    belief = belief_after(env, ((0, 2.0), (1, 1.0)))
    crossing = np.exp((1 / (1 - np.sqrt(0.5))) ** 2 / 2)
    assert 339 < crossing < 340
    for t, arm in ((1, 0), (2, 0), (339, 0), (340, 2), (10_000, 2)):
        assert (choices(bandits.ucb(), belief, env.design, t, draws=3) == arm).all(), t
    assert (choices(bandits.ucb(width=0), belief, env.design, 10_000, draws=3) == 0).all()


def test_ucb_of_linear_arms_by_hand():
    """After one reward along the first axis, the arm along the second has mean 0 and its whole variance."""
    design = jnp.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
    belief = Belief(jnp.eye(2), jnp.zeros(2)).after(design[0], jnp.float32(1), 1.0)
    means, variances = np.array([0.5, 0, 0.3]), np.array([0.5, 1, 0.36 * 1.5])
    for t in (2, 3, 5, 20):
        expected = np.argmax(means + np.sqrt(2 * np.log(t) * variances))
        assert (choices(bandits.ucb(), belief, design, t, draws=3) == expected).all()
    assert len({int(np.argmax(means + np.sqrt(2 * np.log(t) * variances))) for t in (2, 3, 5, 20)}) > 1


def test_seeds_decide_and_means_add_up():
    made = [make_env(f"bandit:arms=3,mean_seed={s}") for s in range(4)]
    rule = bandits.thompson()
    regrets = bandits.regrets(rule, made, 30)
    assert regrets.shape == (4, 30)
    np.testing.assert_array_equal(regrets, bandits.regrets(rule, made, 30))
    assert not np.array_equal(regrets, bandits.regrets(rule, made, 30, seed=1))
    for env, row in zip(made, regrets, strict=True):
        gaps = env.max_return - np.asarray(env.means)
        assert np.isclose(row[:, None], gaps, atol=1e-6).any(axis=1).all(), "regrets are gaps of arms"


@pytest.mark.parametrize(
    "call",
    [
        lambda: bandits.epsilon_greedy(1.5),
        lambda: bandits.ucb(-1),
        lambda: bandits.regrets(bandits.thompson(), [make_env("bandit:arms=3")], 0),
        lambda: bandits.regrets(bandits.thompson(), [make_env("bandit:arms=3,reward_noise=0")], 5),
        lambda: bandits.regrets(bandits.thompson(), [make_env("bandit:arms=3"), make_env("bandit:arms=4")], 5),
    ],
)
def test_bad_arguments_are_refused_with_a_hint(call):
    with pytest.raises(UserError) as caught:
        call()
    assert caught.value.hint
