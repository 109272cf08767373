"""The agent with sleeping rows against the agent with dense steps."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from langevin_dqn.agent import Agent
from langevin_dqn.compiled_training import run_chunk

import langevin_dqn
from langevin_dqn import prng, row_state
from langevin_dqn.environments.base import ArraySpace, IndexSpace
from langevin_dqn.errors import UserError

DEPTH = 6
#: Programs this small are compiled for longer than they run.
quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def key(seed: int):
    """The package's own generator, which compiles several times faster than threefry."""
    return jax.random.key(seed, impl=prng.PRNG)


ENV = langevin_dqn.make_env(f"deep_sea:depth={DEPTH}")


@quick_jit
def filled(agent: Agent, state, replay, fill_key):
    """A buffer of random episodes."""

    def episode(replay, episode_key):
        env_state, obs = ENV.reset(episode_key)
        for row in range(DEPTH):
            step_key = jax.random.fold_in(episode_key, row)
            action = jax.random.bernoulli(step_key).astype(jnp.int32)
            env_state, following, reward, terminated, _ = ENV.step(step_key, env_state, action)
            replay = agent.observe(step_key, state, replay, obs, action, reward, following, terminated)
            obs = following
        return replay, None

    return jax.lax.scan(episode, replay, jax.random.split(fill_key, 20))[0]


@quick_jit
def everywhere(agent: Agent, state):
    return jax.vmap(lambda cell: agent.q_values(state, cell))(jnp.arange(DEPTH**2))


learn_many = quick_jit(Agent.learn_many)


def prepared(name: str, mode: str, **changes):
    config = langevin_dqn.preset(name, row_updates=mode, **changes)
    agent = langevin_dqn.make_agent(config, space=ENV.observation_space)
    state = quick_jit(lambda agent, k: agent.init(k, ENV.observation_space, 2))(agent, key(1))
    replay = agent.init_replay(ENV.observation_space, 2, capacity=200)
    return agent, state, filled(agent, state, replay, key(2))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("dqn", {}),
        ("boot_dqn", {"members": 2}),
        ("dqn", {"debiased_drift": True, "target_period": 7}),
        ("dqn", {"target_period": 20, "batch_size": 30}),  # several blocks between copies, chunks not full
        ("dqn", {"target_period": 1}),
    ],
)
def test_without_noise_the_two_agents_are_the_same(name, changes):
    """Same keys, same minibatches: after 400 updates (warm-up, sleep) the values agree to 1e-4."""
    values = {}
    for mode in ("dense", "sleeping"):
        agent, state, replay = prepared(name, mode, **changes)
        assert agent.structure.sleeping_rows == (mode == "sleeping")
        state = learn_many(agent, key(3), state, replay, jnp.int32(400))
        assert int(state.updates) == 400
        values[mode] = np.asarray(everywhere(agent, state))
    np.testing.assert_allclose(values["sleeping"], values["dense"], atol=1e-4)


def test_blocks_may_be_cut_anywhere():
    """Updates in runs of any length, with the acting member's rows woken in between, as in training."""
    values = {}
    for mode in ("dense", "sleeping"):
        agent, state, replay = prepared("boot_dqn", mode, members=2)
        state = learn_many(agent, key(3), state, replay, jnp.int32(300))
        for turn, count in enumerate((3, 2, 1, 6, 9, 5, 7, 2)):
            for cell in (0, DEPTH, DEPTH + 1):
                state = agent.attend(key(turn), state, jnp.int32(cell))
            state = learn_many(agent, key(4 + turn), state, replay, jnp.int32(count))
        values[mode] = np.asarray(everywhere(agent, state))
    np.testing.assert_allclose(values["sleeping"], values["dense"], atol=1e-4)


@pytest.mark.parametrize("name", ["langevin_dqn", "ensemble_langevin_dqn"])
def test_a_target_kept_as_values_is_the_same_target(name):
    """Few states: the target's values of all of them, once per copy. Same noise, so equal up to rounding."""
    values = {}
    for space in (None, ENV.observation_space):
        agent = langevin_dqn.make_agent(langevin_dqn.preset(name), space=space)
        assert agent.structure.tabulates == (space is not None)
        state = quick_jit(lambda agent, k: agent.init(k, ENV.observation_space, 2))(agent, key(1))
        replay = filled(agent, state, agent.init_replay(ENV.observation_space, 2, capacity=200), key(2))
        state = learn_many(agent, key(3), state, replay, jnp.int32(50))
        values[space] = np.asarray(everywhere(agent, state))
    np.testing.assert_allclose(values[None], values[ENV.observation_space], atol=1e-4)


def test_a_target_is_kept_as_values_where_states_are_few():
    config = langevin_dqn.preset("dqn")
    limit = config.target_period * config.batch_size

    def tabulates(space, **changes):
        return langevin_dqn.make_agent(config.replace(**changes), space=space).structure.tabulates

    assert tabulates(IndexSpace(limit))
    assert not tabulates(IndexSpace(limit + 1), row_updates="dense")
    assert not tabulates(IndexSpace(10), row_updates="sleeping")
    assert not tabulates(ArraySpace((10,)))


def test_with_noise_unvisited_rows_spread_alike():
    """Rows nobody reads: their spread under both steps, as a ratio; F-test at level 1e-6."""
    spread = {}
    for mode in ("dense", "sleeping"):
        agent, state, replay = prepared("ensemble_langevin_dqn", mode, members=4)
        before = state.params[0] if mode == "dense" else state.params[0].rows.value
        state = learn_many(agent, key(3), state, replay, jnp.int32(400))
        dense = state.params if mode == "dense" else row_state.dense_params(agent, key(4), state)
        unreachable = [r * DEPTH + c for r in range(DEPTH) for c in range(r + 1, DEPTH)]
        moved = np.asarray(dense[0] - before)[:, unreachable]
        spread[mode] = moved.var()
        count = moved.size
    # log of a ratio of variances with n each: standard deviation 2/sqrt(n)
    assert abs(np.log(spread["sleeping"] / spread["dense"])) < 5 * 2 / np.sqrt(count)


def test_attending_makes_acting_and_learning_see_one_value():
    agent, state, replay = prepared("ensemble_langevin_dqn", "sleeping", members=2)
    state = learn_many(agent, key(3), state, replay, jnp.int32(300))
    obs, member = jnp.int32(DEPTH + 1), 1
    state = agent.begin_episode(key(0), state)._replace(member=jnp.int32(member))
    state = agent.attend(key(5), state, obs)
    once, twice = (agent.member_values(state, member, obs, key(k)) for k in (6, 7))
    np.testing.assert_array_equal(once, twice)
    never = jnp.int32(DEPTH - 1)  # top right, unreachable: asleep since the last flush
    once, twice = (agent.member_values(state, member, never, key(k)) for k in (6, 7))
    assert not np.array_equal(once, twice)


def test_rows_sleep_where_it_is_exact_and_pays():
    large, small = IndexSpace(row_state.PAYS_FROM), IndexSpace(row_state.PAYS_FROM - 1)
    ensemble = langevin_dqn.preset("ensemble_langevin_dqn")

    def sleeps(config, space):
        return langevin_dqn.make_agent(config, space=space).structure.sleeping_rows

    assert sleeps(ensemble, large)
    assert not sleeps(ensemble, small)
    assert not sleeps(ensemble, ArraySpace((1000,)))
    assert not sleeps(langevin_dqn.preset("langevin_dqn"), large)  # regularised
    assert not sleeps(langevin_dqn.preset("ensemble_langevin_dqn", "released"), large)  # the prior moves
    with pytest.raises(UserError, match="regularizer"):
        sleeps(langevin_dqn.preset("langevin_dqn", row_updates="sleeping"), large)


def test_a_sweep_compiles_once():
    """Learning rate, noise, discount, seed and mapping seed are traced: no new program for another value."""
    langevin_dqn.train("ensemble_langevin_dqn", "deep_sea:depth=4", seed=0, episodes=6, members=2)
    before = run_chunk._cache_size()
    for seed, changes in enumerate(({"learning_rate": 1e-2}, {"noise_variance": 1e-6}, {"discount": 0.9})):
        env = f"deep_sea:depth=4,mapping_seed={seed}"
        langevin_dqn.train("ensemble_langevin_dqn", env, seed=seed, episodes=6, members=2, **changes)
    assert run_chunk._cache_size() == before


def test_only_alg4_has_sleeping_rows():
    """What a row does asleep is known for alg4's moments; eq. (5) takes the dense step."""
    space = IndexSpace(5_000)
    assert langevin_dqn.make_agent(langevin_dqn.preset("ensemble_langevin_dqn"), space=space).structure.sleeping_rows
    assert not langevin_dqn.make_agent(
        langevin_dqn.preset("ensemble_langevin_dqn", optimizer="sgd"), space=space
    ).structure.sleeping_rows
    with pytest.raises(UserError, match="optimizer=adam"):
        langevin_dqn.make_agent(
            langevin_dqn.preset("ensemble_langevin_dqn", optimizer="sgd", row_updates="sleeping"), space=space
        )
