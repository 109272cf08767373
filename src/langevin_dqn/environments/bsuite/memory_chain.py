"""Remember what was shown at the start until it is asked for."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import prng
from langevin_dqn.environments import ranges
from langevin_dqn.environments.base import ArraySpace, Environment
from langevin_dqn.pytrees import static


class MemoryState(NamedTuple):
    step: jax.Array
    bits: jax.Array  # as shown: -1 or 1, after two places for time and query
    query: jax.Array  # which bit is asked for
    right: jax.Array  # the answer was


@dataclass(frozen=True)
class MemoryChain(Environment):
    """Bits are shown at the start, a bit's number later; the last action must name that bit: reward 1, else -1.

    bsuite shows ``[time left, query, bits as -1 or 1]``, bits and query as 0 while hidden.
    It shows a step late: the first observation appears twice, so that an episode has
    ``length + 1`` steps, of which only the last, a termination, is rewarded.
    """

    clock: jax.Array
    num_bits: int = static()

    num_actions = 2

    @property
    def length(self) -> int:
        return self.clock.shape[0] - 1

    @property
    def observation_space(self) -> ArraySpace:
        return ArraySpace((1, self.num_bits + 2))

    @property
    def max_return(self) -> float:
        """What an agent with memory earns; one without earns 0 on average."""
        return 1.0

    @property
    def max_steps(self) -> int:
        return self.length + 1

    def reset(self, key: jax.Array) -> tuple[MemoryState, jax.Array]:
        bits_key, query_key = jax.random.split(key)
        bits = 2 * prng.coins(bits_key, self.num_bits + 2) - 1
        query = prng.integers(query_key, (), jnp.int32(self.num_bits))
        state = MemoryState(jnp.int32(0), bits, query, jnp.bool_(False))
        return state, self._observe(state)

    def step(self, key: jax.Array, state: MemoryState, action: jax.Array):
        del key
        last = state.step == self.length
        right = (action == 1) == (state.bits[state.query + 2] == 1)
        reward = jnp.where(last, jnp.where(right, 1, -1), 0).astype(jnp.float32)
        obs = self._observe(state)
        return state._replace(step=state.step + 1, right=right), obs, reward, last, jnp.bool_(False)

    def measure(self, state: MemoryState) -> dict[str, jax.Array]:
        return {"total_perfect": state.right, "total_regret": 2.0 * ~state.right}

    def _observe(self, state: MemoryState) -> jax.Array:
        # Selected by place, which vectorizes where concatenation does not.
        place = jnp.arange(self.num_bits + 2)
        query = jnp.where(state.step == self.length - 1, state.query, 0)
        hints = jnp.where(place == 1, query, jnp.where(state.step == 0, state.bits, 0)).astype(jnp.float32)
        return jnp.where(place == 0, self.clock[state.step], hints)[None]


def _memory_chain(length: int, num_bits: int) -> MemoryChain:
    ranges.in_range("memory_length", length, 1, 10_000)
    ranges.in_range("num_bits", num_bits, 1, 10_000)
    return MemoryChain(jnp.asarray(1 - np.arange(length + 1) / length, jnp.float32), num_bits)


def memory_len(memory_length: int = 10) -> MemoryChain:
    """Remember one bit for ``memory_length`` steps."""
    return _memory_chain(memory_length, 1)


def memory_size(num_bits: int = 5) -> MemoryChain:
    """Remember ``num_bits`` bits for two steps."""
    return _memory_chain(2, num_bits)
