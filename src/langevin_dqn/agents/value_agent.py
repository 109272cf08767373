r"""One agent for DQN, Langevin DQN, Boot DQN and Ensemble Langevin DQN.

Algorithm 1 (``greedy_value_rl``) is Algorithm 3 (``ensemble_value_rl``) with one member, so one agent serves all
four; its configuration says which of them it is. What it draws before an episode is the member that
acts, and an index for networks that have one.
"""

import dataclasses
import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn.agents import prior, released, value_metrics, value_scale
from langevin_dqn.agents.base import BaseAgent, Step, greedy
from langevin_dqn.agents.learners import DenseLearner, LazyLearner, LearnerChoice
from langevin_dqn.agents.prior import Prior
from langevin_dqn.agents.replay import Layout, Replay, Transition
from langevin_dqn.agents.update import Problem
from langevin_dqn.config import FIELD_TYPES, AgentConfig
from langevin_dqn.environments.base import Space
from langevin_dqn.errors import UserError
from langevin_dqn.networks import Network
from langevin_dqn.networks.base import can_be_scaled, describe_network, draw_index, example_observation, has_index
from langevin_dqn.networks.base import is_index as observes_index
from langevin_dqn.pytrees import apply_if, static
from langevin_dqn.version import ALGORITHM_VERSION


class ValueState(NamedTuple):
    """Everything that changes while a value agent learns; the leading axis of every array is the member.

    Attributes:
        learner: parameters, target and optimizer.
        prior: parameters of the prior networks, or a ``Prior``; outside what the
            optimizer receives.
        replay: the buffers; None in a state that only acts.
        member: which member acts in this episode.
        episode: episodes begun.
        index: each member's index in this episode, for networks that have one.
        scale: the scale of values, where it may change.
    """

    learner: Any
    prior: Any
    replay: Replay | None
    member: jax.Array
    episode: jax.Array
    index: Any = None
    scale: value_scale.ValueScale | None = None


@dataclass(frozen=True)
class ValueAgent(BaseAgent):
    """An ensemble of value networks, one of which acts in each episode.

    Attributes:
        numbers: the traced settings by name, which may change without compiling again; None for what
            is no part of the program.
        config: the other settings; the traced ones are at their defaults here.
        network: the value network.
        choice: which learner carries out the updates.
        settings: the whole configuration, as a description.
        random_steps: number of random steps before training, where the settings need a measurement.
    """

    numbers: dict[str, Any]
    config: AgentConfig = static()
    network: Network = static()
    choice: LearnerChoice = static()
    settings: AgentConfig = static(compare=False)
    random_steps: int = static(default=0)

    # -- the parts ----------------------------------------------------------------

    @property
    def learns_within(self) -> bool:
        return self.config.update_timing == "within"

    @property
    def values_are_exact(self) -> bool:
        return self.choice.kind != "lazy"

    @property
    def problem(self) -> Problem:
        bootstraps = self.config.insertion == "buffers" and self.numbers["insertion_probability"] is not None
        layout = Layout(self.config.members, separate=bootstraps)
        moving = isinstance(self.network, released.MovingPrior)
        return Problem(
            self.network,
            self.config,
            self.numbers,
            layout,
            no_penalty_on=released.is_prior if moving else None,
            reward_scale=self.numbers["value_scale"],
        )

    @property
    def learner(self) -> DenseLearner | LazyLearner:
        return self.choice.build(self.problem)

    def with_numbers(self, **numbers: Any) -> "ValueAgent":
        """The agent with other traced settings, which may be arrays under ``vmap``.

        A number that is no part of the program, such as a noise variance of 0, stays out of it. The
        description of the agent follows, except for numbers that are traced or batched.
        """
        for name in numbers:
            absent = self.numbers["epsilon"] is None and name.startswith("epsilon")
            if absent or self.numbers.get(name) is None:
                raise UserError(
                    f"{name} cannot be changed: it is not traced, or not used by this agent",
                    "create the agent with a value that uses it first",
                )
        known = {name: value for name, value in numbers.items() if not isinstance(value, jax.core.Tracer)}
        known = {name: FIELD_TYPES[name](value) for name, value in known.items() if jnp.ndim(value) == 0}
        settings = self.settings.replace(**known)
        if self.config.mean_over_members and "loss_scale" in numbers:
            numbers["loss_scale"] = numbers["loss_scale"] / self.config.members
        return dataclasses.replace(self, numbers=self.numbers | numbers, settings=settings)

    # -- Algorithm 3 ---------------------------------------------------------------------

    def init(self, key: jax.Array, space: Space, num_actions: int, capacity: int | None = None) -> ValueState:
        """Lines 1-4 of Algorithm 3: random parameters, targets equal to them, and empty buffers."""
        c, n = self.config, self.numbers

        def draw(key):
            return jax.vmap(lambda k: self.network.init(k, space, num_actions))(jax.random.split(key, c.members))

        params_key, target_key, prior_key = jax.random.split(key, 3)
        params = draw(params_key)
        target = draw(target_key) if c.independent_target else params
        if isinstance(self.network, released.MovingPrior):
            target = target | {"prior": params["prior"]}
        state = ValueState(
            learner=self.learner.init(params, target),
            prior=draw(prior_key) if n["prior_scale"] is not None else None,
            replay=None,
            member=jnp.int32(0),
            episode=jnp.int32(0),
            index=self._draw_indices(key),
            scale=value_scale.init(self._first_scale) if c.value_scaling != "fixed" else None,
        )
        if n["prior_std"] is not None:
            count = c.prior_networks if n["prior_lifetime"] is not None else 1
            state = state._replace(prior=prior.init(prior_key, self.network, space, num_actions, c.members, count))
        obs = jnp.zeros_like(example_observation(space))
        extras = jax.eval_shape(lambda: self._extras(key, state, obs, jnp.int32(0), obs))
        return state._replace(replay=self.problem.layout.init(space, extras, self._buffer_size(capacity)))

    def begin_episode(self, key: jax.Array, state: ValueState) -> ValueState:
        """Line 9 of Algorithm 3: m ~ Unif({1, ..., M}); and an index, for networks that have one."""
        member = jax.random.randint(key, (), 0, self.config.members)
        lifetime = self.numbers["prior_lifetime"]
        if lifetime is not None:
            growth = self.numbers["prior_lifetime_growth"]
            state = state._replace(prior=prior.moved(jax.random.fold_in(key, 2), state.prior, lifetime, growth))
        if state.scale is not None:
            state = state._replace(scale=state.scale._replace(total=jnp.float32(0)))
        return state._replace(member=member, episode=state.episode + 1, index=self._draw_indices(key))

    def prepare(self, key: jax.Array, state: ValueState, steps: Step) -> ValueState:
        """Give the prior its standard deviation over what was observed, and the values their first scale."""
        del key
        if isinstance(state.prior, Prior) and not observes_index(steps.obs):  # of an index, all states were measured
            state = state._replace(prior=prior.standardised(self.network, state.prior, steps.obs))
        if self.config.value_scaling == "warmup":
            ended = steps.terminated | steps.truncated
            state = state._replace(scale=value_scale.warmed_up(self._first_scale, steps.reward, ended))
        return state

    def attend(self, key: jax.Array, state: ValueState, obs: jax.Array) -> ValueState:
        """Bring the acting member's row for ``obs`` up to date, where rows are lazy."""
        if self.choice.kind != "lazy":
            return state
        return state._replace(learner=self.learner.attend(key, state.learner, state.member, obs))

    def act(self, key: jax.Array, state: ValueState, obs: jax.Array) -> jax.Array:
        """Line 13 of Algorithm 3: the greedy action of the acting member, or a random one with probability ε."""
        tie_key, explore_key, action_key, row_key = jax.random.split(key, 4)
        q = self.values(state, obs, row_key)
        best = greedy(tie_key, q)
        if self.numbers["epsilon"] is None:
            return best
        anything = jax.random.randint(action_key, (), 0, q.shape[0])
        return jnp.where(jax.random.uniform(explore_key) < self.epsilon(state.episode), anything, best)

    def exploit(self, key: jax.Array, state: ValueState, obs: jax.Array) -> jax.Array:
        """The acting member's greedy action, without ε; lazy rows at their mean."""
        return greedy(key, self.values(state, obs))

    def observe(self, key: jax.Array, state: ValueState, step: Step) -> ValueState:
        """Lines 15-19 of Algorithm 3: each member's buffer takes the transition with probability p."""
        assert state.replay is not None, "a state without memory cannot observe"
        c, problem = self.config, self.problem
        insert_key, noise_key, place_key = jax.random.split(key, 3)
        probability = self.numbers["insertion_probability"]
        extras = self._extras(noise_key, state, step.obs, step.action, step.next_obs)
        insert = jnp.ones(1, bool)
        if probability is not None:
            taken = jax.random.uniform(insert_key, (c.members,)) < probability
            if problem.layout.separate:
                insert = taken
            else:
                extras["mask"] = taken.astype(jnp.float32)
        transition = Transition(step.obs, step.action, step.reward, step.next_obs, 1.0 - step.terminated, extras)
        random_out = c.buffer_discipline == "random"
        state = state._replace(replay=problem.layout.add(place_key, state.replay, transition, insert, random_out))
        if self.numbers["prior_lifetime"] is not None:
            state = state._replace(prior=state.prior._replace(steps=state.prior.steps + 1))
        if state.scale is None:
            return state
        discount = self.numbers["discount"] if c.value_scaling == "discounted" else 1
        return self._with_scale(state, value_scale.with_reward(state.scale, step.reward, self._first_scale, discount))

    def learn(self, key: jax.Array, state: ValueState, steps: jax.Array) -> ValueState:
        """Lines 6-8 of Algorithm 3: U updates of every member for each step, once every buffer has enough data."""
        assert state.replay is not None, "a state without memory cannot learn"
        ready = state.replay.size.min() >= self.numbers["min_replay_size"]
        count = jnp.where(ready, self.numbers["updates_per_step"] * steps, 0)
        learner = self.choice.build(self._problem_now(state))
        return state._replace(learner=learner.learn(key, state.learner, state.replay, count))

    def _problem_now(self, state: ValueState) -> Problem:
        """The problem with what of it changes in a run."""
        problem = self.problem
        if state.scale is not None:
            problem = dataclasses.replace(problem, reward_scale=state.scale.scale)
        if self.numbers["prior_lifetime"] is not None:
            problem = dataclasses.replace(problem, prior_mixture=self.numbers["prior_std"] * state.prior.mixture)
        return problem

    # -- values -------------------------------------------------------------------

    def values(self, state: ValueState, obs: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Q of the acting member at one observation, prior included, in units of reward: (actions,)."""
        return self.member_values(state, state.member, obs, key)

    def member_values(self, state: ValueState, member, obs: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Q of one member at one observation, prior included, in units of reward: (actions,).

        ``key`` matters for lazy rows only: with it, their noise since they were last read is drawn.
        """
        n, index = self.numbers, None if state.index is None else jax.tree.map(lambda x: x[member], state.index)
        q = self.learner.read(state.learner, member, obs, key, index)
        if state.prior is not None:
            q = q + prior.values(self.network, state.prior, n, member, obs)
        scale = n["value_scale"] if state.scale is None else state.scale.scale
        return q if scale is None else q * scale

    def ensemble_values(self, state: ValueState, obs: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Q of every member at one observation, prior included: (members, actions)."""

        def one(member):
            own_key = None if key is None else jax.random.fold_in(key, member)
            return self.member_values(state, member, obs, own_key)

        return jax.vmap(one)(jnp.arange(self.config.members))

    def epsilon(self, episode: jax.Array) -> jax.Array:
        """ε in the given episode (counted from 1)."""
        n = self.numbers
        if n["epsilon"] is None:
            return jnp.float32(0)
        progress = (episode - 1) / jnp.maximum(n["epsilon_decay_episodes"], 1)
        left = jnp.where(n["epsilon_decay_episodes"] > 0, jnp.maximum(1 - progress, 0), 1.0)
        final = jnp.where(n["epsilon_decay_episodes"] > 0, n["epsilon_final"], 0.0)
        return final + (n["epsilon"] - final) * left

    def _buffer_size(self, capacity: int | None) -> int:
        return min(self.config.buffer_size, capacity or self.config.buffer_size)

    def _draw_indices(self, key: jax.Array) -> Any:
        if not has_index(self.network):
            return None
        keys = jax.random.split(jax.random.fold_in(key, 1), self.config.members)
        return jax.vmap(lambda key: draw_index(self.network, key))(keys)

    @property
    def _first_scale(self) -> jax.Array:
        return jnp.float32(1) if self.numbers["value_scale"] is None else self.numbers["value_scale"]

    def _with_scale(self, state: ValueState, scale: value_scale.ValueScale) -> ValueState:
        """The state with another scale; when it grows, values stay what they are in units of reward."""
        factor = state.scale.scale / scale.scale  # type: ignore[union-attr]
        if can_be_scaled(self.network):
            learner = apply_if(factor < 1, lambda learner: self.learner.scaled(learner, factor), state.learner)
            state = state._replace(learner=learner)
        return state._replace(scale=scale)

    def _extras(self, noise_key: jax.Array, state: ValueState, obs, action, next_obs) -> dict[str, jax.Array]:
        """What is stored with a transition, by name; the leading axis of every leaf is the member.

        A frozen prior's values are computed once, here. The mask is drawn by the caller; here it only has its shape.
        """
        n, members, extras = self.numbers, self.config.members, {}
        if state.prior is not None:
            values = functools.partial(prior.stored_values, self.network, state.prior, n)
            extras["prior"], extras["next_prior"] = values(obs)[..., action], values(next_obs)
        if n["target_noise"] is not None:
            extras["target_noise"] = n["target_noise"] * jax.random.normal(noise_key, (members,))
        if self.config.insertion == "mask" and n["insertion_probability"] is not None:
            extras["mask"] = jnp.ones(members)
        return extras

    # -- statistics and checks ------------------------------------------------------

    def statistics(self, state: ValueState) -> dict[str, Any]:
        return {"updates": state.learner.counter.updates}

    def metrics(self, key: jax.Array, state: ValueState) -> dict[str, Any]:
        return value_metrics.metrics(self, self._problem_now(state), key, state)

    def with_capacity(self, state: ValueState, capacity: int | None) -> ValueState:
        return state._replace(replay=state.replay.with_capacity(self._buffer_size(capacity)))  # type: ignore[union-attr]

    def without_memory(self, state: ValueState) -> ValueState:
        return state._replace(replay=None)

    def is_finite(self, state: ValueState) -> jax.Array:
        """False once parameters, or the loss of any update, are not finite."""
        # 0·x is 0, or NaN where x is not finite. Sums take half as long to compile as isfinite(x).all(), and to run.
        zeros = [(0 * leaf).sum() for leaf in jax.tree.leaves(state.learner.params)]
        return jnp.isfinite(sum(zeros)) & (state.learner.counter.nonfinite_update == 0)

    def accumulators(self, state: ValueState) -> Any:
        return state.learner.optimizer

    def nonfinite_step(self, state: ValueState, steps: int) -> tuple[int, str] | None:
        return value_metrics.nonfinite_step(self.problem.layout, self.config.buffer_discipline, state.replay, steps)

    def explain_divergence(self, state: ValueState) -> str:
        return value_metrics.explain_divergence(self.settings, state)

    def describe(self) -> dict[str, Any]:
        cls = type(self)
        own = {f.name: repr(getattr(self, f.name)) for f in dataclasses.fields(self) if f.name not in _FIELDS}
        return {
            "agent": "value_agent" if cls is ValueAgent else f"{cls.__module__}:{cls.__qualname__}",
            **own,
            "version": str(getattr(self, "version", ALGORITHM_VERSION)),
            "config": self.settings.to_dict(),
            "network": describe_network(self.network),
        }


_FIELDS = {field.name for field in dataclasses.fields(ValueAgent)}
