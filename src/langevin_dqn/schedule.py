"""When updates happen, and when they have gone wrong: what every training loop shares."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn.agent import Agent, AgentState
from langevin_dqn.config import AgentConfig
from langevin_dqn.replay import Replay


class Schedule(NamedTuple):
    """Updates per environment step, and the data they need first; traced."""

    updates_per_step: jax.Array
    min_replay_size: jax.Array

    @classmethod
    def of(cls, config: AgentConfig) -> "Schedule":
        return cls(jnp.int32(config.updates_per_step), jnp.int32(max(config.min_replay_size, 1)))


def learn(agent: Agent, schedule: Schedule, key: jax.Array, state: AgentState, replay: Replay, steps) -> AgentState:
    """U updates for each of ``steps`` environment steps, once every buffer has enough data."""
    ready = replay.size.min() >= schedule.min_replay_size
    count = jnp.where(ready, schedule.updates_per_step * steps, 0)
    return agent.learn_many(key, state, replay, count)


def is_finite(state: AgentState) -> jax.Array:
    """False once parameters, or the loss of any update, are not finite."""
    leaves = [jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(state.params)]
    return jnp.stack(leaves).all() & (state.nonfinite_update == 0)
