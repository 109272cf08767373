"""Remember what was shown at the start until it is asked for."""

from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn.environments import checks
from langevin_dqn.environments.base import ArraySpace
from langevin_dqn.optimizers import noise


class MemoryState(NamedTuple):
    step: jax.Array
    context: jax.Array  # bits
    query: jax.Array  # which bit is asked for
    right: jax.Array  # the answer was


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class MemoryChain:
    """Bits are shown at the start, a bit's number later; the last action must name that bit: reward 1, else -1.

    bsuite shows ``[time left, query, bits as -1 or 1]``, bits and query as 0 while hidden.
    It shows a step late: the first observation appears twice, so that an episode has
    ``length + 1`` steps, of which only the last, a termination, is rewarded.
    """

    clock: jax.Array
    num_bits: int = field(metadata={"static": True})

    @property
    def length(self) -> int:
        return self.clock.shape[0] - 1

    @property
    def observation_space(self) -> ArraySpace:
        return ArraySpace((1, self.num_bits + 2))

    @property
    def num_actions(self) -> int:
        return 2

    @property
    def max_return(self) -> float:
        """What an agent with memory earns; one without earns 0 on average."""
        return 1.0

    @property
    def max_steps(self) -> int:
        return self.length + 1

    def reset(self, key: jax.Array) -> tuple[MemoryState, jax.Array]:
        words = noise.bits(key, (self.num_bits + 1,))
        context = (words[1:] >> 31).astype(jnp.int32)
        query = (words[0] % np.uint32(self.num_bits)).astype(jnp.int32)
        state = MemoryState(jnp.int32(0), context, query, jnp.bool_(False))
        return state, self._observe(state)

    def step(self, key: jax.Array, state: MemoryState, action: jax.Array):
        del key
        last = state.step == self.length
        right = action == state.context[state.query]
        reward = jnp.where(last, jnp.where(right, 1, -1), 0).astype(jnp.float32)
        obs = self._observe(state)
        return state._replace(step=state.step + 1, right=right), obs, reward, last, jnp.bool_(False)

    def dense(self, obs: jax.Array) -> jax.Array:
        return obs

    def measure(self, state: MemoryState) -> dict[str, jax.Array]:
        return {"total_perfect": state.right, "total_regret": 2.0 * ~state.right}

    def _observe(self, state: MemoryState) -> jax.Array:
        query = jnp.where(state.step == self.length - 1, state.query, 0)
        context = jnp.where(state.step == 0, 2 * state.context - 1, 0)
        hints = jnp.concatenate([query[None], context]).astype(jnp.float32)
        return jnp.concatenate([self.clock[state.step][None], hints])[None]


def _memory_chain(length: int, num_bits: int) -> MemoryChain:
    checks.in_range("memory_length", length, 1, 10_000)
    checks.in_range("num_bits", num_bits, 1, 10_000)
    return MemoryChain(jnp.asarray(1 - np.arange(length + 1) / length, jnp.float32), num_bits)


def memory_len(memory_length: int = 10) -> MemoryChain:
    """Remember one bit for a number of steps."""
    return _memory_chain(memory_length, 1)


def memory_size(num_bits: int = 5) -> MemoryChain:
    """Remember a number of bits for two steps."""
    return _memory_chain(2, num_bits)
