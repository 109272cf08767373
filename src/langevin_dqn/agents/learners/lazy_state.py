"""The state of the lazy learner, and how its rows are addressed.

A table belongs to one member or, where all members learn from the same minibatches, to all of them: they then read
the same rows at the same updates, and a row holds the parameters of every member side by side, so that it moves in
one piece. The members that share a table are a *group*.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn.agents.update import Problem, UpdateCount
from langevin_dqn.optimizers.lazy_rows import Clock, Constants, Table


class RowOptimizer(NamedTuple):
    """What learning needs beside the parameters.

    Attributes:
        rest: alg4's moments for everything but the table; leads with the member.
        clock: the rows' clock; leads with the group.
        scratch: memory to find distinct rows with; leads with the group.
    """

    rest: Any
    clock: Clock
    scratch: jax.Array


class LazyState(NamedTuple):
    """The leading axis of a table's arrays is the group, that of all others the member.

    Attributes:
        params: the tables of rows, and the rest of θ.
        target: None, since the table holds its own target, and the rest of θ_target.
        optimizer: moments and clock.
        counter: updates made.
    """

    params: tuple[Table, Any]
    target: tuple[None, Any]
    optimizer: RowOptimizer
    counter: UpdateCount


def groups_of(problem: Problem) -> int:
    """How many tables there are: one for all members if they learn from the same minibatches, else one for each."""
    return 1 if problem.config.shared_minibatch and not problem.layout.separate else problem.members


def by_group(problem: Problem, x: jax.Array) -> jax.Array:
    """Rows of each member, (members, rows, width), as rows of each group, members side by side."""
    groups = groups_of(problem)
    members, rows, width = x.shape
    sharing = members // groups
    if sharing == 1:
        return x
    return jnp.concatenate(jnp.unstack(x.reshape(groups, sharing, rows, width), axis=1), axis=-1)


def by_member(problem: Problem, x: jax.Array) -> jax.Array:
    """The inverse of ``by_group``."""
    groups, rows, width = x.shape
    sharing = problem.members // groups
    if sharing == 1:
        return x
    return jnp.swapaxes(x.reshape(groups, rows, sharing, width // sharing), 1, 2).reshape(-1, rows, width // sharing)


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
    """The first group's clock; all make their updates together."""
    return clock_of(state, 0)


def clock_of(state: LazyState, group: jax.Array | int) -> Clock:
    return jax.tree.map(lambda x: x[group], state.optimizer.clock)
