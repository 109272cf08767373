"""The base class: its defaults, what may replace them, and environments as pytrees."""

import itertools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import langevin_dqn
from langevin_dqn.environments import ArraySpace, Environment, HostEnvironment, IndexSpace, pytree, static
from langevin_dqn.environments.bsuite.wrappers import RewardNoise, RewardScale
from langevin_dqn.environments.registry import FACTORIES, make_env
from langevin_dqn.loops import compiled
from langevin_dqn.pytrees import classes_of

SPACE = IndexSpace(3)
NAMES = [name for name in FACTORIES if not name.startswith("mnist")]


@dataclass(frozen=True)
class Walk(Environment):
    """The least that one can write: walk right until the end."""

    goal: jax.Array
    length: int = static(4)

    num_actions = 2

    @property
    def observation_space(self):
        return IndexSpace(self.length)

    def reset(self, key):
        return jnp.int32(0), jnp.int32(0)

    def step(self, key, state, action):
        state = jnp.clip(state + 2 * action - 1, 0, self.length - 1)
        there = state == self.goal
        return state, state, there.astype(jnp.float32), there, jnp.bool_(False)


def test_defaults():
    walk = Walk(jnp.int32(2))
    assert (walk.max_return, walk.max_steps, walk.learned_regret, walk.measure(0)) == (None, None, None, {})
    np.testing.assert_array_equal(walk.dense(jnp.int32(2)), np.float32([0, 0, 1, 0]))
    assert walk.dense(jnp.int32(2)).dtype == np.float32
    assert not isinstance(walk, HostEnvironment)


def test_an_array_is_its_own_dense_form():
    @dataclass(frozen=True)
    class Camera(Environment):
        observation_space = ArraySpace((2, 3))

    picture = jnp.arange(6.0).reshape(2, 3)
    assert Camera().dense(picture) is picture


def test_a_subclass_is_a_pytree():
    walk = Walk(jnp.int32(2), length=7)
    assert jax.tree.leaves(walk) == [2]
    assert jax.tree.structure(walk) != jax.tree.structure(Walk(jnp.int32(2)))
    assert jax.jit(lambda walk: walk.goal + walk.length)(walk) == 9


@pytest.mark.parametrize("slots", [False, True])
def test_fields_replace_every_default(slots):
    """Also without a default of their own, and before other fields."""

    @dataclass(frozen=True, slots=slots)
    class Sized(Environment):
        max_return: float
        learned_regret: float
        weights: jax.Array
        num_actions: int = static()
        max_steps: int = static(9)
        observation_space: IndexSpace = static(SPACE)  # noqa: RUF009

    sized = Sized(2.0, 0.5, jnp.zeros(2), 5)
    again = jax.tree.map(lambda x: x, sized)
    for one in (sized, again):
        assert (one.max_return, one.learned_regret, one.num_actions, one.max_steps) == (2.0, 0.5, 5, 9)
        assert one.observation_space == SPACE


def test_what_a_subclass_must_define():
    @dataclass(frozen=True)
    class Empty(Environment):
        pass

    for member in ("observation_space", "num_actions"):
        with pytest.raises(AttributeError, match=f"Empty does not define {member}"):
            getattr(Empty(), member)
    for call in (lambda: Empty().reset(None), lambda: Empty().step(None, None, None)):
        with pytest.raises(NotImplementedError, match="Empty does not define"):
            call()


@pytest.mark.usefixtures("quick_compilation")
def test_an_agent_trains_on_the_least_that_one_can_write():
    """Without ``max_steps`` the replay buffer has the size of the configuration."""
    result = langevin_dqn.train(
        "dqn", Walk(jnp.int32(3)), preset="paper", episodes=4, epsilon=1.0, buffer_size=50, batch_size=8
    )
    assert result.returns.tolist() == [1.0] * 4
    assert result.env == "Walk"


def test_environments_of_different_classes_have_different_structures():
    """Equal structures could be given each other's compiled programs."""
    made = {name: make_env(name) for name in NAMES}
    pairs = [(a, b) for a, b in itertools.combinations(made, 2) if classes_of(made[a]) != classes_of(made[b])]
    assert ("bandit_noise", "bandit_scale") in pairs
    alike = [(a, b) for a, b in pairs if jax.tree.structure(made[a]) == jax.tree.structure(made[b])]
    assert alike == []


def test_environments_of_one_class_share_a_structure():
    assert jax.tree.structure(make_env("bandit/0")) == jax.tree.structure(make_env("bandit/7"))
    assert jax.tree.structure(make_env("bandit_scale/0")) == jax.tree.structure(make_env("bandit_scale/16"))


@pytest.mark.parametrize("name", NAMES)
def test_flatten_and_unflatten(name):
    environment = make_env(name)
    assert isinstance(environment, Environment)
    leaves, structure = jax.tree.flatten(environment)
    again = jax.tree.unflatten(structure, leaves)
    assert type(again) is type(environment)
    assert jax.tree.structure(again) == structure
    jax.tree.map(np.testing.assert_array_equal, again, environment)
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(environment)]
    assert len(paths) == len(leaves)
    assert all(path.startswith(".") for path in paths)


def test_what_is_static_is_part_of_the_structure():
    @pytree
    @dataclass(frozen=True)
    class Sized:
        values: jax.Array
        size: int = static()

    one, other = Sized(jnp.zeros(2), 1), Sized(jnp.zeros(2), 2)
    assert jax.tree.structure(one) != jax.tree.structure(other)
    assert jax.tree.map(lambda x: x + 1, one).size == 1
    assert jax.jit(lambda env: env.values + env.size)(other).tolist() == [2, 2]


def test_classes_from_the_outside_in():
    inner = make_env("bandit/0")
    assert classes_of(RewardScale(inner, 2.0)) == (RewardScale, type(inner))
    assert classes_of(RewardNoise(inner, 2.0)) == (RewardNoise, type(inner))
    assert classes_of(jnp.zeros(3)) == ()


def _foreign(gain: float):
    """A user's environment that does not inherit, registered as JAX's documentation says."""

    @jax.tree_util.register_dataclass
    @dataclass(frozen=True)
    class Foreign:
        reward: jax.Array
        observation_space = IndexSpace(1)
        num_actions = 2
        max_return = None
        max_steps = 1

        def reset(self, key):
            return jnp.int32(0), jnp.int32(0)

        def step(self, key, state, action):
            return state, state, gain * self.reward, jnp.bool_(True), jnp.bool_(False)

        def dense(self, obs):
            return jnp.ones(1)

        def measure(self, state):
            return {}

    return Foreign(jnp.float32(1))


@pytest.mark.slow
def test_an_environment_that_does_not_inherit():
    """It is accepted, and programs are compiled for its class: alike classes never share one."""
    as_gymnasium = pytest.importorskip("langevin_dqn.environments.adapters.as_gymnasium")
    for gain in (1.0, 3.0):
        environment = _foreign(gain)
        result = langevin_dqn.train("dqn", environment, preset="paper", episodes=3, updates_per_step=0, keep_agent=True)
        assert result.returns.tolist() == [gain] * 3
        assert langevin_dqn.evaluate(result.trained, environment, episodes=2).tolist() == [gain] * 2
        gym = as_gymnasium.GymnasiumEnv(environment)
        gym.reset(seed=0)
        assert gym.step(0)[1] == gain
        for program in (compiled.BEGIN, compiled.RUN_CHUNK):
            assert program.is_compiled_for(result.trained.agent, environment)
        assert not compiled.BEGIN.is_compiled_for(result.trained.agent, _foreign(gain))
