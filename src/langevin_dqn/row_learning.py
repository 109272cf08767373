"""The template's learning and acting when the first layer's rows sleep.

The same algorithm as in ``agent.py``, with the table handled by
:mod:`langevin_dqn.optimizers.sleeping_rows` and everything behind it (``rest``) by
:func:`langevin_dqn.langevin_adam`.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax

from langevin_dqn import replay
from langevin_dqn.environments.base import IndexSpace, Space
from langevin_dqn.optimizers import sleeping_rows
from langevin_dqn.optimizers.sleeping_rows import Clock, Constants, Rows

if TYPE_CHECKING:
    from langevin_dqn.agent import Agent, AgentState

#: Rows from which sleeping is faster: a dense update grows by 0.22 µs a row, a sleeping one hardly at all.
PAYS_FROM = 600


class RowOptimizer(NamedTuple):
    """What learning needs beside the parameters; arrays lead with the members.

    Attributes:
        rest: alg4's moments for all but the table.
        clock: the rows' clock.
        scratch: memory to find samples of the same row with.
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
        rest=jax.vmap(agent.optimizer().init)(rest), clock=clock, scratch=jnp.zeros(rows.shape[:2], jnp.int32)
    )
    return state._replace(params=(table, rest), target=(None, target_rest), optimizer=optimizer)


def learn_many(
    agent: "Agent", key: jax.Array, state: "AgentState", buffer: replay.Replay, count: jax.Array
) -> "AgentState":
    """``count`` update steps: runs of updates between flushes, so that the inner loop never looks for one."""

    def some(carry):
        done, state = carry
        room = sleeping_rows.room(_one(state.optimizer.clock))
        upto = jnp.minimum(count, done + room)
        state = lax.fori_loop(
            done, upto, lambda i, state: _learn(agent, jax.random.fold_in(key, i), state, buffer), state
        )
        return upto, _flush_if_due(agent, jax.random.fold_in(key, count + upto), state)

    return lax.while_loop(lambda carry: carry[0] < count, some, (jnp.int32(0), state))[1]


def learn(agent: "Agent", key: jax.Array, state: "AgentState", buffer: replay.Replay) -> "AgentState":
    """One update step: alg2 for every member."""
    return _flush_if_due(agent, jax.random.split(key, 3)[2], _learn(agent, key, state, buffer))


def _learn(agent: "Agent", key: jax.Array, state: "AgentState", buffer: replay.Replay) -> "AgentState":
    batch_key, noise_key, _ = jax.random.split(key, 3)  # the same minibatches as in the dense step
    batch, num_data = agent.minibatches(batch_key, buffer)
    keys = jax.random.split(noise_key, agent.structure.members)
    params, optimizer, loss = jax.vmap(lambda *xs: _update(agent, *xs))(
        keys, state.params, state.target[1], state.optimizer, batch, num_data
    )
    state = agent.counted(state, loss)
    sync = agent.copies_target(state)
    target_rest = jax.tree.map(lambda new, old: jnp.where(sync, new, old), params[1], state.target[1])
    clock = optimizer.clock
    clock = clock._replace(sync=jnp.where(sync, clock.now, clock.sync))
    return state._replace(params=params, target=(None, target_rest), optimizer=optimizer._replace(clock=clock))


def attend(agent: "Agent", key: jax.Array, state: "AgentState", obs: jax.Array) -> "AgentState":
    """Wake the acting member's row for ``obs``, so that what it acts on is what it will learn from."""
    table, rest = state.params
    woken = _awake(agent, key, state, state.member, obs)
    return state._replace(params=(table.put((state.member, _row(table, obs)[None]), woken), rest))


def awake_row(
    agent: "Agent", key: jax.Array | None, state: "AgentState", member: jax.Array, obs: jax.Array
) -> jax.Array:
    """A member's row for ``obs`` as of now, or its mean where there is no key. The state does not remember the draw."""
    return _awake(agent, key, state, member, obs).value[0]


def dense_params(agent: "Agent", key: jax.Array, state: "AgentState") -> Any:
    """Every member's parameters as of now, as the network takes them."""
    table, rest = state.params
    constants = _constants(agent)
    keys = jax.random.split(key, agent.structure.members)
    flush = jax.vmap(lambda clock, key, table: sleeping_rows.flush(constants, clock, key, table)[0])
    return flush(state.optimizer.clock, keys, table).value, rest


def _update(agent: "Agent", key, params, target_rest, optimizer: RowOptimizer, batch, num_data):
    """alg2 for one member."""
    table, rest = params
    clock = optimizer.clock
    constants = _constants(agent)
    sync_key, now_key, rest_key = jax.random.split(key, 3)
    index, next_index = batch.obs, jnp.minimum(batch.next_obs, table.count - 1)
    both = jnp.concatenate([next_index, index])
    table, awake = sleeping_rows.wake_to_sync(constants, clock, sync_key, table, both)
    next_rows, rows = awake.take(slice(index.size)), awake.take(slice(index.size, None))
    table, values = sleeping_rows.wake_to_now(constants, clock, now_key, table, rows, index)
    target_rows = sleeping_rows.target_of(clock, next_rows)
    assert agent.network.head is not None, "rows sleep only where the first layer is a table"
    head = jax.vmap(agent.network.head, (None, 0))
    goal = agent.td_target(head(target_rest, target_rows), batch.next_prior, batch)

    def mean_loss(rest, values):
        q = head(rest, values)
        chosen = (q * jax.nn.one_hot(batch.action, q.shape[-1])).sum(-1)
        return agent.mean_squares(goal - chosen, batch)

    loss, (gradient, row_gradient) = jax.value_and_grad(mean_loss, (0, 1))(rest, values)
    row_gradient, scratch = sleeping_rows.sum_by_row(index, row_gradient, optimizer.scratch)
    table = sleeping_rows.add_gradient(constants, clock, table, rows, index, row_gradient)
    step, rest_state = agent.optimizer().update(gradient, optimizer.rest, rest, key=rest_key, num_data=num_data)
    clock = sleeping_rows.tick(constants, clock, agent.hyper.noise_variance, num_data)
    return (table, optax.apply_updates(rest, step)), RowOptimizer(rest_state, clock, scratch), loss


def _awake(agent: "Agent", key: jax.Array | None, state: "AgentState", member, obs) -> Rows:
    """One row brought to now, as a table of one."""
    table, _ = state.params
    constants = _constants(agent)
    if key is None:
        key, constants = jax.random.key(0), constants._replace(noisy=False)
    sync_key, now_key = jax.random.split(key)
    clock = jax.tree.map(lambda x: x[member], state.optimizer.clock)
    only = jnp.zeros(1, jnp.int32)
    row = table.take((member, _row(table, obs)[None]))
    row, awake = sleeping_rows.wake_to_sync(constants, clock, sync_key, row, only)
    return sleeping_rows.wake_to_now(constants, clock, now_key, row, awake, only)[0]


def _row(table: Rows, obs: jax.Array) -> jax.Array:
    return jnp.minimum(obs, table.count - 1)


def _flush_if_due(agent: "Agent", key: jax.Array, state: "AgentState") -> "AgentState":
    """A loop of at most one turn: unlike ``cond``, it leaves the table where it is when nothing is due."""
    constants = _constants(agent)

    def flush(carry):
        table, clock = carry
        # Draws that depend on the loop's state cannot be moved out of the loop, to every update.
        keys = jax.random.split(jax.random.fold_in(key, clock.epoch[0]), agent.structure.members)
        return jax.vmap(lambda key, table, clock: sleeping_rows.flush(constants, clock, key, table))(keys, table, clock)

    def due(carry):
        return sleeping_rows.room(_one(carry[1])) <= 0

    table, rest = state.params
    table, clock = lax.while_loop(due, flush, (table, state.optimizer.clock))
    return state._replace(params=(table, rest), optimizer=state.optimizer._replace(clock=clock))


def _one(clock: Clock) -> Clock:
    """The first member's clock; all members make their updates together."""
    return jax.tree.map(lambda x: x[0], clock)


def _constants(agent: "Agent") -> Constants:
    h, s = agent.hyper, agent.structure
    return Constants(h.learning_rate, h.adam_b1, h.adam_b2, h.adam_eps, s.debiased_drift, s.noisy)
