"""A block of updates with lazy rows, between two copies of the target.

A block's minibatches are drawn at its start, which is the same as drawing them one by one, since
nothing enters the replay between updates. So it is known which rows the block reads:

1. ``_prepare``: these rows are brought to the time of the last copy of the target, each once, and the
   target network's values of them are computed;
2. ``_update``, once for each update: alg2.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from langevin_dqn.agents.learners.lazy_state import (
    LazyState,
    by_group,
    by_member,
    constants_of,
    first_clock,
    groups_of,
    row_of,
)
from langevin_dqn.agents.replay import Replay
from langevin_dqn.agents.update import Problem, loss_gradient, of_actions
from langevin_dqn.optimizers import lazy_rows
from langevin_dqn.optimizers.distinct import Distinct, distinct, sum_by_slot
from langevin_dqn.optimizers.lazy_rows import Clock, Constants, Rows, Table
from langevin_dqn.pytrees import apply_if

#: Rows per group that are prepared together.
CHUNK = 64


class Workspace(NamedTuple):
    """What a block keeps of the rows it reads, a slot for each.

    Attributes:
        target: the rows as of the last copy of the target; leads with (groups, slots).
        values: the target network's values of them; leads with (members, slots).
        scratch: memory to find samples of the same slot with.
    """

    target: jax.Array
    values: jax.Array
    scratch: jax.Array


class Reads(NamedTuple):
    """Which rows a block reads.

    Attributes:
        places: where each slot's row belongs, the groups' tables one after the other.
        chunks: chunks of slots in use.
        target_chunks: of those, the ones that the target network reads; they come first.
        fresh: no row has been read since the last copy of the target.
        copies: the target is copied at the end of the block.
    """

    places: jax.Array
    chunks: jax.Array
    target_chunks: jax.Array
    fresh: jax.Array
    copies: jax.Array


def workspace(problem: Problem, block: int, state: LazyState) -> Workspace:
    """An empty workspace for blocks of at most ``block`` updates."""
    table, groups = state.params[0], groups_of(problem)
    reads = 2 * block * problem.config.batch_size
    slots = -(-reads // CHUNK) * CHUNK
    target = jnp.zeros((groups, slots, table.rows.width))
    values = jax.eval_shape(jax.vmap(_head(problem)), state.target[1], by_member(problem, target))
    return Workspace(target, jnp.zeros(values.shape), jnp.zeros(groups * slots, jnp.int32))


def learn_block(
    problem: Problem,
    block: int,
    key: jax.Array,
    state: LazyState,
    work: Workspace,
    replay: Replay,
    first: jax.Array,
    length: jax.Array,
) -> tuple[LazyState, Workspace]:
    """``length`` updates, of which the last may copy the target; ``first`` is the number of the first one."""
    groups, constants = groups_of(problem), constants_of(problem)
    keys = jax.vmap(lambda i: jax.random.split(jax.random.fold_in(key, first + i), 3))(jnp.arange(block))
    batch, sizes = jax.vmap(lambda key: problem.minibatches(key, replay))(keys[:, 0])
    num_data = sizes[0]
    used = jnp.where(jnp.arange(block) < length, jnp.arange(block), 0)  # do not read for updates not made
    obs = jnp.stack([batch.obs[used, :groups], batch.next_obs[used, :groups]])  # the members of a group read the same
    rows = jnp.moveaxis(row_of(state.params[0], obs), 2, 0).reshape(groups, -1)
    found, scratch = jax.vmap(distinct)(rows, state.optimizer.scratch)
    variance = problem.numbers["noise_variance"]
    if variance is None:
        variance = jnp.float32(0)
    clock = jax.vmap(lambda clock, size: lazy_rows.add_noise(constants, clock, variance, size, block))(
        state.optimizer.clock, num_data[:groups]
    )
    state = state._replace(optimizer=state.optimizer._replace(scratch=scratch, clock=clock))

    reads = _reads(problem, state, work, found, length)
    state, work = _prepare(problem, keys[0, 2], state, work, reads)
    slot = jnp.moveaxis(found.slot.reshape(groups, 2, block, -1), 0, 2)
    next_values = _values_at(work.values, slot[1])
    goal = jax.vmap(jax.vmap(problem.goal))(next_values, batch)

    def update(i, carry):
        state, work = carry
        own_batch, own_goal, own_slot = jax.tree.map(lambda x: x[i], (batch, goal, slot[0]))
        return _update(problem, keys[i, 1], state, work, reads.places, own_batch, own_goal, own_slot, num_data)

    state, work = lax.fori_loop(0, length, update, (state, work))
    return _copy_target(problem, state), work


def _reads(problem: Problem, state: LazyState, work: Workspace, found: Distinct, length: jax.Array) -> Reads:
    groups, count, _ = state.params[0].target.shape
    listed = found.values.shape[1]
    places = jnp.where(found.values < count, found.values + count * jnp.arange(groups)[:, None], groups * count)
    spare = ((0, 0), (0, work.values.shape[1] - listed))
    clock = first_clock(state)
    return Reads(
        places=jnp.pad(places, spare, constant_values=groups * count),
        chunks=_chunks(found.tail[:, 0]),
        target_chunks=_chunks(found.tail[:, listed // 2]),  # next observations are the second half of the list
        fresh=clock.now <= clock.sync,
        copies=(state.counter.updates + length) % problem.numbers["target_period"] == 0,
    )


# The loops below pass on even what they only read: the compiler copies a table that is read in
# one loop and written in the next, unless the second takes it from the first.


def _prepare(problem: Problem, key: jax.Array, state: LazyState, work: Workspace, reads: Reads):
    """Bring the rows to the last copy of the target, and evaluate the target network on them."""
    (table, rest), target_rest = state.params, state.target[1]
    clock, constants = state.optimizer.clock, constants_of(problem)
    heads = jax.vmap(_head(problem))
    flat = _flat(table)

    def prepare(chunk, carry):
        rows_table, target_table, work = carry
        place = _chunk(reads.places, chunk)
        rows = rows_table.take(place)

        behind = (rows.time < clock.sync[:, None]).any()
        value = _advance_if(behind, constants, clock, key, rows, place, clock.sync)
        time = jnp.maximum(rows.time, clock.sync[:, None])
        rows = rows._replace(value=value, time=time)
        seen = lax.cond(
            reads.fresh, lambda: rows.value, lambda: jax.vmap(lazy_rows.target_of)(clock, rows, target_table[place])
        )
        values = apply_if(
            chunk < reads.target_chunks,
            lambda values: _set_chunk(values, chunk, heads(target_rest, by_member(problem, seen))),
            work.values,
        )
        target = apply_if(~reads.copies, lambda target: _set_chunk(target, chunk, seen), work.target)
        rows_table = rows_table._replace(
            time=rows_table.time.at[place].set(time), value=rows_table.value.at[place].set(value)
        )
        return rows_table, target_table, work._replace(target=target, values=values)

    def keep_target(chunk, carry):
        target_table, target = carry
        return target_table.at[_chunk(reads.places, chunk)].set(_chunk(target, chunk)), target

    rows_table, target_table, work = lax.fori_loop(0, reads.chunks, prepare, (flat.rows, flat.target, work))
    kept_chunks = jnp.where(reads.copies, 0, reads.chunks)  # before a copy, these values are not needed again
    target_table, target = lax.fori_loop(0, kept_chunks, keep_target, (target_table, work.target))
    work = work._replace(target=target)
    table = jax.tree.map(lambda x, old: x.reshape(old.shape), Table(rows_table, target_table), table)
    return state._replace(params=(table, rest)), work


def _update(problem: Problem, key, state: LazyState, work: Workspace, places, batch, goal, slot, num_data):
    """alg2 for every member."""
    constants = constants_of(problem)
    table, rest = state.params
    optimizer, clock = state.optimizer, state.optimizer.clock
    now_key, rest_key = jax.random.split(key)
    groups, slots, width = work.target.shape
    flat = _flat(table).rows
    slot = slot + slots * jnp.arange(groups)[:, None]  # of all groups' slots, one group after the other
    place = places.reshape(-1)[slot]
    rows = flat.take(place)

    now = first_clock(state)
    behind = now.now > now.sync
    value = _advance_if(behind, constants, clock, now_key, rows, place, clock.now)
    head = _head(problem)

    def gradient_of(rest, value, goal, batch):
        def chosen(params):
            return of_actions(head(*params), batch.action)

        return loss_gradient(problem, chosen, (rest, value), goal, batch)

    loss, (gradient, row_gradient) = jax.vmap(gradient_of)(rest, by_member(problem, value), goal, batch)
    row_gradient = by_group(problem, row_gradient)
    summed, scratch = sum_by_slot(slot.reshape(-1), row_gradient.reshape(-1, width), work.scratch)
    learned = jax.vmap(lambda *args: lazy_rows.add_gradient(constants, *args))(
        clock, rows, summed.reshape(row_gradient.shape)
    )
    learned = learned._replace(value=value, time=jnp.broadcast_to(clock.now[:, None], rows.time.shape))
    rows = jax.tree.map(lambda x, old: x.reshape(old.shape), flat.put(place, learned), table.rows)
    rest, rest_state = jax.vmap(problem.step)(
        jax.random.split(rest_key, problem.members), gradient, optimizer.rest, rest, num_data
    )
    state = state._replace(
        params=(table._replace(rows=rows), rest),
        optimizer=optimizer._replace(rest=rest_state, clock=lazy_rows.count_update(clock)),
        counter=state.counter.add(loss),
    )
    return state, work._replace(scratch=scratch)


def _advance_if(behind, constants: Constants, clock: Clock, key, rows: Rows, places, until) -> jax.Array:
    """Every group's rows at ``until``, each with the draw of its place in the table, if any is behind."""

    def advanced():
        z = jax.vmap(lambda place: lazy_rows.draw(constants, key, place, rows.width))(places)
        advance = jax.vmap(lambda clock, rows, until, z: lazy_rows.advance(constants, clock, rows, until, z))
        return advance(clock, rows, until, z).value

    # In a branch of its own, what is drawn is kept; a compiler that sees it used twice draws it twice.
    return lax.cond(behind, advanced, lambda: rows.value)


def _copy_target(problem: Problem, state: LazyState) -> LazyState:
    """Copy the target if it is time; for the table that means to keep the time."""
    copies = problem.copies_target(state.counter)
    target_rest = jax.tree.map(lambda new, old: jnp.where(copies, new, old), state.params[1], state.target[1])
    clock = state.optimizer.clock
    clock = clock._replace(sync=jnp.where(copies, clock.now, clock.sync))
    return state._replace(target=(None, target_rest), optimizer=state.optimizer._replace(clock=clock))


def _values_at(values: jax.Array, slot: jax.Array) -> jax.Array:
    """Each member's values at the slots of its group: (updates, members, batch, actions)."""
    shared = slot.shape[1] < values.shape[0]
    return jax.vmap(lambda values, slot: values[slot], (0, None if shared else 1), 1)(
        values, slot[:, 0] if shared else slot
    )


def _head(problem: Problem):
    """The network behind the first layer, for rows of one member."""
    return jax.vmap(problem.network.head, (None, 0))  # type: ignore[attr-defined]


def _flat(table: Table) -> Table:
    """The groups' tables one after the other."""
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), table)


def _chunks(counts: jax.Array) -> jax.Array:
    """Chunks that hold so many slots of every group."""
    return (counts.max() + CHUNK - 1) // CHUNK


def _chunk(tree: Any, chunk: jax.Array) -> Any:
    return jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, chunk * CHUNK, CHUNK, axis=1), tree)


def _set_chunk(tree: Any, chunk: jax.Array, new: Any) -> Any:
    return jax.tree.map(lambda x, y: lax.dynamic_update_slice_in_dim(x, y, chunk * CHUNK, axis=1), tree, new)
