"""Environments as pytrees: one class is never taken for another."""

import itertools
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import langevin_dqn
from langevin_dqn import compiled_training, evaluation
from langevin_dqn.environments.base import IndexSpace, classes_of, pytree
from langevin_dqn.environments.bsuite.wrappers import RewardNoise, RewardScale
from langevin_dqn.environments.registry import FACTORIES, make_env

NAMES = [name for name in FACTORIES if not name.startswith("mnist")]


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
def test_there_and_back(name):
    environment = make_env(name)
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
        size: int = field(metadata={"static": True})
        values: jax.Array

    one, other = Sized(1, jnp.zeros(2)), Sized(2, jnp.zeros(2))
    assert jax.tree.structure(one) != jax.tree.structure(other)
    assert jax.tree.map(lambda x: x + 1, one).size == 1
    assert jax.jit(lambda env: env.values + env.size)(other).tolist() == [2, 2]


def test_classes_are_told_from_the_outside_in():
    inner = make_env("bandit/0")
    assert classes_of(RewardScale(inner, 2.0)) == (RewardScale, type(inner))
    assert classes_of(RewardNoise(inner, 2.0)) == (RewardNoise, type(inner))
    assert classes_of(jnp.zeros(3)) == ()


def _foreign(gain: float):
    """A user's environment, registered as JAX's documentation says."""

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


def test_programs_are_told_the_classes_of_a_users_environment(monkeypatch):
    told = {}

    def listen(module, name, place):
        program = getattr(module, name)

        def call(*args):
            told[name] = args[place]
            return program(*args)

        monkeypatch.setattr(module, name, call)

    as_gymnasium = pytest.importorskip("langevin_dqn.environments.adapters.as_gymnasium")
    for program in (
        (compiled_training, "begin", -1),
        (compiled_training, "run_chunk", -1),
        (evaluation, "_returns", 0),
    ):
        listen(*program)
    for program in ((as_gymnasium, "_reset", 0), (as_gymnasium, "_step", 0)):
        listen(*program)
    for gain in (1.0, 3.0):
        environment = _foreign(gain)
        told.clear()
        result = langevin_dqn.train("dqn", environment, episodes=3, updates_per_step=0, keep_agent=True)
        assert result.returns.tolist() == [gain] * 3
        assert langevin_dqn.evaluate(result.trained, environment, episodes=2).tolist() == [gain] * 2
        gym = as_gymnasium.GymnasiumEnv(environment)
        gym.reset(seed=0)
        assert gym.step(0)[1] == gain
        assert told == dict.fromkeys(("begin", "run_chunk", "_returns", "_reset", "_step"), (type(environment),))
