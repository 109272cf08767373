"""Agents and networks of a user's own, as plain as the protocol allows; also named by ids in tests."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn.pytrees import pytree


class Counts(NamedTuple):
    """What a bandit learner knows: sums of rewards and counts by action."""

    total: jax.Array
    count: jax.Array
    learned: jax.Array


@pytree
@dataclass(frozen=True)
class SixMethods:
    """An average of rewards by action: the six methods of the protocol and nothing else."""

    bonus: Any = 1.0
    learns_within = False

    def init(self, key, space, num_actions, capacity):
        return Counts(jnp.zeros(num_actions), jnp.zeros(num_actions), jnp.int32(0))

    def begin_episode(self, key, state):
        return state

    def act(self, key, state, obs):
        return jnp.argmax(state.total / jnp.maximum(state.count, 1) + self.bonus / jnp.sqrt(state.count + 1e-3))

    def observe(self, key, state, step):
        return state._replace(
            total=state.total.at[step.action].add(step.reward), count=state.count.at[step.action].add(1)
        )

    def learn(self, key, state, steps):
        return state._replace(learned=state.learned + steps)

    def describe(self):
        return {"version": "1", "bonus": float(self.bonus)}


def make_six(bonus=1.0):
    return SixMethods(bonus)


@dataclass(frozen=True)
class Linear:
    """A table of values: the two methods of a network and nothing else, no ``index`` and no base class."""

    scale: float = 1.0

    def init(self, key, space, num_actions):
        return jax.random.normal(key, (space.n, num_actions))

    def apply(self, params, obs):
        return self.scale * params[obs]


def make_linear():
    return Linear(0.5)
