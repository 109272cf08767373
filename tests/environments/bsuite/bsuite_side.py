"""Both sides of a comparison: episodes of ours, and bsuite's environments told what we drew."""

from collections import deque
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from bsuite import bsuite, sweep

from langevin_dqn import prng

FAST_COMPILE = {"xla_backend_optimization_level": 0}


class Played(NamedTuple):
    """Episodes by steps; states and observations have one more, at the start."""

    obs: np.ndarray
    pictures: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    states: NamedTuple
    measures: dict

    def episode(self, number):
        return jax.tree.map(lambda x: x[number], self)

    @property
    def lengths(self):
        """Steps up to and including the first end of each episode."""
        ends = self.terminated | self.truncated
        assert ends.any(axis=1).all(), "every episode ends"
        return ends.argmax(axis=1) + 1


def play(env, seed, actions):
    """Episodes of given actions, (episodes, steps), each with its own key."""
    played = _play(env, jax.random.key(seed, impl=prng.PRNG), np.asarray(actions, np.int32))
    return jax.tree.map(np.asarray, played)


@partial(jax.jit, compiler_options=FAST_COMPILE)
def _play(env, key, actions):
    def episode(key, actions):
        keys = jax.random.split(key, len(actions) + 1)
        first_state, first = env.reset(keys[0])

        def step(state, inputs):
            state, *outputs = env.step(inputs[0], state, inputs[1])
            return state, (state, *outputs, env.measure(state))

        _, (states, obs, rewards, terminated, truncated, measures) = jax.lax.scan(
            step, first_state, (keys[1:], actions)
        )

        def with_first(first, rest):
            return jax.numpy.concatenate([first[None], rest])

        obs, states = with_first(first, obs), jax.tree.map(with_first, first_state, states)
        return Played(obs, jax.vmap(env.dense)(obs), rewards, terminated, truncated, states, measures)

    return jax.vmap(episode)(jax.random.split(key, len(actions)), actions)


@partial(jax.jit, static_argnums=2, compiler_options=FAST_COMPILE)
def resets(env, key, count):
    """First states and pictures of many episodes."""
    state, obs = jax.vmap(env.reset)(jax.random.split(key, count))
    return state, jax.vmap(env.dense)(obs)


class Told:
    """Stands in for a NumPy generator, and returns what it is told, whatever it is asked for."""

    def __init__(self, values=()):
        self.values = deque(values)

    def draw(self, *args, **kwargs):
        return self.values.popleft()

    binomial = randint = randn = rand = uniform = draw


class Silent:
    """Stands in for the generator of reward noise."""

    def randn(self):
        return 0.0


def load(env_id):
    """bsuite's environment and the one inside its wrappers, if any; reward noise is switched off."""
    env = bsuite.load(env_id.split("/")[0], sweep.SETTINGS[env_id])
    raw = getattr(env, "raw_env", env)
    if raw is not env:
        env._rng = Silent()
    return env, raw
