"""``train`` as its callers meet it, and ``make_train`` against it: the same runs under ``jit`` and ``vmap``."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from own_agents import SixMethods

import langevin_dqn
from langevin_dqn import UserError, make_train, run_key, train
from langevin_dqn.agents.registry import resolve_agent

SEA, EPISODES = "deep_sea:depth=4", 40
SMALL = {"members": 2, "hidden": (5,), "batch_size": 8, "row_updates": "dense"}

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.mark.parametrize("row_updates", ["dense", pytest.param("lazy", marks=pytest.mark.slow)])
def test_eight_seeds_at_once_are_eight_runs(row_updates):
    """Equal returns to the bit, other seeds other returns; parameters up to the rounding of batched products, 1e-5."""
    changes = SMALL | {"row_updates": row_updates}
    together = make_train("ensemble_langevin_dqn", SEA, preset="paper", episodes=EPISODES, **changes)
    found = jax.jit(jax.vmap(together))(jax.vmap(run_key)(jnp.arange(8)))
    assert found["returns"].shape == (8, EPISODES)
    for seed in range(8):
        run = train(
            "ensemble_langevin_dqn", SEA, preset="paper", seed=seed, episodes=EPISODES, keep_agent=True, **changes
        )
        assert np.asarray(found["returns"][seed]).tobytes() == run.returns.tobytes()
        assert np.asarray(found["lengths"][seed]).tobytes() == run.lengths.tobytes()
        assert (int(found["episodes"][seed]), int(found["steps"][seed])) == (EPISODES, run.steps)
        assert int(found["statistics"]["updates"][seed]) == run.updates == 4 * (EPISODES - 1)
        assert bool(found["finite"][seed])
        own = jax.tree.leaves(jax.tree.map(lambda x, seed=seed: x[seed], found["state"]))
        for ours, theirs in zip(own, jax.tree.leaves(run.trained.state), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    assert len({row.tobytes() for row in np.asarray(found["returns"])}) == 8


@pytest.mark.slow
@pytest.mark.parametrize("row_updates", ["dense", "lazy"])
def test_one_seed_is_that_run_to_the_bit(row_updates):
    """Without ``vmap`` every number of the state too."""
    changes = SMALL | {"row_updates": row_updates}
    found = jax.jit(make_train("ensemble_langevin_dqn", SEA, preset="paper", episodes=EPISODES, **changes))(run_key(3))
    run = train("ensemble_langevin_dqn", SEA, preset="paper", seed=3, episodes=EPISODES, keep_agent=True, **changes)
    assert np.asarray(found["returns"]).tobytes() == run.returns.tobytes()
    for ours, theirs in zip(jax.tree.leaves(found["state"]), jax.tree.leaves(run.trained.state), strict=True):
        assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()


@pytest.mark.slow
def test_numbers_can_be_mapped_over():
    """One program for three learning rates: each row is the run with that rate; without learning, nothing moves."""
    environment = langevin_dqn.make_env(SEA)
    agent = resolve_agent("ensemble_langevin_dqn", environment, preset="paper", changes=SMALL).agent

    def one(rate, noise):
        changed = agent.with_numbers(learning_rate=rate, noise_variance=noise)
        return make_train(changed, environment, episodes=EPISODES)(run_key(1))

    rates, noises = jnp.array([0.0, 1e-3, 1e-2]), jnp.array([0.0, 1e-4, 1e-3])
    found = jax.jit(jax.vmap(one))(rates, noises)
    still = resolve_agent("ensemble_langevin_dqn", environment, preset="paper", changes=SMALL).agent.init(
        langevin_dqn.keys.init_key(run_key(1)), environment.observation_space, 2, 1
    )
    unmoved = jax.tree.map(lambda x: x[0], found["state"].learner.params)
    for ours, theirs in zip(jax.tree.leaves(unmoved), jax.tree.leaves(still.learner.params), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)
    for place in (1, 2):
        changes = {"learning_rate": float(rates[place]), "noise_variance": float(noises[place])}
        run = train("ensemble_langevin_dqn", SEA, preset="paper", seed=1, episodes=EPISODES, **SMALL, **changes)
        assert np.asarray(found["returns"][place]).tobytes() == run.returns.tobytes()


def test_an_agent_of_ones_own_is_a_pure_function_too():
    found = jax.jit(jax.vmap(make_train(SixMethods(0.1), "probe_action", episodes=9)))(jax.vmap(run_key)(jnp.arange(2)))
    assert found["returns"].tolist() == 2 * [train(SixMethods(0.1), "probe_action", episodes=9).returns.tolist()]
    assert found["statistics"] == {}


def test_what_cannot_be_compiled_is_refused():
    with pytest.raises(UserError, match="cannot be compiled\nhint: use train"):
        make_train("dqn", "gym:CartPole-v1", preset="paper", episodes=1)


@pytest.mark.parametrize("limits", [{"steps": 0}, {"episodes": 0}, {"episodes": 1, "check_every": 0}])
def test_empty_limits(limits):
    with pytest.raises(UserError, match=r"out of range\nhint: .* must be at least 1"):
        train("dqn", SEA, preset="paper", **limits)


def test_stopping_needs_something_to_be_solved():
    with pytest.raises(UserError, match="does not define when it is solved"):
        train("dqn", "bandit/0", preset="paper", episodes=1, stop_when_solved=True)


def test_changes_reach_the_configuration_and_old_names_still_do():
    with pytest.warns(DeprecationWarning, match="debiased_drift is now bias_correction"):
        old = resolve_agent(
            "dqn", langevin_dqn.make_env("probe_action"), preset="paper", changes={"debiased_drift": True}
        )
    assert old.config.bias_correction
    with pytest.raises(UserError, match="unknown field 'learning_rte'"):
        train("dqn", "probe_action", preset="paper", episodes=1, learning_rte=0.1)


def test_old_public_names_still_work():
    for old, new in (("Trained", "TrainedAgent"), ("AgentState", "ValueState")):
        with pytest.warns(DeprecationWarning, match=f"{old} is now {new}"):
            assert getattr(langevin_dqn, old) is getattr(langevin_dqn, new)
