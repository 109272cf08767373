"""The compiled loop: every bsuite experiment fits it, a sweep compiles once, alike classes do not share a program."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from own_agents import SixMethods

import langevin_dqn
from langevin_dqn import keys, make_agent, make_env, preset
from langevin_dqn.environments import Environment, IndexSpace
from langevin_dqn.environments.bsuite import mnist_files
from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.loops import compiled
from langevin_dqn.loops.capacity import Room

SMALL = {"hidden": (5,), "batch_size": 8}


@pytest.fixture
def digits(tmp_path, monkeypatch):
    """A folder with 20 digits in MNIST's format."""
    random = np.random.default_rng(0)
    for name, array in (
        (mnist_files.IMAGES, random.integers(0, 256, (20, 28, 28))),
        (mnist_files.LABELS, random.integers(0, 10, 20)),
    ):
        header = np.array([2048 + array.ndim, *array.shape], ">u4")
        (tmp_path / name).write_bytes(header.tobytes() + array.astype(np.uint8).tobytes())
    monkeypatch.setenv(mnist_files.VARIABLE, str(tmp_path))


#: One of each kind of observation; the others are variants of these.
QUICK = ("deep_sea", "catch", "mnist", "memory_len", "cartpole_swingup")


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in SWEEPS])
def test_the_training_program_takes_it(name, digits):
    """Traced with shapes alone: the loops are consistent, and every measure is kept per episode."""
    env, key, episodes = make_env(f"{name}/0"), keys.run_key(0), 5
    agent = make_agent(preset("ensemble_langevin_dqn", "paper"), space=env.observation_space)
    limits = compiled.Limits(jnp.int32(episodes), jnp.int32(9999), jnp.int32(9999), jnp.float32(0))
    carry = jax.eval_shape(lambda: compiled._begin(agent, env, key, Room(episodes, None)))
    after = jax.eval_shape(lambda env, carry: compiled._run_chunk(agent, env, key, carry, limits), env, carry)
    assert jax.tree.map(jnp.shape, after) == jax.tree.map(jnp.shape, carry)
    assert all(m.shape == (episodes,) for m in after.measures.values())


def compilations():
    return sum(program._cache_size() for program in compiled.RUN_CHUNK._compiled.values())


def test_a_sweep_compiles_once(quick_compilation):
    """Learning rate, noise, discount, seed and mapping seed are traced: no new program for another value."""
    run = {"episodes": 6, "members": 2, **SMALL}
    langevin_dqn.train("ensemble_langevin_dqn", "deep_sea:depth=4", preset="paper", seed=0, **run)
    before = compilations()
    assert before > 0
    for seed, changes in enumerate(({"learning_rate": 1e-2}, {"noise_variance": 1e-6}, {"discount": 0.9})):
        env = f"deep_sea:depth=4,mapping_seed={seed}"
        langevin_dqn.train("ensemble_langevin_dqn", env, preset="paper", seed=seed, **run, **changes)
    assert compilations() == before


@pytest.mark.slow
def test_another_shape_is_another_program(quick_compilation):
    langevin_dqn.train("dqn", "probe_action", preset="paper", episodes=2, **SMALL)
    before = compilations()
    langevin_dqn.train("dqn", "probe_action", preset="paper", episodes=2, **SMALL | {"batch_size": 9})
    assert compilations() == before + 1


class OneStep(Environment):
    """A bandit with one state whose reward is its class's."""

    num_actions = 2
    observation_space = IndexSpace(1)
    max_steps = 1

    def reset(self, key):
        return jnp.int32(0), jnp.int32(0)

    def step(self, key, state, action):
        return state, jnp.int32(0), jnp.float32(self.reward), jnp.bool_(True), jnp.bool_(False)


@dataclass(frozen=True)
class Rich(OneStep):
    unused: float = 0.0
    reward = 7.0


@dataclass(frozen=True)
class Poor(OneStep):
    unused: float = 0.0
    reward = -7.0


def test_alike_environments_do_not_share_a_program(quick_compilation):
    """Two classes of equal fields, run in turn: each has its own returns, and one program."""
    for env, reward in ((Rich(), 7.0), (Poor(), -7.0), (Rich(), 7.0), (Poor(), -7.0)):
        result = langevin_dqn.train(SixMethods(), env, episodes=3)
        assert result.returns.tolist() == [reward] * 3
