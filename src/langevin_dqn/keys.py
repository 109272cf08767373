"""The layout of random keys, in one place.

A run has one key, made of its seed. The agent's initial state uses ``fold_in(run_key, 0)``, episode n
(from 1) uses ``fold_in(run_key, n)``. An episode's key is split for its four uses, and each of its
steps folds its number into the last of them. Stored runs depend on this layout.
"""

from typing import NamedTuple

import jax

from langevin_dqn import prng


class EpisodeKeys(NamedTuple):
    """For the updates before an episode, the draw of what to act on, the environment's reset, and the steps."""

    learn: jax.Array
    begin: jax.Array
    reset: jax.Array
    steps: jax.Array


class StepKeys(NamedTuple):
    """For what happens in one step, in this order."""

    attend: jax.Array
    act: jax.Array
    environment: jax.Array
    observe: jax.Array
    learn: jax.Array


def run_key(seed: int | jax.Array) -> jax.Array:
    """The key of a run.

    Examples:
        >>> import jax
        >>> keys = jax.vmap(run_key)(jax.numpy.arange(8))
        >>> keys.shape
        (8,)
    """
    return jax.random.key(seed, impl=prng.PRNG)


def init_key(key: jax.Array) -> jax.Array:
    """The key of the agent's initial state."""
    return jax.random.fold_in(key, 0)


def prepare_key(key: jax.Array) -> jax.Array:
    """The key of the random steps before training, of agents that ask for some."""
    return jax.random.fold_in(init_key(key), 1)


def metrics_key(key: jax.Array, episodes: jax.Array | int) -> jax.Array:
    """The key of what is measured for people to watch after so many episodes; nothing else is drawn with it."""
    return jax.random.fold_in(jax.random.fold_in(init_key(key), 2), episodes)


def episode_keys(key: jax.Array, number: jax.Array | int) -> EpisodeKeys:
    """The keys of an episode, counted from 1."""
    return EpisodeKeys(*jax.random.split(jax.random.fold_in(key, number), 4))


def step_keys(steps_key: jax.Array, step: jax.Array | int) -> StepKeys:
    """The keys of a step of the episode that ``steps_key`` belongs to, counted from 0."""
    return StepKeys(*jax.random.split(jax.random.fold_in(steps_key, step), 5))
