"""XLand-MiniGrid environments through our interface: the same episodes, ends told apart, mistakes with a hint."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import langevin_dqn
from langevin_dqn import UserError, keys, make_env
from langevin_dqn.environments import ArraySpace, XMiniGridEnvironment, as_environment, check_environment

xminigrid = pytest.importorskip("xminigrid")


def random_actions(steps, seed, count=6):
    return jax.random.randint(jax.random.key(seed), (steps,), 0, count)


def theirs(env, params, actions, key):
    """Their own loop over one episode after the other, with a new key for each."""

    def step(now, inputs):
        number, action = inputs
        after = env.step(params, now, action)
        again = env.reset(params, jax.random.fold_in(key, number))
        nothing_else = jax.tree.map(lambda new, old: jnp.where(after.last(), new, old), again, after)
        return nothing_else, (now.observation, after.observation, after.reward, after.last(), after.discount)

    return jax.lax.scan(step, env.reset(params, key), (jnp.arange(len(actions)), actions))[1]


def ours(environment, actions, key):
    def step(carry, inputs):
        state, obs = carry
        number, action = inputs
        after, next_obs, reward, terminated, truncated = environment.step(jax.random.key(9), state, action)
        ended, again = terminated | truncated, environment.reset(jax.random.fold_in(key, number))
        following = jax.tree.map(lambda new, old: jnp.where(ended, new, old), again, (after, next_obs))
        return following, (obs, next_obs, reward, terminated, truncated)

    return jax.lax.scan(step, environment.reset(key), (jnp.arange(len(actions)), actions))[1]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("MiniGrid-EmptyRandom-5x5", {"max_steps": 12}),
        ("MiniGrid-MemoryS8", {"max_steps": 20}),
        ("MiniGrid-DoorKey-5x5", {"max_steps": 40}),
    ],
)
@pytest.mark.slow
def test_the_same_episodes_as_xminigrid(name, changes):
    env, params = xminigrid.make(name, **changes)
    actions, key = random_actions(2000, 1), keys.run_key(3)
    obs, next_obs, rewards, last, discount = jax.jit(lambda: theirs(env, params, actions, key))()
    environment = XMiniGridEnvironment(env, params)
    mine = jax.jit(lambda: ours(environment, actions, key))()
    for found, expected in zip(mine[:3], (obs, next_obs, rewards), strict=True):
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, np.asarray(expected, np.float32))
    terminated, truncated = mine[3:]
    np.testing.assert_array_equal(terminated, last & (discount == 0))
    np.testing.assert_array_equal(truncated, last & (discount == 1))
    assert truncated.sum() > 10
    if name != "MiniGrid-DoorKey-5x5":
        assert terminated.sum() > 2


def test_ids():
    env = make_env("xminigrid:MiniGrid-Empty-5x5")
    check_environment(env, "empty")
    assert (env.observation_space, env.num_actions, env.max_steps) == (ArraySpace((7, 7, 2)), 6, 100)
    env = make_env("xminigrid:MiniGrid-Empty-5x5:view_size=3,max_steps=7")
    assert (env.observation_space, env.max_steps) == (ArraySpace((3, 3, 2)), 7)


@pytest.mark.parametrize(
    ("env_id", "message", "hint"),
    [
        ("xminigrid:MiniGrid-Emty-5x5", "no environment 'MiniGrid-Emty-5x5'", "did you mean 'MiniGrid-Empty-5x5'?"),
        ("xminigrid:zzz", "has no environment", "registered_environments"),
        ("xminigrid:MiniGrid-Empty-5x5:view=3", "unknown setting 'view'", "did you mean 'view_size'?"),
        ("xminigrid:XLand-MiniGrid-R1-9x9", "no goal without a ruleset", "params.replace(ruleset="),
        ("MiniGrid-FourRooms", "unknown environment", "xminigrid:MiniGrid-FourRooms"),
        ("MiniGrid-Empty-5x5-v0", "unknown environment", "gym:MiniGrid-Empty-5x5-v0"),
    ],
)
def test_mistakes(env_id, message, hint):
    with pytest.raises(UserError, match=message) as error:
        make_env(env_id)
    assert hint in error.value.hint


def test_without_xminigrid(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xminigrid", None)
    with pytest.raises(UserError, match="xminigrid is not installed") as error:
        make_env("xminigrid:MiniGrid-Empty-5x5")
    assert error.value.hint == "pip install 'langevin-dqn[xminigrid]'"


def test_wrappers():
    from xminigrid.wrappers import DirectionObservationWrapper, GymAutoResetWrapper

    env, params = xminigrid.make("MiniGrid-Empty-5x5")
    assert as_environment((env, params)).max_steps == 100
    with pytest.raises(UserError, match="hides the last observation"):
        as_environment((GymAutoResetWrapper(env), params))
    with pytest.raises(UserError, match="are not supported"):
        as_environment((DirectionObservationWrapper(env), params))


@pytest.mark.slow
def test_training():
    """With the recommended preset, which looks at random steps first: keys are part of the environment's state."""
    env_id = "xminigrid:MiniGrid-Empty-5x5:max_steps=20"
    result = langevin_dqn.train("langevin_dqn", env_id, episodes=3, hidden=(8,), batch_size=8)
    assert result.episodes == 3
    assert np.isfinite(result.returns).all()
    assert result.lengths.max() <= 20
