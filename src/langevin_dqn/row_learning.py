"""The template's learning when the first layer's rows sleep.

The same algorithm as in ``agent.py``, with the table handled by
:mod:`langevin_dqn.optimizers.sleeping_rows` and everything behind it (``rest``) by
:func:`langevin_dqn.langevin_adam`.

Updates come in blocks that end where the target is copied. A block's minibatches are drawn
at its start, which is the same as drawing them one by one, for nothing enters the replay
between updates. That shows which rows it will read, each of them once:

1. ``_borrow``: the rows go from the table to a small workspace, brought to the last copy
   of the target, and the target network's values of them are found;
2. ``_update``, once for each update: alg2, on the workspace;
3. ``_give_back``: the rows go to the table again.
"""

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax

from langevin_dqn import replay
from langevin_dqn.optimizers import sleeping_rows
from langevin_dqn.optimizers.distinct import Distinct, distinct, sum_by_slot
from langevin_dqn.optimizers.sleeping_rows import Clock, Constants, Rows, Table
from langevin_dqn.row_state import constants_of, row_of

if TYPE_CHECKING:
    from langevin_dqn.agent import Agent, AgentState

#: Rows per member that go to and from the workspace together.
CHUNK = 64


class Workspace(NamedTuple):
    """Room for the rows a block reads: arrays lead with (members, slots).

    Attributes:
        rows: the rows, as of the last copy of the target or later.
        target: them as of that copy.
        values: the target network's values of them.
        scratch: memory to find samples of the same slot with.
    """

    rows: Rows
    target: jax.Array
    values: jax.Array
    scratch: jax.Array


class Reads(NamedTuple):
    """Which rows a block reads.

    Attributes:
        places: where each slot's row belongs, the members' tables one behind the other.
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


def learn_many(
    agent: "Agent", key: jax.Array, state: "AgentState", buffer: replay.Replay, count: jax.Array
) -> "AgentState":
    """``count`` update steps: blocks between flushes, so that the inner loop never looks for one."""

    def block(carry):
        done, upto, state, work = carry
        until_copy = agent.hyper.target_period - state.updates % agent.hyper.target_period
        length = jnp.minimum(jnp.minimum(until_copy, upto - done), agent.structure.block)
        return done + length, upto, *_learn_block(agent, key, state, work, buffer, done, length)

    def some(carry):
        done, state, work = carry
        upto = jnp.minimum(count, done + sleeping_rows.room(_one(state.optimizer.clock)))
        *_, state, work = lax.while_loop(lambda carry: carry[0] < carry[1], block, (done, upto, state, work))
        return upto, _flush_if_due(agent, jax.random.fold_in(key, count + upto), state), work

    start = jnp.int32(0), state, _workspace(agent, state)
    return lax.while_loop(lambda carry: carry[0] < count, some, start)[1]


def _workspace(agent: "Agent", state: "AgentState") -> Workspace:
    table, s = state.params[0], agent.structure
    reads = 2 * s.block * s.batch_size
    slots = -(-reads // CHUNK) * CHUNK
    rows = jax.tree.map(lambda x: jnp.zeros((s.members, slots, *x.shape[2:])), table.rows)
    values = jax.eval_shape(jax.vmap(_head(agent)), state.target[1], rows.value)
    return Workspace(rows, jnp.zeros_like(rows.value), jnp.zeros(values.shape), jnp.zeros(s.members * slots, jnp.int32))


def _learn_block(agent: "Agent", key, state: "AgentState", work: Workspace, buffer: replay.Replay, first, length):
    """``length`` updates, the last of which may copy the target."""
    s, constants = agent.structure, constants_of(agent)
    keys = jax.vmap(lambda i: jax.random.split(jax.random.fold_in(key, first + i), 3))(jnp.arange(s.block))
    batch, sizes = jax.vmap(lambda key: agent.minibatches(key, buffer))(keys[:, 0])
    num_data = sizes[0]
    used = jnp.where(jnp.arange(s.block) < length, jnp.arange(s.block), 0)  # do not read for updates not made
    rows = row_of(state.params[0], jnp.stack([batch.obs[used], batch.next_obs[used]]))
    by_member = jnp.moveaxis(rows, 2, 0).reshape(s.members, -1)
    found, scratch = jax.vmap(distinct)(by_member, state.optimizer.scratch)
    clock = jax.vmap(
        lambda clock, size: sleeping_rows.announce(constants, clock, agent.hyper.noise_variance, size, s.block)
    )(state.optimizer.clock, num_data)
    state = state._replace(optimizer=state.optimizer._replace(scratch=scratch, clock=clock))

    reads = _reads(agent, state, work, found, length)
    state, work = _borrow(agent, keys[0, 2], state, work, reads)
    slot = jnp.moveaxis(found.slot.reshape(s.members, 2, s.block, -1), 0, 2)
    next_values = jax.vmap(lambda values, slot: values[slot], (0, 1), 1)(work.values, slot[1])
    goal = jax.vmap(jax.vmap(agent.td_target))(next_values, batch.next_prior, batch)

    def update(i, carry):
        state, work = carry
        mine, own_goal, own_slot = jax.tree.map(lambda x: x[i], (batch, goal, slot[0]))
        return _update(agent, keys[i, 1], state, work, reads.places, mine, own_goal, own_slot, num_data)

    state, work = lax.fori_loop(0, length, update, (state, work))
    state, work = _give_back(state, work, reads)
    return _copy_target(agent, state), work


def _reads(agent: "Agent", state: "AgentState", work: Workspace, found: Distinct, length: jax.Array) -> Reads:
    members, count, _ = state.params[0].target.shape
    listed = found.values.shape[1]
    places = jnp.where(found.values < count, found.values + count * jnp.arange(members)[:, None], members * count)
    spare = ((0, 0), (0, work.values.shape[1] - listed))
    clock = _one(state.optimizer.clock)
    return Reads(
        places=jnp.pad(places, spare, constant_values=members * count),
        chunks=_chunks(found.tail[:, 0]),
        target_chunks=_chunks(found.tail[:, listed // 2]),  # next observations are the second half of the list
        fresh=clock.now <= clock.sync,
        copies=(state.updates + length) % agent.hyper.target_period == 0,
    )


# The loops below hand on even what they only read: the compiler copies a table that is read in
# one loop and written in the next, unless the second takes it from the first.


def _borrow(agent: "Agent", key: jax.Array, state: "AgentState", work: Workspace, reads: Reads):
    """Bring the rows to the last copy of the target, in the workspace, and look at them with the target network."""
    (table, rest), target_rest = state.params, state.target[1]
    clock, constants = state.optimizer.clock, constants_of(agent)
    heads = jax.vmap(_head(agent))
    flat = _flat(table)

    def bring(looks: bool, chunk, carry):
        stale, noted, work = carry
        place = _chunk(reads.places, chunk)
        rows = stale.take(place)

        asleep = (rows.time < clock.sync[:, None]).any()
        value = _woken_if(asleep, constants, clock, key, rows, place, clock.sync)
        rows = rows._replace(value=value, time=jnp.maximum(rows.time, clock.sync[:, None]))
        seen = lax.cond(
            reads.fresh, lambda: rows.value, lambda: jax.vmap(sleeping_rows.target_of)(clock, rows, noted[place])
        )
        values = _set_chunk(work.values, chunk, heads(target_rest, seen)) if looks else work.values
        # A loop of one turn or none: unlike ``cond``, it leaves the workspace where it is.
        keep = jnp.where(reads.copies, 0, 1)
        target = lax.fori_loop(0, keep, lambda _, target: _set_chunk(target, chunk, seen), work.target)
        work = work._replace(rows=_set_chunk(work.rows, chunk, rows), target=target, values=values)
        return stale, noted, work

    def note(chunk, carry):
        noted, target = carry
        return noted.at[_chunk(reads.places, chunk)].set(_chunk(target, chunk)), target

    carry = lax.fori_loop(0, reads.target_chunks, partial(bring, True), (flat.rows, flat.target, work))
    stale, noted, work = lax.fori_loop(reads.target_chunks, reads.chunks, partial(bring, False), carry)
    noting = jnp.where(reads.copies, 0, reads.chunks)  # before a copy, nobody will ask again
    noted, target = lax.fori_loop(0, noting, note, (noted, work.target))
    work = work._replace(target=target)
    table = jax.tree.map(lambda x, old: x.reshape(old.shape), Table(stale, noted), table)
    return state._replace(params=(table, rest)), work


def _update(agent: "Agent", key, state: "AgentState", work: Workspace, places, batch, goal, slot, num_data):
    """alg2 for every member."""
    s, constants = agent.structure, constants_of(agent)
    table, rest = state.params
    optimizer, clock = state.optimizer, state.optimizer.clock
    now_key, rest_key = jax.random.split(key)
    members, slots, width = work.rows.value.shape
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), work.rows)
    place = slot + slots * jnp.arange(members)[:, None]
    rows = flat.take(place)

    behind = _one(clock).now > _one(clock).sync
    value = _woken_if(behind, constants, clock, now_key, rows, places.reshape(-1)[place], clock.now)
    head = _head(agent)

    def mean_loss(rest, value, goal, batch):
        q = head(rest, value)
        chosen = (q * jax.nn.one_hot(batch.action, q.shape[-1])).sum(-1)
        return agent.mean_squares(goal - chosen, batch)

    loss, (gradient, row_gradient) = jax.vmap(jax.value_and_grad(mean_loss, (0, 1)))(rest, value, goal, batch)
    summed, scratch = sum_by_slot(place.reshape(-1), row_gradient.reshape(-1, width), work.scratch)
    learned = jax.vmap(lambda *args: sleeping_rows.add_gradient(constants, *args))(
        clock, rows, summed.reshape(row_gradient.shape)
    )
    learned = learned._replace(value=value, time=jnp.broadcast_to(clock.now[:, None], rows.time.shape))
    flat = flat.put(place, learned)
    step, rest_state = jax.vmap(
        lambda gradient, state, rest, key, num_data: agent.optimizer().update(
            gradient, state, rest, key=key, num_data=num_data
        )
    )(gradient, optimizer.rest, rest, jax.random.split(rest_key, s.members), num_data)
    state = agent.counted(state, loss)._replace(
        params=(table, optax.apply_updates(rest, step)),
        optimizer=optimizer._replace(rest=rest_state, clock=sleeping_rows.tick(clock)),
    )
    rows = jax.tree.map(lambda x, old: x.reshape(old.shape), flat, work.rows)
    return state, work._replace(rows=rows, scratch=scratch)


def _woken_if(asleep, constants: Constants, clock: Clock, key, rows: Rows, places, until) -> jax.Array:
    """Every member's rows at ``until``, each with the draw of its place in the table, if any is asleep."""

    def woken():
        z = jax.vmap(lambda place: sleeping_rows.draw(constants, key, place, rows.width))(places)
        wake = jax.vmap(lambda clock, rows, until, z: sleeping_rows.wake(constants, clock, rows, until, z))
        return wake(clock, rows, until, z).value

    # In a branch of its own, what is drawn is kept; a compiler that sees it used twice draws it twice.
    return lax.cond(asleep, woken, lambda: rows.value)


def _give_back(state: "AgentState", work: Workspace, reads: Reads) -> tuple["AgentState", Workspace]:
    table, rest = state.params

    def put(chunk, carry):
        rows, mine = carry
        return rows.put(_chunk(reads.places, chunk), _chunk(mine, chunk)), mine

    rows, mine = lax.fori_loop(0, reads.chunks, put, (_flat(table).rows, work.rows))
    rows = jax.tree.map(lambda x, old: x.reshape(old.shape), rows, table.rows)
    return state._replace(params=(table._replace(rows=rows), rest)), work._replace(rows=mine)


def _copy_target(agent: "Agent", state: "AgentState") -> "AgentState":
    """Copy the target if it is time: for the table, note the time."""
    copies = agent.copies_target(state)
    target_rest = jax.tree.map(lambda new, old: jnp.where(copies, new, old), state.params[1], state.target[1])
    clock = state.optimizer.clock
    clock = clock._replace(sync=jnp.where(copies, clock.now, clock.sync))
    return state._replace(target=(None, target_rest), optimizer=state.optimizer._replace(clock=clock))


def _head(agent: "Agent"):
    """The network behind the first layer, for rows of one member."""
    assert agent.network.head is not None, "rows sleep only where the first layer is a table"
    return jax.vmap(agent.network.head, (None, 0))


def _flat(table: Table) -> Table:
    """The members' tables one behind the other."""
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), table)


def _chunks(counts: jax.Array) -> jax.Array:
    """Chunks that hold so many slots of every member."""
    return (counts.max() + CHUNK - 1) // CHUNK


def _chunk(tree: Any, chunk: jax.Array) -> Any:
    return jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, chunk * CHUNK, CHUNK, axis=1), tree)


def _set_chunk(tree: Any, chunk: jax.Array, new: Any) -> Any:
    return jax.tree.map(lambda x, y: lax.dynamic_update_slice_in_dim(x, y, chunk * CHUNK, axis=1), tree, new)


def _flush_if_due(agent: "Agent", key: jax.Array, state: "AgentState") -> "AgentState":
    """A loop of at most one turn: unlike ``cond``, it leaves the table where it is when nothing is due."""
    constants = constants_of(agent)

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
