"""Bandits with a known prior: the laws of means, rewards and contexts, and regret free of noise.

Laws by the Kolmogorov-Smirnov test with fixed keys, at level 1e-4.
"""

from functools import partial

import jax
import numpy as np
import pytest
from scipy import stats

from langevin_dqn import UserError, make_env, prng, train
from langevin_dqn.environments.base import ArraySpace, Environment, FeatureSpace, IndexSpace
from langevin_dqn.environments.bsuite.bandit import Bandit

LEVEL, PULLS = 1e-4, 5_000
KNOWN = ("bandit:arms=4,reward_noise=0.5", "linear_bandit:arms=6,features=3,reward_noise=2")
ALL = (*KNOWN, "contextual_bandit:arms=3,features=4")


def pulls(env, arm, seed=0, count=PULLS):
    """Many episodes with one arm: contexts or states, rewards, regrets, ends."""
    return jax.tree.map(np.asarray, _pulls(env, jax.random.key(seed, impl=prng.PRNG), arm, count))


@partial(jax.jit, static_argnums=3, compiler_options={"xla_backend_optimization_level": 0})
def _pulls(env, key, arm, count):
    def one(key):
        reset_key, step_key = jax.random.split(key)
        state, obs = env.reset(reset_key)
        state, _, reward, terminated, truncated = env.step(step_key, state, arm)
        return obs, reward, env.measure(state)["regret"], terminated, truncated

    return jax.vmap(one)(jax.random.split(key, count))


@pytest.mark.parametrize("env_id", KNOWN)
def test_rewards_and_regret_of_every_arm(env_id):
    env = make_env(env_id)
    means = np.asarray(env.means)
    for arm, mean in enumerate(means):
        _, rewards, regrets, terminated, truncated = pulls(env, arm, seed=arm)
        assert stats.kstest(rewards, "norm", (mean, env.reward_noise)).pvalue > LEVEL
        np.testing.assert_array_equal(regrets, means.max() - mean)
        assert terminated.all()
        assert not truncated.any()
    assert env.max_return == means.max()


def test_contexts_rewards_and_regret_of_the_neural_bandit():
    env = make_env("contextual_bandit:arms=3,features=4,reward_noise=0.7")
    for arm in range(3):
        contexts, rewards, regrets, terminated, _ = pulls(env, arm, seed=arm)
        assert stats.kstest(contexts.ravel(), "norm").pvalue > LEVEL
        assert np.abs(np.corrcoef(contexts, rowvar=False)[np.triu_indices(4, 1)]).max() < 4.5 / np.sqrt(PULLS)
        means = np.maximum(contexts @ np.asarray(env.first), 0) @ np.asarray(env.second)
        assert stats.kstest((rewards - means[:, arm]) / 0.7, "norm").pvalue > LEVEL
        np.testing.assert_allclose(regrets, means.max(axis=1) - means[:, arm], atol=1e-5)
        assert terminated.all()
    assert env.max_return is None


def test_means_of_gaussian_arms_are_the_priors():
    means = np.concatenate([make_env(f"bandit:arms=10,mean_std=3,mean_seed={s}").means for s in range(300)])
    assert stats.kstest(means, "norm", (0, 3)).pvalue > LEVEL


def test_weights_of_linear_arms_are_the_priors():
    """More arms than features, so the means tell the weights exactly."""
    weights = []
    for seed in range(300):
        env = make_env(f"linear_bandit:arms=12,features=4,mean_std=2,mean_seed={seed}")
        solved, *_ = np.linalg.lstsq(np.asarray(env.features, np.float64), np.asarray(env.means), rcond=None)
        np.testing.assert_allclose(env.features @ solved, env.means, atol=1e-4)
        weights.append(solved)
    assert env.weight_std == pytest.approx(2 / np.sqrt(4))
    assert stats.kstest(np.concatenate(weights), "norm", (0, env.weight_std)).pvalue > LEVEL


def test_means_of_the_neural_bandit_have_the_asked_spread():
    """Over teachers and contexts, within 10%: 400 teachers share their weights between contexts."""
    contexts = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    made = [make_env(f"contextual_bandit:mean_std=2,mean_seed={s}") for s in range(400)]
    means = [np.maximum(contexts @ np.asarray(e.first), 0) @ np.asarray(e.second) for e in made]
    assert np.std(means) == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("env_id", ALL)
def test_keys_and_seeds_decide_everything(env_id):
    env, same, other = make_env(env_id), make_env(env_id), make_env(f"{env_id},mean_seed=1")
    first, again = pulls(env, 1, count=20), pulls(same, 1, count=20)
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(np.unique(first[1])) == 20
    assert not np.array_equal(first[1], pulls(env, 1, seed=1, count=20)[1])
    assert not np.array_equal(first[1], pulls(other, 1, count=20)[1])


def test_what_is_observed():
    gaussian, linear, contextual = (make_env(env_id) for env_id in ALL)
    assert gaussian.observation_space == IndexSpace(1)
    assert linear.observation_space == FeatureSpace((6, 3)) != ArraySpace((6, 3))
    assert contextual.observation_space == ArraySpace((4,))
    for env in (gaussian, linear, contextual):
        assert isinstance(env, Environment)
        _, obs = env.reset(jax.random.key(0))
        assert env.dense(obs).dtype == np.float32
    np.testing.assert_array_equal(linear.reset(jax.random.key(0))[1], linear.features)


def test_a_bandit_with_arms_is_another_than_bsuites():
    assert isinstance(make_env("bandit"), Bandit)
    assert isinstance(make_env("bandit/3"), Bandit)
    assert make_env("bandit:num_actions=5,mapping_seed=2").num_actions == 5
    for env_id in ("bandit:arms=7", "bandit:mean_seed=3,arms=7", "gaussian_bandit:arms=7"):
        env = make_env(env_id)
        assert env.num_actions == 7
        assert not isinstance(env, Bandit)


def test_means_differ_without_another_compilation():
    made = [make_env(f"linear_bandit:mean_seed={s},reward_noise={s + 1}") for s in range(3)]
    assert len({jax.tree.structure(env) for env in made}) == 1


@pytest.mark.parametrize(
    "env_id",
    [
        "bandit:arms=1", "bandit:arms=10,mapping_seed=3", "bandit:mean_seed=3", "bandit:arms=10,mean_seed=-1",
        "bandit:arms=10,mean_std=0", "bandit:arms=10,reward_noise=-1", "bandit:arms=ten", "linear_bandit:features=0",
        "linear_bandit:mean_std=nan", "contextual_bandit:units=0", "contextual_bandit:reward_noise=inf",
        "contextual_bandit:hidden=3",
    ],
)  # fmt: skip
def test_bad_settings_are_refused_with_a_hint(env_id):
    with pytest.raises(UserError) as caught:
        make_env(env_id)
    assert caught.value.hint


@pytest.mark.usefixtures("quick_compilation")
@pytest.mark.parametrize(
    ("env_id", "hidden"),
    [
        (ALL[0], ()),
        pytest.param(ALL[1], (6,), marks=pytest.mark.slow),
        pytest.param(ALL[2], (), marks=pytest.mark.slow),
    ],
)
def test_regret_of_a_run_is_the_sum_over_its_pulls(env_id, hidden):
    result = train("langevin_dqn", env_id, preset="paper", episodes=12, hidden=hidden, batch_size=8)
    assert result.regret == pytest.approx(result.measures["regret"].sum(dtype=np.float64))
    assert (result.measures["regret"] >= 0).all()
    assert result.regret > 0
    assert (result.lengths == 1).all()
