"""alg2 with a first layer whose rows are updated only when they are read.

Equal in distribution to the dense learner, and faster where there are many rows. The mathematics is in
``langevin_dqn.optimizers.lazy_rows``, a block of updates in ``lazy_blocks.py``.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from langevin_dqn.agents.learners.lazy_blocks import learn_block, workspace
from langevin_dqn.agents.learners.lazy_state import (
    LazyState,
    RowOptimizer,
    by_group,
    by_member,
    clock_of,
    constants_of,
    first_clock,
    groups_of,
    row_of,
)
from langevin_dqn.agents.replay import Replay, Transition
from langevin_dqn.agents.update import Look, Problem, UpdateCount, loss_gradient, norm, of_actions
from langevin_dqn.optimizers import lazy_rows
from langevin_dqn.optimizers.lazy_rows import Clock, Constants, Rows, Table
from langevin_dqn.pytrees import apply_if


@dataclass(frozen=True)
class LazyLearner:
    """Carries out a ``Problem`` for the rows that are read.

    Attributes:
        problem: what to minimise.
        block: updates that are carried out together: at most those between two copies of the target.
    """

    problem: Problem
    block: int

    def init(self, params: Any, target: Any) -> LazyState:
        """The initial state for these parameters, of which the leading axis is the member."""
        (rows, rest), (target_rows, target_rest) = params, target
        rows, target_rows = by_group(self.problem, rows), by_group(self.problem, target_rows)
        table, clock = jax.vmap(lazy_rows.init)(rows, target_rows)
        optimizer = RowOptimizer(
            rest=jax.vmap(self.problem.optimizer.init)(rest),
            clock=clock,
            scratch=jnp.full(rows.shape[:2], -1, jnp.int32),
        )
        return LazyState((table, rest), (None, target_rest), optimizer, UpdateCount.zero())

    def read(self, state: LazyState, member: jax.Array, obs: jax.Array, key: jax.Array | None, index: Any = None):
        """One member's values of an observation, without prior.

        The noise since the row was last read is drawn with ``key`` and not remembered; without a
        key the row is taken at its mean.
        """
        del index
        table, rest = state.params
        group = self._group(member)
        constants, clock = constants_of(self.problem), clock_of(state, group)
        if key is None:
            key, constants = jax.random.key(0), constants._replace(noisy=False)
        rows = table.rows.take((group, row_of(table, obs)[None]))
        row = self._own_part(member, _advanced(constants, clock, key, rows, clock.now).value[0])
        return self.problem.network.head(jax.tree.map(lambda x: x[member], rest), row)  # type: ignore[attr-defined]

    def attend(self, key: jax.Array, state: LazyState, member: jax.Array, obs: jax.Array) -> LazyState:
        """Bring the member's row for ``obs`` up to date, so that what it acts on is what it learns from."""
        table, rest = state.params
        group = self._group(member)
        constants, clock = constants_of(self.problem), clock_of(state, group)
        place = (group, row_of(table, obs)[None])
        rows, target = lazy_rows.to_now(
            constants, clock, jax.random.split(key), table.rows.take(place), table.target[place], jnp.zeros(1)
        )
        target = table.target.at[place].set(target)
        updated = table.rows._replace(
            time=table.rows.time.at[place].set(rows.time), value=table.rows.value.at[place].set(rows.value)
        )
        return state._replace(params=(Table(updated, target), rest))

    def dense_params(self, key: jax.Array, state: LazyState) -> Any:
        """Every member's parameters as of now, as the network takes them."""
        table, rest = state.params
        constants = constants_of(self.problem)
        keys = jax.random.split(key, groups_of(self.problem))
        flush = jax.vmap(lambda clock, key, table: lazy_rows.flush(constants, clock, key, table)[0])
        return by_member(self.problem, flush(state.optimizer.clock, keys, table).rows.value), rest

    def scaled(self, state: LazyState, factor: jax.Array) -> LazyState:
        """The state whose values, and those of the target, are ``factor`` times as large; rows stay as they are."""
        scale = self.problem.network.scaled  # type: ignore[attr-defined]
        return state._replace(params=scale(state.params, factor), target=scale(state.target, factor))

    def look_at(self, key: jax.Array, state: LazyState, batch: Transition, num_data: jax.Array) -> Look:
        """What an update with these minibatches would see, without making it, with rows at their mean."""
        del key, num_data
        problem, (table, rest) = self.problem, state.params
        constants = constants_of(problem)._replace(noisy=False)
        heads = jax.vmap(problem.network.head, (None, 0))  # type: ignore[attr-defined]

        def rows_of(table, clock, obs, next_obs):
            place, next_place = row_of(table, obs), row_of(table, next_obs)
            rows = lazy_rows.advance(constants, clock, table.rows.take(place), clock.now, None)
            next_rows = lazy_rows.advance(constants, clock, table.rows.take(next_place), clock.sync, None)
            return rows.value, lazy_rows.target_of(clock, next_rows, table.target[next_place])

        def one(rest, target_rest, rows, seen, batch):
            goal = problem.goal(heads(target_rest, seen), batch)

            def chosen(params):
                return of_actions(heads(*params), batch.action)

            params = rest, rows
            loss, (slope, row_slope) = loss_gradient(problem, chosen, params, goal, batch)
            same_row = batch.obs[:, None] == batch.obs[None, :]  # the gradient of a row is the sum over its samples
            squares = jnp.sum(same_row * (row_slope @ row_slope.T))
            return Look(loss, goal - chosen(params), jnp.sqrt(norm(slope) ** 2 + squares))

        groups = groups_of(problem)
        read = jax.vmap(rows_of)(table, state.optimizer.clock, batch.obs[:groups], batch.next_obs[:groups])
        rows, seen = (by_member(problem, x) for x in read)
        return jax.vmap(one)(rest, state.target[1], rows, seen, batch)

    def learn(self, key: jax.Array, state: LazyState, replay: Replay, count: jax.Array) -> LazyState:
        """``count`` updates, in blocks between flushes: the inner loop never checks whether a flush is due."""
        problem, period = self.problem, self.problem.numbers["target_period"]

        def block(carry):
            done, upto, state, work = carry
            until_copy = period - state.counter.updates % period
            length = jnp.minimum(jnp.minimum(until_copy, upto - done), self.block)
            return done + length, upto, *learn_block(problem, self.block, key, state, work, replay, done, length)

        def between_flushes(carry):
            done, state, work = carry
            upto = jnp.minimum(count, done + lazy_rows.updates_until_flush(first_clock(state)))
            *_, state, work = lax.while_loop(lambda carry: carry[0] < carry[1], block, (done, upto, state, work))
            return upto, self._flush_if_due(jax.random.fold_in(key, count + upto), state), work

        start = jnp.int32(0), state, workspace(problem, self.block, state)
        return lax.while_loop(lambda carry: carry[0] < count, between_flushes, start)[1]

    def _group(self, member: jax.Array) -> jax.Array:
        return member if groups_of(self.problem) > 1 else 0 * member

    def _own_part(self, member: jax.Array, row: jax.Array) -> jax.Array:
        """What belongs to one member of its group's row."""
        sharing = self.problem.members // groups_of(self.problem)
        return row if sharing == 1 else row.reshape(sharing, -1)[member]

    def _flush_if_due(self, key: jax.Array, state: LazyState) -> LazyState:
        """Bring all rows up to date if it is time."""
        constants = constants_of(self.problem)

        def flush(carry):
            table, clock = carry
            # Draws that depend on the loop's state cannot be moved out of the loop, to every update.
            keys = jax.random.split(jax.random.fold_in(key, clock.epoch[0]), groups_of(self.problem))
            return jax.vmap(lambda key, table, clock: lazy_rows.flush(constants, clock, key, table))(keys, table, clock)

        table, rest = state.params
        due = lazy_rows.updates_until_flush(first_clock(state)) <= 0
        table, clock = apply_if(due, flush, (table, state.optimizer.clock))
        return state._replace(params=(table, rest), optimizer=state.optimizer._replace(clock=clock))


def _advanced(constants: Constants, clock: Clock, key: jax.Array, rows: Rows, until: jax.Array) -> Rows:
    """A single row brought to ``until``."""
    z = lazy_rows.draw(constants, key, jnp.zeros(1), rows.width)
    return lazy_rows.advance(constants, clock, rows, until, z)
