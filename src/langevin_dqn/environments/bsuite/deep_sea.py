"""Deep Sea, equal to bsuite's step for step."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn.environments import ranges
from langevin_dqn.environments.base import Environment, IndexSpace
from langevin_dqn.pytrees import static
from langevin_dqn.runs import metrics

MIN_DEPTH, MAX_DEPTH = 2, 500
DEFAULT_MAPPING_SEED = 42


class DeepSeaState(NamedTuple):
    row: jax.Array
    column: jax.Array
    bad: jax.Array  # left the diagonal by choice
    treasure: jax.Array  # reached, whatever the reward noise


@dataclass(frozen=True)
class DeepSea(Environment):
    """An N×N grid; each step sinks one row and moves one column left or right.

    The diver starts at the top left; the chest (reward 1) is at the bottom right, reached
    only by moving right N times, at a cost of 0.01/N a move. Which of the two actions
    means right is drawn per cell from ``mapping_seed``, as bsuite does. (The paper's text
    describes the mirror image.) The stochastic sea moves right only with probability
    1 - 1/N and adds N(0, 1) to the reward in the two bottom corners.

    A cell is observed as the index ``row * N + column``.
    """

    action_mapping: jax.Array
    depth: int = static()
    stochastic: bool = static()

    num_actions = 2

    @property
    def observation_space(self) -> IndexSpace:
        return IndexSpace(self.depth**2)

    @property
    def max_return(self) -> float:
        reach = (1 - 1 / self.depth) ** (self.depth - 1) if self.stochastic else 1.0
        return reach - 0.01

    @property
    def learned_regret(self) -> float | None:
        """None with noisy rewards: one lucky draw in the first episode would count as learned."""
        return None if self.stochastic else metrics.LEARNED_SHARE

    @property
    def max_steps(self) -> int:
        return self.depth

    def reset(self, key: jax.Array) -> tuple[DeepSeaState, jax.Array]:
        del key
        state = DeepSeaState(jnp.int32(0), jnp.int32(0), jnp.bool_(False), jnp.bool_(False))
        return state, self._observe(state)

    def step(self, key: jax.Array, state: DeepSeaState, action: jax.Array):
        row, column, bad, treasure = state
        last = self.depth - 1
        right = action == self.action_mapping[row, column]
        # Each reward is rounded once, from float64, so that it equals bsuite's in float32.
        cost = 0.01 / self.depth
        reward = jnp.where(right, jnp.where(column == last, np.float32(1 - cost), np.float32(-cost)), np.float32(0))
        moves_right = right
        if self.stochastic:
            wind_key, reward_key = jax.random.split(key)
            at_end = (row == last) & ((column == 0) | (column == last))
            reward += jnp.where(at_end, jax.random.normal(reward_key), 0.0)
            moves_right = right & (jax.random.uniform(wind_key) > 1 / self.depth)
        # In the wind a failed move to the right stays in its column; a left move never fails.
        shift = jnp.where(moves_right, 1, jnp.where(right, 0, -1))
        state = DeepSeaState(
            row + 1,
            jnp.clip(column + shift, 0, last),
            bad | (~right & (row == column)),
            treasure | (right & (column == last)),
        )
        return state, self._observe(state), reward, state.row == self.depth, jnp.bool_(False)

    def dense(self, obs: jax.Array) -> jax.Array:
        return jax.nn.one_hot(obs, self.depth**2, dtype=jnp.float32).reshape(self.depth, self.depth)

    def measure(self, state: DeepSeaState) -> dict[str, jax.Array]:
        return {"total_bad_episodes": state.bad, "denoised_return": state.treasure}

    def _observe(self, state: DeepSeaState) -> jax.Array:
        return jnp.where(state.row < self.depth, state.row * self.depth + state.column, self.depth**2)


def deep_sea(depth: int = 10, mapping_seed: int = DEFAULT_MAPPING_SEED, stochastic: bool = False) -> DeepSea:
    """Deep Sea, with bsuite's action mapping for ``mapping_seed``."""
    ranges.in_range("depth", depth, MIN_DEPTH, MAX_DEPTH)
    ranges.in_range("mapping_seed", mapping_seed, 0, ranges.MAX_SEED)
    mapping = np.random.RandomState(mapping_seed).binomial(1, 0.5, (depth, depth))
    return DeepSea(jnp.asarray(mapping, jnp.int32), depth, stochastic)


def deep_sea_stochastic(depth: int = 10, mapping_seed: int = DEFAULT_MAPPING_SEED) -> DeepSea:
    """Deep Sea with wind and noisy rewards."""
    return deep_sea(depth, mapping_seed, stochastic=True)
