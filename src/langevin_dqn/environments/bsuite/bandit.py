"""A bandit whose arms pay evenly spaced rewards, in bsuite's order."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn.environments import ranges
from langevin_dqn.environments.base import Environment, IndexSpace


class BanditState(NamedTuple):
    regret: jax.Array  # of the one pull


@dataclass(frozen=True)
class Bandit(Environment):
    """One pull, one reward, and the episode terminates.

    bsuite shows a single pixel, always 1, before and after the pull. That is the one-hot
    picture of a space with one state, so the pixel is observed as index 0.
    """

    rewards: jax.Array

    observation_space = IndexSpace(1)
    max_return = 1.0
    max_steps = 1

    @property
    def num_actions(self) -> int:
        return self.rewards.shape[0]

    def reset(self, key: jax.Array) -> tuple[BanditState, jax.Array]:
        del key
        return BanditState(jnp.float32(0)), jnp.int32(0)

    def step(self, key: jax.Array, state: BanditState, action: jax.Array):
        del key, state
        reward = self.rewards[action]
        return BanditState(1 - reward), jnp.int32(0), reward, jnp.bool_(True), jnp.bool_(False)

    def dense(self, obs: jax.Array) -> jax.Array:
        del obs
        return jnp.ones((1, 1), jnp.float32)

    def measure(self, state: BanditState) -> dict[str, jax.Array]:
        return {"total_regret": state.regret}


def bandit(mapping_seed: int = 0, num_actions: int = 11) -> Bandit:
    """A bandit with rewards from 0 to 1; ``mapping_seed`` assigns them to the arms."""
    ranges.in_range("mapping_seed", mapping_seed, 0, ranges.MAX_SEED)
    ranges.in_range("num_actions", num_actions, 2, 10_000)
    order = np.random.RandomState(mapping_seed).choice(num_actions, size=num_actions, replace=False)
    return Bandit(jnp.asarray(np.linspace(0, 1, num_actions)[order], jnp.float32))
