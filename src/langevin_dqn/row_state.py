"""An agent whose first layer's rows sleep: its state, and acting with it.

Learning is in ``row_learning.py``, the mathematics in
:mod:`langevin_dqn.optimizers.sleeping_rows`.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn.environments.base import IndexSpace, Space
from langevin_dqn.optimizers import sleeping_rows
from langevin_dqn.optimizers.sleeping_rows import Clock, Constants, Rows, Table

if TYPE_CHECKING:
    from langevin_dqn.agent import Agent, AgentState

#: Rows from which sleeping is faster: a dense update grows by 0.22 µs a row, a sleeping one hardly at all.
PAYS_FROM = 600


class RowOptimizer(NamedTuple):
    """What learning needs beside the parameters; arrays lead with the members.

    Attributes:
        rest: alg4's moments for all but the table.
        clock: the rows' clock.
        scratch: memory to find distinct rows with.
    """

    rest: Any
    clock: Clock
    scratch: jax.Array


def pays(space: Space) -> bool:
    """True where touching only the rows read is faster than a step for all of them."""
    return isinstance(space, IndexSpace) and space.n >= PAYS_FROM


def put_to_sleep(agent: "Agent", state: "AgentState") -> "AgentState":
    """A fresh state with the table's rows ready to sleep."""
    rows, rest = state.params
    target_rows, target_rest = state.target
    table, clock = jax.vmap(sleeping_rows.init)(rows, target_rows)
    optimizer = RowOptimizer(
        rest=jax.vmap(agent.optimizer().init)(rest), clock=clock, scratch=jnp.full(rows.shape[:2], -1, jnp.int32)
    )
    return state._replace(params=(table, rest), target=(None, target_rest), optimizer=optimizer)


def attend(agent: "Agent", key: jax.Array, state: "AgentState", obs: jax.Array) -> "AgentState":
    """Wake the acting member's row for ``obs``, so that what it acts on is what it will learn from."""
    table, rest = state.params
    constants, clock = constants_of(agent), _clock_of(state, state.member)
    sync_key, now_key = jax.random.split(key)
    place = (state.member, row_of(table, obs)[None])
    rows = _woken(constants, clock, sync_key, table.rows.take(place), clock.sync)
    target = table.target.at[place].set(sleeping_rows.target_of(clock, rows, table.target[place]))
    # What was written is read back: a compiler that may still read a table after writing to it copies it first.
    rows = rows._replace(value=jnp.where((rows.time <= clock.sync)[:, None], target[place], rows.value))
    rows = _woken(constants, clock, now_key, rows, clock.now)
    woken = table.rows._replace(
        time=table.rows.time.at[place].set(rows.time), value=table.rows.value.at[place].set(rows.value)
    )
    return state._replace(params=(Table(woken, target), rest))


def awake_row(
    agent: "Agent", key: jax.Array | None, state: "AgentState", member: jax.Array, obs: jax.Array
) -> jax.Array:
    """A member's row for ``obs`` as of now, or its mean where there is no key. The state does not remember the draw."""
    table, _ = state.params
    constants, clock = constants_of(agent), _clock_of(state, member)
    if key is None:
        key, constants = jax.random.key(0), constants._replace(noisy=False)
    rows = table.rows.take((member, row_of(table, obs)[None]))
    return _woken(constants, clock, key, rows, clock.now).value[0]


def dense_params(agent: "Agent", key: jax.Array, state: "AgentState") -> Any:
    """Every member's parameters as of now, as the network takes them."""
    table, rest = state.params
    constants = constants_of(agent)
    keys = jax.random.split(key, agent.structure.members)
    flush = jax.vmap(lambda clock, key, table: sleeping_rows.flush(constants, clock, key, table)[0])
    return flush(state.optimizer.clock, keys, table).rows.value, rest


def constants_of(agent: "Agent") -> Constants:
    """alg4's constants, as the rows take them."""
    h, s = agent.hyper, agent.structure
    return Constants(h.learning_rate, h.adam_b1, h.adam_b2, h.adam_eps, s.debiased_drift, s.noisy)


def _woken(constants: Constants, clock: Clock, key: jax.Array, rows: Rows, until: jax.Array) -> Rows:
    """A single row brought to ``until``."""
    z = sleeping_rows.draw(constants, key, jnp.zeros(1), rows.width)
    return sleeping_rows.wake(constants, clock, rows, until, z)


def _clock_of(state: "AgentState", member: jax.Array) -> Clock:
    return jax.tree.map(lambda x: x[member], state.optimizer.clock)


def row_of(table: Table, obs: jax.Array) -> jax.Array:
    """Where an observation's row is; the state after the last is read as the last."""
    return jnp.minimum(obs, table.target.shape[-2] - 1)
