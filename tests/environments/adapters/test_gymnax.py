"""Gymnax environments through our interface: the same episodes as gymnax's own rollout, in either form of its ends."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import langevin_dqn
from langevin_dqn import UserError, keys, make_env
from langevin_dqn.environments import ArraySpace, GymnaxEnvironment, IndexSpace, as_environment, check_environment

gymnax = pytest.importorskip("gymnax")
from flax import struct  # noqa: E402
from gymnax.environments import environment, spaces  # noqa: E402

REPORTS_TRUNCATION = hasattr(environment.Environment, "is_truncated")


@struct.dataclass
class WalkState:
    place: int
    time: int


@struct.dataclass
class WalkParams:
    max_steps_in_episode: int = 6
    goal: int = 3


class OldWalk:
    """A walk as gymnax wrote environments before 1.0: one ``done``, the time limit included, and five values."""

    name = "OldWalk"
    default_params = WalkParams()

    def reset(self, key, params):
        return self.reset_env(key, params)

    def reset_env(self, key, params):
        state = WalkState(place=jnp.int32(0), time=jnp.int32(0))
        return jnp.array([state.place, state.time], jnp.float32), state

    def step_env(self, key, state, action, params):
        state = WalkState(place=state.place + 2 * action - 1, time=state.time + 1)
        done = self.is_terminal(state, params)
        obs = jnp.array([state.place, state.time], jnp.float32)
        return obs, state, (state.place == params.goal).astype(jnp.int32), done, {}

    def is_terminal(self, state, params):
        return (state.place == params.goal) | (state.time >= params.max_steps_in_episode)

    def step(self, key, state, action, params):
        step_key, reset_key = jax.random.split(key)
        obs, state, reward, done, info = self.step_env(step_key, state, action, params)
        new_obs, new_state = self.reset_env(reset_key, params)
        state = jax.tree.map(lambda new, old: jax.lax.select(done, jnp.asarray(new), old), new_state, state)
        return jax.lax.select(done, new_obs, obs), state, reward, done, info

    def action_space(self, params):
        return spaces.Discrete(2)

    def observation_space(self, params):
        return spaces.Box(-10, 10, (2,), jnp.float32)


def theirs(env, params, steps, seed):
    """Gymnax's own rollout with random actions: what its ``step``, which resets by itself, returns."""

    def step(carry, number):
        obs, state = carry
        act_key, step_key = jax.random.split(jax.random.fold_in(key, number))
        action = env.action_space(params).sample(act_key)
        after = env.step(step_key, state, action, params)
        return (after[0], after[1]), (obs, action, after[2], *after[3:-1])

    key = jax.random.key(seed)
    return jax.lax.scan(step, env.reset(jax.random.fold_in(key, steps), params), jnp.arange(steps))[1]


def ours(environment, actions, seed):
    """The same actions through our interface, reset by us after an end, with the keys that gymnax splits."""
    steps, key = len(actions), jax.random.key(seed)

    def step(carry, inputs):
        state, obs = carry
        number, action = inputs
        _, step_key = jax.random.split(jax.random.fold_in(key, number))
        own_key, reset_key = jax.random.split(step_key)
        state, next_obs, reward, terminated, truncated = environment.step(own_key, state, action)
        made = obs, next_obs, reward, terminated, truncated
        ended, again = terminated | truncated, environment.reset(reset_key)
        return jax.tree.map(lambda new, old: jnp.where(ended, new, old), again, (state, next_obs)), made

    start = environment.reset(jax.random.fold_in(key, steps))
    return jax.lax.scan(step, start, (jnp.arange(steps), actions))[1]


def compare(env, params, steps, seed=0, tolerance=0.0):
    obs, actions, rewards, *ends = jax.jit(lambda: theirs(env, params, steps, seed))()
    environment = GymnaxEnvironment(env, params)
    our_obs, next_obs, our_rewards, terminated, truncated = jax.jit(lambda a: ours(environment, a, seed))(actions)
    np.testing.assert_allclose(our_obs, obs, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(our_rewards, np.asarray(rewards, np.float32))
    np.testing.assert_array_equal(terminated | truncated, np.any(ends, axis=0))
    if len(ends) == 2:
        np.testing.assert_array_equal([terminated, truncated], ends)
    return np.asarray(our_obs), np.asarray(next_obs), np.asarray(terminated), np.asarray(truncated)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("CartPole-v1", {"max_steps_in_episode": 20}),
        ("FrozenLake-misc", {"max_steps_in_episode": 9}),
        ("DeepSea-bsuite", {}),
        pytest.param("Breakout-MinAtar", {"max_steps_in_episode": 30}, marks=pytest.mark.slow),
        pytest.param("Freeway-MinAtar", {"max_steps_in_episode": 30}, marks=pytest.mark.slow),
        pytest.param("Asterix-MinAtar", {"max_steps_in_episode": 30}, marks=pytest.mark.slow),
        pytest.param("Seaquest-MinAtar", {"max_steps_in_episode": 30}, marks=pytest.mark.slow),
        pytest.param("SpaceInvaders-MinAtar", {"max_steps_in_episode": 30}, marks=pytest.mark.slow),
        pytest.param("Acrobot-v1", {"max_steps_in_episode": 30}, marks=pytest.mark.slow),
        pytest.param("Catch-bsuite", {}, marks=pytest.mark.slow),
        pytest.param("FourRooms-misc", {"max_steps_in_episode": 30}, marks=pytest.mark.slow),
    ],
)
def test_the_same_episodes_as_gymnax(name, changes):
    if name not in gymnax.registered_envs:
        pytest.skip("not in this version of gymnax")
    env, params = gymnax.make(name)
    # Two programs may round the two arms' equations of motion differently; everything else is equal to the bit.
    tolerance = 1e-4 if name == "Acrobot-v1" else 0.0
    obs, _, terminated, truncated = compare(env, params.replace(**changes), 2000, tolerance=tolerance)
    assert (terminated | truncated).sum() > 20
    if obs.dtype == bool:  # nothing was lost where numbers became booleans
        assert obs.any()


@pytest.mark.skipif(not REPORTS_TRUNCATION, reason="gymnax before 1.0")
def test_both_ends_of_cartpole():
    env, params = gymnax.make("CartPole-v1")
    *_, terminated, truncated = compare(env, params.replace(max_steps_in_episode=20), 2000)
    assert terminated.sum() > 5
    assert truncated.sum() > 5


def test_five_values():
    """Before 1.0: done is split into what terminated and what the time limit truncated."""
    env, params = OldWalk(), WalkParams()
    _, next_obs, terminated, truncated = compare(env, params, 3000)
    place, time = next_obs.T
    np.testing.assert_array_equal(terminated, place == params.goal)
    np.testing.assert_array_equal(truncated, (time == params.max_steps_in_episode) & (place != params.goal))
    assert min(terminated.sum(), truncated.sum()) > 50


def test_the_last_observation_is_not_that_of_the_next_episode():
    environment = GymnaxEnvironment(OldWalk())
    state, _ = environment.reset(jax.random.key(0))
    for _ in range(3):
        state, obs, reward, terminated, truncated = environment.step(jax.random.key(0), state, jnp.int32(1))
    assert obs.tolist() == [3, 3]
    assert (float(reward), bool(terminated), bool(truncated)) == (1, True, False)
    assert reward.dtype == np.float32


def test_a_terminal_state_at_the_time_limit_has_terminated():
    environment = GymnaxEnvironment(OldWalk(), WalkParams(max_steps_in_episode=3))
    state, _ = environment.reset(jax.random.key(0))
    for _ in range(3):
        state, _, _, terminated, truncated = environment.step(jax.random.key(0), state, jnp.int32(1))
    assert (bool(terminated), bool(truncated)) == (True, False)


@pytest.mark.parametrize(
    ("env_id", "space", "actions", "max_steps"),
    [
        ("gymnax:CartPole-v1", ArraySpace((4,)), 2, 500),
        ("gymnax:CartPole-v1:max_steps_in_episode=200,gravity=5", ArraySpace((4,)), 2, 200),
        ("gymnax:DeepSea-bsuite:size=5,randomize_actions=false", ArraySpace((5, 5)), 2, None),
        ("gymnax:Breakout-MinAtar", ArraySpace((10, 10, 4), "bool"), 3, 1000),
        ("gymnax:Breakout-MinAtar:use_minimal_action_set=false", ArraySpace((10, 10, 4), "bool"), 6, 1000),
    ],
)
def test_ids(env_id, space, actions, max_steps):
    env = make_env(env_id)
    check_environment(env, env_id)
    assert (env.observation_space, env.num_actions) == (space, actions)
    assert max_steps in (None, env.max_steps)


def test_settings_reach_the_environment():
    assert make_env("gymnax:CartPole-v1:gravity=5").params.gravity == 5.0
    assert isinstance(make_env("gymnax:CartPole-v1:gravity=5").params.gravity, float)
    if "FrozenLake-misc" in gymnax.registered_envs:
        assert make_env("gymnax:FrozenLake-misc:map_name=8x8").observation_space == IndexSpace(64)


@pytest.mark.parametrize(
    ("env_id", "message", "hint"),
    [
        ("gymnax:CartPol-v1", "has no environment 'CartPol-v1'", "did you mean 'CartPole-v1'?"),
        ("gymnax:zzz", "has no environment", "registered_envs"),
        ("gymnax:Pendulum-v1", "actions of Pendulum-v1 are not supported", "must be Discrete"),
        ("gymnax:DeepSea-bsuite:sise=3", "unknown setting 'sise'", "did you mean 'size'?"),
        ("gymnax:DeepSea-bsuite:size=big", "size=big is not a whole number", "size=20"),
        ("gymnax:CartPole-v1:gravity=low", "gravity=low is not a number", "gravity=0.5"),
        ("Breakout-MinAtar", "unknown environment", "gymnax:Breakout-MinAtar"),
    ],
)
def test_mistakes(env_id, message, hint):
    with pytest.raises(UserError, match=message) as error:
        make_env(env_id)
    assert hint in error.value.hint


def test_without_gymnax(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gymnax", None)
    with pytest.raises(UserError, match="gymnax is not installed") as error:
        make_env("gymnax:CartPole-v1")
    assert error.value.hint == "pip install 'langevin-dqn[gymnax]'"


def test_a_package_that_gymnax_lacks_is_named(monkeypatch, tmp_path):
    (tmp_path / "gymnax.py").write_text("import no_such_package.part")
    monkeypatch.delitem(__import__("sys").modules, "gymnax", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UserError, match="gymnax needs no_such_package, which is not installed") as error:
        make_env("gymnax:CartPole-v1")
    assert error.value.hint == "pip install no_such_package"


def test_the_runs_of_an_id_share_a_program():
    first, second = (jax.tree.structure(make_env("gymnax:CartPole-v1:gravity=5")) for _ in range(2))
    assert first == second
    assert first != jax.tree.structure(make_env("gymnax:Acrobot-v1"))


def test_train_takes_what_gymnax_makes():
    """The environment, the pair that ``gymnax.make`` returns, or a function that makes one of them."""
    env, params = gymnax.make("CartPole-v1")
    assert as_environment(env).max_steps == 500
    assert as_environment((env, params.replace(max_steps_in_episode=7))).max_steps == 7
    assert as_environment(lambda: gymnax.make("Acrobot-v1")).num_actions == 3
    with pytest.raises(UserError, match="not an environment and its parameters"):
        as_environment((3, 4))


def test_wrappers_are_refused():
    from gymnax.wrappers.purerl import LogWrapper

    with pytest.raises(UserError, match="LogWrapper is a wrapper of gymnax") as error:
        as_environment(LogWrapper(gymnax.make("CartPole-v1")[0]))
    assert "pass the environment without the wrapper" in error.value.hint


@pytest.mark.slow
def test_training_on_a_picture_of_booleans():
    small = {"hidden": (8,), "batch_size": 8, "preset": "paper"}
    result = langevin_dqn.train("langevin_dqn", "gymnax:Breakout-MinAtar", episodes=3, keep_agent=True, **small)
    assert result.episodes == 3
    assert np.isfinite(result.returns).all()
    assert (result.lengths >= 1).all()
    assert type(result.trained.agent.network).__name__ == "Conv"
    _, obs = make_env("gymnax:Breakout-MinAtar").reset(keys.run_key(0))
    values = result.trained.agent.values(result.trained.state, obs)
    assert values.shape == (3,)
    assert np.isfinite(values).all()


def test_parameters_are_traced():
    env = make_env("gymnax:CartPole-v1")
    heavier = dataclasses.replace(env, params=env.params.replace(gravity=20.0))
    assert jax.tree.structure(env) == jax.tree.structure(heavier)
    assert jax.tree.leaves(env) != jax.tree.leaves(heavier)
