"""Catch a falling ball with a paddle."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn import prng
from langevin_dqn.environments import ranges
from langevin_dqn.environments.base import ArraySpace, Environment, IndexSpace, Space
from langevin_dqn.pytrees import static


class CatchState(NamedTuple):
    row: jax.Array  # of the ball
    column: jax.Array
    paddle: jax.Array


@dataclass(frozen=True)
class Catch(Environment):
    """A ball falls straight down from a random column; 1 for catching it on the bottom row, else -1.

    The paddle starts in the middle and moves left, stays or moves right. The episode
    terminates when the ball is down. bsuite shows the board with a 1 at the ball and a 1 at
    the paddle. A network on that board shares weights between positions, so a lookup by
    state would be another learning problem; the board is what agents see. ``index`` shows
    the state's number instead, for tabular use, and ``dense`` gives its board.
    """

    rows: int = static()
    columns: int = static()
    index: bool = static()

    num_actions = 3

    @property
    def observation_space(self) -> Space:
        if self.index:
            return IndexSpace(self.rows * self.columns**2)
        return ArraySpace((self.rows, self.columns))

    @property
    def max_return(self) -> float:
        """1, unless the board is so wide and low that some columns are out of reach."""
        start, moves = self.columns // 2, self.rows - 1
        in_reach = min(start, moves) + 1 + min(self.columns - 1 - start, moves)
        return 2 * in_reach / self.columns - 1

    @property
    def max_steps(self) -> int:
        return self.rows - 1

    def reset(self, key: jax.Array) -> tuple[CatchState, jax.Array]:
        column = prng.integers(key, (), jnp.int32(self.columns))
        state = CatchState(jnp.int32(0), column, jnp.int32(self.columns // 2))
        return state, self._observe(state)

    def step(self, key: jax.Array, state: CatchState, action: jax.Array):
        del key
        paddle = jnp.clip(state.paddle + action - 1, 0, self.columns - 1)
        state = CatchState(state.row + 1, state.column, paddle)
        down = state.row == self.rows - 1
        reward = jnp.where(down, self._outcome(state), 0.0)
        return state, self._observe(state), reward, down, jnp.bool_(False)

    def dense(self, obs: jax.Array) -> jax.Array:
        if not self.index:
            return obs
        cell, paddle = obs // self.columns, obs % self.columns
        return self._board(CatchState(cell // self.columns, cell % self.columns, paddle))

    def measure(self, state: CatchState) -> dict[str, jax.Array]:
        return {"total_regret": 1 - self._outcome(state)}

    def _outcome(self, state: CatchState) -> jax.Array:
        return jnp.where(state.paddle == state.column, 1, -1).astype(jnp.float32)

    def _observe(self, state: CatchState) -> jax.Array:
        if self.index:
            return (state.row * self.columns + state.column) * self.columns + state.paddle
        return self._board(state)

    def _board(self, state: CatchState) -> jax.Array:
        cells = jnp.arange(self.rows * self.columns).reshape(self.rows, self.columns)
        ball = cells == state.row * self.columns + state.column
        return (ball | (cells == (self.rows - 1) * self.columns + state.paddle)).astype(jnp.float32)


def catch(rows: int = 10, columns: int = 5, index: bool = False) -> Catch:
    """Move a paddle under a falling ball."""
    ranges.in_range("rows", rows, 2, 1000)
    ranges.in_range("columns", columns, 1, 1000)
    return Catch(rows, columns, index)
