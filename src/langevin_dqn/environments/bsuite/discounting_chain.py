"""Five chains that pay sooner or later, one of them a little more."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn.environments import ranges
from langevin_dqn.environments.base import ArraySpace, Environment

PAYS_AT = (1, 3, 10, 30, 100)
LENGTH = 100
BONUS = 0.1


class ChainState(NamedTuple):
    step: jax.Array
    chain: jax.Array  # -1 until it is chosen


@dataclass(frozen=True)
class DiscountingChain(Environment):
    """The first action chooses a chain, which pays 1 once, after 1, 3, 10, 30 or 100 steps; no other action matters.

    One chain, decided by the seed, pays 10% more, so an agent that discounts much prefers
    the wrong one. bsuite shows the chain (-1 before the choice) and the share of the 100
    steps gone, which terminate the episode.
    """

    rewards: jax.Array
    pays_at: jax.Array
    clock: jax.Array

    observation_space = ArraySpace((1, 2))
    num_actions = len(PAYS_AT)
    max_return = 1 + BONUS
    max_steps = LENGTH

    def reset(self, key: jax.Array) -> tuple[ChainState, jax.Array]:
        del key
        state = ChainState(jnp.int32(0), jnp.int32(-1))
        return state, self._observe(state)

    def step(self, key: jax.Array, state: ChainState, action: jax.Array):
        del key
        chain = jnp.where(state.step == 0, action, state.chain)
        state = ChainState(state.step + 1, chain)
        reward = jnp.where(state.step == self.pays_at[chain], self.rewards[chain], 0.0)
        return state, self._observe(state), reward, state.step == LENGTH, jnp.bool_(False)

    def _observe(self, state: ChainState) -> jax.Array:
        return jnp.stack([state.chain.astype(jnp.float32), self.clock[state.step]])[None]


def discounting_chain(mapping_seed: int = 0) -> DiscountingChain:
    """The first action chooses one of five delays of the reward; number ``mapping_seed`` modulo 5 has a bonus."""
    ranges.in_range("mapping_seed", mapping_seed, 0, ranges.MAX_SEED)
    rewards = np.ones(len(PAYS_AT))
    rewards[mapping_seed % len(PAYS_AT)] += BONUS
    return DiscountingChain(
        jnp.asarray(rewards, jnp.float32),
        jnp.asarray(PAYS_AT, jnp.int32),
        jnp.asarray(np.arange(LENGTH + 1) / LENGTH, jnp.float32),
    )
