"""Langevin DQN on bandits: its chain has the posterior's law, and its regret is Thompson sampling's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from langevin_dqn import UserError, make_agent, make_env, preset, prng
from langevin_dqn.agents import Step
from langevin_dqn.insight import bandit_agents, bandits

PULLS = np.repeat([0, 1, 2], [1, 4, 15])
CHAINS, UPDATES = 1_000, 1_200


def chain_values(env, **changes):
    """Every arm's value in many independent chains that have seen the same rewards; and these rewards."""
    rewards = np.random.default_rng(5).normal(1, 1, len(PULLS)).astype(np.float32)
    config = preset("langevin_dqn", "paper", **bandit_agents.posterior_settings(env), batch_size=32)
    # A small step, so that the chain's own error stays within a few percent.
    agent = make_agent(config.replace(learning_rate=config.learning_rate / 5, **changes), space=env.observation_space)
    space, key = env.observation_space, jax.random.key(1, impl=prng.PRNG)

    @jax.jit
    def run(keys):
        _, obs = env.reset(key)

        def store(state, pull):
            return agent.observe(key, state, Step(obs, *pull, obs, True, False)), None

        filled, _ = jax.lax.scan(
            store, agent.init(key, space, env.num_actions, len(PULLS)), (jnp.asarray(PULLS), jnp.asarray(rewards))
        )

        def chain(key):
            init_key, learn_key = jax.random.split(key)
            state = agent.init(init_key, space, env.num_actions, len(PULLS))
            learned = agent.learner.learn(learn_key, state.learner, filled.replay, UPDATES)
            return agent.values(state._replace(learner=learned), obs)

        return jax.vmap(chain)(keys)

    return np.asarray(run(jax.random.split(key, CHAINS))), rewards


@pytest.mark.parametrize(
    "env_id", ["bandit:arms=4", pytest.param("linear_bandit:arms=4,features=3", marks=pytest.mark.slow)]
)
def test_the_chain_samples_the_posterior(env_id):
    """Means within 4.5 standard errors and a tenth of a deviation; variances within 25% (4.5 of their errors: 20%)."""
    env = make_env(env_id)
    values, rewards = chain_values(env)
    belief = bandits.Belief.prior(env)
    for arm, reward in zip(PULLS, rewards, strict=True):
        belief = belief.after(env.design[arm], reward, env.reward_noise)
    covariance = np.linalg.inv(np.asarray(belief.precision, np.float64))
    means = env.design @ covariance @ belief.shift
    variances = np.einsum("ai,ij,aj->a", env.design, covariance, env.design)
    for arm in range(4):
        tolerance = (4.5 / np.sqrt(CHAINS) + 0.1) * np.sqrt(variances[arm])
        assert values[:, arm].mean() == pytest.approx(means[arm], abs=tolerance), arm
        assert values[:, arm].var() == pytest.approx(variances[arm], rel=0.25), arm
        standard = (values[:, arm] - values[:, arm].mean()) / values[:, arm].std()
        assert stats.kstest(standard, "norm").pvalue > 1e-4


def test_regrets_have_a_row_per_bandit(quick_compilation):
    ids = bandit_agents.seeds_of("bandit:arms=3", 2)
    settings = bandit_agents.posterior_settings(make_env(ids[0]))
    found = bandit_agents.agent_regrets("langevin_dqn", ids, 6, [settings] * 2)
    assert found.shape == (2, 6)
    for env_id, regrets in zip(ids, found, strict=True):
        means = np.asarray(make_env(env_id).means)
        distance = np.abs(regrets[:, None] - (means.max() - means))
        assert distance.min(axis=1).max() < 1e-5  # each is the regret of some arm


@pytest.mark.slow
def test_regret_is_close_to_exact_thompson_sampling():
    """12 bandits of 10 arms, 250 pulls: below 1.3 times Thompson's; without the noise of the updates it is not.

    Everything follows from fixed seeds. Over seeds the ratio has a standard error of about 0.1.
    """
    ids = bandit_agents.seeds_of("bandit:arms=10", 12)
    made = [make_env(env_id) for env_id in ids]
    settings = bandit_agents.posterior_settings(made[0])
    exact = bandits.regrets(bandits.thompson(), made, 250).sum(axis=1)

    def ratio(**changes):
        ours = bandit_agents.agent_regrets("langevin_dqn", ids, 250, [settings | changes] * len(ids)).sum(axis=1)
        return bandit_agents.ratio_interval(ours, exact)[0]

    assert ratio() < 1.3
    assert ratio(noise_variance=0.0) > 1.5


def test_settings_follow_the_bandit():
    """λ = 1/(2 s²) for a weight of its own, twice that where two parameters share it; σ_w² is the rewards' variance."""
    gaussian = bandit_agents.posterior_settings(make_env("bandit:arms=3,mean_std=2,reward_noise=0.5"))
    assert (gaussian["noise_variance"], gaussian["regularizer"], gaussian["learning_rate"]) == (0.25, 0.25, 0.25)
    env = make_env("linear_bandit:features=4,mean_std=2,reward_noise=3")
    linear = bandit_agents.posterior_settings(env)
    longest = np.square(env.features).sum(axis=1).max()
    assert (linear["noise_variance"], linear["regularizer"]) == (9, 0.5)
    assert linear["learning_rate"] == pytest.approx(0.5 / longest)


def test_the_interval_of_a_ratio():
    theirs = np.random.default_rng(0).gamma(2, 10, 40)
    assert bandit_agents.ratio_interval(3 * theirs, theirs) == pytest.approx((3, 3, 3))
    ratio, low, high = bandit_agents.ratio_interval(theirs[::-1], theirs)
    assert ratio == pytest.approx(1)
    assert 0.5 < low < 1 < high < 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: bandit_agents.posterior_settings(make_env("contextual_bandit")),
        lambda: bandit_agents.posterior_settings(make_env("bandit:arms=3,reward_noise=0")),
        lambda: bandit_agents.seeds_of("bandit:arms=1", 3),
        lambda: bandit_agents.seeds_of("bandit:arms=3", 0),
    ],
)
def test_bad_arguments_are_refused_with_a_hint(call):
    with pytest.raises(UserError) as caught:
        call()
    assert caught.value.hint
