"""The state of the lazy learner, and how its rows are addressed."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn.agents.update import Problem, UpdateCount
from langevin_dqn.optimizers.lazy_rows import Clock, Constants, Table


class RowOptimizer(NamedTuple):
    """What learning needs beside the parameters; the leading axis of every array is the member.

    Attributes:
        rest: alg4's moments for everything but the table.
        clock: the rows' clock.
        scratch: memory to find distinct rows with.
    """

    rest: Any
    clock: Clock
    scratch: jax.Array


class LazyState(NamedTuple):
    """The leading axis of every array is the member.

    Attributes:
        params: the table of rows, and the rest of θ.
        target: None, since the table holds its own target, and the rest of θ_target.
        optimizer: moments and clock.
        counter: updates made.
    """

    params: tuple[Table, Any]
    target: tuple[None, Any]
    optimizer: RowOptimizer
    counter: UpdateCount


def constants_of(problem: Problem) -> Constants:
    """alg4's constants, as the rows take them."""
    n = problem.numbers
    noisy = n["noise_variance"] is not None
    return Constants(
        n["learning_rate"], n["adam_b1"], n["adam_b2"], n["adam_eps"], problem.config.bias_correction, noisy
    )


def row_of(table: Table, obs: jax.Array) -> jax.Array:
    """Where an observation's row is; the state after the last is read as the last."""
    return jnp.minimum(obs, table.target.shape[-2] - 1)


def first_clock(state: LazyState) -> Clock:
    """The first member's clock; all members make their updates together."""
    return clock_of(state, 0)


def clock_of(state: LazyState, member: jax.Array | int) -> Clock:
    return jax.tree.map(lambda x: x[member], state.optimizer.clock)
