"""Agents and networks with a mistake each, for ``test_mistakes``."""

from dataclasses import dataclass

import jax.numpy as jnp
from random_walk import RandomWalk

from langevin_dqn.networks import MLP

COUNT = 3


class Unfinished:
    def init(self, key, space, num_actions, capacity):
        return ()


@dataclass(frozen=True)
class Growing(RandomWalk):
    def observe(self, key, state, step):
        return jnp.append(state, step.action)


@dataclass(frozen=True)
class Vague(RandomWalk):
    def act(self, key, state, obs):
        return jnp.ones(2)


@dataclass(frozen=True)
class Stumbling(RandomWalk):
    def learn(self, key, state, steps):
        return state + jnp.ones(3) @ jnp.ones(4)


@dataclass(frozen=True)
class Nameless(RandomWalk):
    def describe(self):
        return {}


@dataclass(frozen=True)
class OneValue(MLP):
    def apply(self, params, obs, index=None):
        return super().apply(params, obs).max()


class NoNetwork:
    pass


def broken(size: int = 3):
    raise RuntimeError("no luck")
