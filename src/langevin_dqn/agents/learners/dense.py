"""alg2 as it stands: every update moves all parameters of every member."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from langevin_dqn.agents.replay import Replay, Transition
from langevin_dqn.agents.update import Look, Problem, UpdateCount, loss_gradient, norm, of_actions
from langevin_dqn.networks import base as networks
from langevin_dqn.pytrees import apply_if


class DenseState(NamedTuple):
    """The leading axis of every array is the member.

    Attributes:
        params: θ.
        target: θ_target, or its values of all states (members, states, actions) where there are few.
        optimizer: the moments of alg4.
        counter: updates made.
    """

    params: Any
    target: Any
    optimizer: Any
    counter: UpdateCount


@dataclass(frozen=True)
class DenseLearner:
    """Carries out a ``Problem`` for all parameters.

    Attributes:
        problem: what to minimise.
        tabulates: keep the target as its values of all states, computed once per copy: cheaper for few states.
    """

    problem: Problem
    tabulates: bool = False

    def init(self, params: Any, target: Any) -> DenseState:
        """The initial state for these parameters, of which the leading axis is the member."""
        optimizer = jax.vmap(self.problem.optimizer.init)(params)
        return DenseState(params, self._as_target(target), optimizer, UpdateCount.zero())

    def read(self, state: DenseState, member: jax.Array, obs: jax.Array, key: jax.Array | None, index: Any = None):
        """One member's values of an observation, without prior."""
        del key
        return networks.member_values(self.problem.network, state.params, member, obs, index)

    def attend(self, key: jax.Array, state: DenseState, member: jax.Array, obs: jax.Array) -> DenseState:
        del key, member, obs
        return state

    def dense_params(self, key: jax.Array, state: DenseState) -> Any:
        """Every member's parameters as the network takes them."""
        del key
        return state.params

    def scaled(self, state: DenseState, factor: jax.Array) -> DenseState:
        """The state whose values, and those of the target, are ``factor`` times as large."""
        scale = self.problem.network.scaled  # type: ignore[attr-defined]
        target = state.target * factor if self.tabulates else scale(state.target, factor)
        return state._replace(params=scale(state.params, factor), target=target)

    def learn(self, key: jax.Array, state: DenseState, replay: Replay, count: jax.Array) -> DenseState:
        """``count`` updates."""
        return lax.fori_loop(
            0, count, lambda i, state: self._update_all(jax.random.fold_in(key, i), state, replay), state
        )

    def _update_all(self, key: jax.Array, state: DenseState, replay: Replay) -> DenseState:
        """One update of every member, then a copy of the target every ``target_period`` updates."""
        problem = self.problem
        batch_key, noise_key, index_key = jax.random.split(key, 3)
        batch, num_data = problem.minibatches(batch_key, replay)
        members = problem.members
        indices = self._indices(index_key, state.counter)
        params, optimizer, loss = jax.vmap(self._update)(
            jax.random.split(noise_key, members), state.params, state.target, state.optimizer, batch, num_data, indices
        )
        counter = state.counter.add(loss)
        copies = problem.copies_target(counter)
        if self.tabulates:
            target = lax.cond(copies, lambda: self._as_target(params), lambda: state.target)
        else:
            target = jax.tree.map(lambda new, old: jnp.where(copies, new, old), params, state.target)
        return DenseState(params, target, optimizer, counter)

    def _update(self, key, params, target, optimizer_state, batch: Transition, num_data, indices):
        """alg2 for one member."""
        loss, gradient = self._gradient(params, target, batch, num_data, indices)
        return *self.problem.step(key, gradient, optimizer_state, params, num_data), loss

    def _gradient(self, params, target, batch: Transition, num_data, indices):
        """Line 3 of alg2: one member's loss, and what the optimizer receives."""
        problem = self.problem
        index, goal = indices[0], self._goal(target, batch, indices)
        loss, gradient = loss_gradient(
            problem, lambda params: self._chosen_values(params, batch, index), params, goal, batch
        )
        return loss, problem.add_penalty(gradient, params, num_data)

    def _goal(self, target, batch: Transition, indices) -> jax.Array:
        return self.problem.goal(self._target_values(target, batch.next_obs, indices[1]), batch)

    def look_at(self, key: jax.Array, state: DenseState, batch: Transition, num_data: jax.Array) -> Look:
        """What an update with these minibatches would see, without making it."""

        def one(params, target, batch, num_data, indices):
            loss, gradient = self._gradient(params, target, batch, num_data, indices)
            error = self._goal(target, batch, indices) - self._chosen_values(params, batch, indices[0])
            return Look(loss, error, norm(gradient))

        return jax.vmap(one)(state.params, state.target, batch, num_data, self._indices(key, state.counter))

    def _indices(self, key: jax.Array, counter: UpdateCount) -> tuple[Any, Any]:
        """An index for each sample of each member, for the network and for the target; None where there is none."""
        network, c = self.problem.network, self.problem.config
        if not networks.has_index(network):
            return None, None

        def split(_=None):
            return jax.random.key_data(jax.random.split(key, (2, self.problem.members, c.batch_size)))

        # A loop, of one turn, keeps XLA from computing the keys again wherever a network draws from them, which
        # takes a minute to compile; an optimization barrier does not.
        words = apply_if(counter.updates >= 0, split, jnp.zeros_like(jax.eval_shape(split)))
        keys = jax.random.wrap_key_data(words, impl=jax.random.key_impl(key))
        drawn = jax.vmap(jax.vmap(jax.vmap(network.index)))(keys)  # type: ignore[attr-defined]
        return jax.tree.map(lambda x: x[0], drawn), jax.tree.map(lambda x: x[1], drawn)

    def _as_target(self, params: Any) -> Any:
        """What to keep of the parameters for the target: themselves, or their values of all states."""
        return jax.vmap(self._all_values)(params) if self.tabulates else params

    def _target_values(self, target: Any, next_obs: jax.Array, index: Any) -> jax.Array:
        if self.tabulates:
            return target[jnp.minimum(next_obs, target.shape[0] - 1)]
        return _batch_values(self.problem.network, target, next_obs, index)

    def _chosen_values(self, params: Any, batch: Transition, index: Any) -> jax.Array:
        if self.tabulates and params[0].shape[0] <= batch.obs.shape[0]:
            # With no more states than samples, each state is computed once and nothing is gathered.
            return self._all_values(params)[batch.obs, batch.action]
        return of_actions(_batch_values(self.problem.network, params, batch.obs, index), batch.action)

    def _all_values(self, params: Any) -> jax.Array:
        """One member's values of every state, without prior: (states, actions)."""
        rows, rest = params
        return jax.vmap(self.problem.network.head, (None, 0))(rest, rows)  # type: ignore[attr-defined]


def _batch_values(network: Any, params: Any, obs: jax.Array, index: Any) -> jax.Array:
    if index is None:
        return jax.vmap(network.apply, (None, 0))(params, obs)
    return jax.vmap(network.apply, (None, 0, 0))(params, obs, index)
