"""Take an umbrella or not, and learn much later whether that was right."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import prng
from langevin_dqn.environments import ranges
from langevin_dqn.environments.base import ArraySpace, Environment
from langevin_dqn.pytrees import static


class UmbrellaState(NamedTuple):
    step: jax.Array
    need: jax.Array
    has: jax.Array


@dataclass(frozen=True)
class UmbrellaChain(Environment):
    """The first action takes an umbrella (1) or leaves it; the last step pays 1 if that was right, else -1.

    Steps between pay -1 or 1 by chance. bsuite shows ``[need, has, time left]`` and
    distractors, bits drawn anew at every step. The last step terminates the episode.
    """

    clock: jax.Array
    num_distractors: int = static()

    num_actions = 2

    @property
    def observation_space(self) -> ArraySpace:
        return ArraySpace((1, 3 + self.num_distractors))

    @property
    def max_return(self) -> float:
        """The rewards of chance average to 0."""
        return 1.0

    @property
    def max_steps(self) -> int:
        return self.clock.shape[0] - 1

    def reset(self, key: jax.Array) -> tuple[UmbrellaState, jax.Array]:
        coins = self._coins(key)
        state = UmbrellaState(jnp.int32(0), coins[0], coins[1])
        return state, self._observe(state, coins)

    def step(self, key: jax.Array, state: UmbrellaState, action: jax.Array):
        coins = self._coins(key)
        has = jnp.where(state.step == 0, action, state.has)
        state = UmbrellaState(state.step + 1, state.need, has)
        last = state.step == self.max_steps
        by_chance = 2 * coins[0] - 1
        reward = jnp.where(last, self._outcome(state), by_chance).astype(jnp.float32)
        return state, self._observe(state, coins), reward, last, jnp.bool_(False)

    def measure(self, state: UmbrellaState) -> dict[str, jax.Array]:
        return {"total_regret": 1.0 - self._outcome(state)}

    def _coins(self, key: jax.Array) -> jax.Array:
        return (prng.bits(key, (3 + self.num_distractors,)) >> 31).astype(jnp.int32)

    def _outcome(self, state: UmbrellaState) -> jax.Array:
        return jnp.where(state.has == state.need, 1, -1)

    def _observe(self, state: UmbrellaState, coins: jax.Array) -> jax.Array:
        # Selected by place, which vectorizes where concatenation does not; of the coins, those after the third show.
        place = jnp.arange(3 + self.num_distractors)
        known = jnp.where(place == 0, state.need, jnp.where(place == 1, state.has, coins))
        return jnp.where(place == 2, self.clock[state.step], known.astype(jnp.float32))[None]


def _umbrella_chain(length: int, distractors: int) -> UmbrellaChain:
    ranges.in_range("chain_length", length, 1, 10_000)
    ranges.in_range("n_distractor", distractors, 0, 10_000)
    return UmbrellaChain(jnp.asarray(1 - np.arange(length + 1) / length, jnp.float32), distractors)


def umbrella_length(chain_length: int = 10, n_distractor: int = 20) -> UmbrellaChain:
    """Decide whether to take an umbrella, which matters ``chain_length`` steps later."""
    return _umbrella_chain(chain_length, n_distractor)


def umbrella_distract(n_distractor: int = 20) -> UmbrellaChain:
    """Decide whether to take an umbrella, which matters 20 steps later; observations have distractors."""
    return _umbrella_chain(20, n_distractor)
