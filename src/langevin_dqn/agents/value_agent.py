r"""One agent for DQN, Langevin DQN, Boot DQN and Ensemble Langevin DQN.

alg1 (``greedy_value_rl``) is alg3 (``ensemble_value_rl``) with one member, so one agent serves all
four; its configuration says which of them it is. What it draws before an episode is the member that
acts, and an index for networks that have one.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn import networks
from langevin_dqn.agents import released
from langevin_dqn.agents.base import BaseAgent, Step, greedy
from langevin_dqn.agents.learners import DenseLearner, LazyLearner, LearnerChoice, choose_learner
from langevin_dqn.agents.learners.dense import member_values
from langevin_dqn.agents.replay import Layout, Replay, Transition
from langevin_dqn.agents.update import Problem
from langevin_dqn.config import FIELD_TYPES, SETTINGS, AgentConfig
from langevin_dqn.environments.base import Space
from langevin_dqn.errors import UserError
from langevin_dqn.networks import Network
from langevin_dqn.networks.base import describe_network, draw_index, example_observation, has_index
from langevin_dqn.pytrees import static
from langevin_dqn.version import ALGORITHM_VERSION


class ValueState(NamedTuple):
    """Everything that changes while a value agent learns; the leading axis of every array is the member.

    Attributes:
        learner: parameters, target and optimizer.
        prior: parameters of the prior networks; outside what the optimizer receives.
        replay: the buffers; None in a state that only acts.
        member: which member acts in this episode.
        episode: episodes begun.
        index: each member's index in this episode, for networks that have one.
    """

    learner: Any
    prior: Any
    replay: Replay | None
    member: jax.Array
    episode: jax.Array
    index: Any = None


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
    """

    numbers: dict[str, Any]
    config: AgentConfig = static()
    network: Network = static()
    choice: LearnerChoice = static()
    settings: AgentConfig = static(compare=False)

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
        return Problem(self.network, self.config, self.numbers, layout, released.is_prior if moving else None)

    @property
    def learner(self) -> DenseLearner | LazyLearner:
        return self.choice.build(self.problem)

    def with_numbers(self, **numbers: Any) -> "ValueAgent":
        """The agent with other traced settings, which may be arrays under ``vmap``.

        A number that is no part of the program, such as a noise variance of 0, stays out of it. What the
        agent says of itself follows, except for numbers that are traced or batched.
        """
        for name in numbers:
            absent = self.numbers["epsilon"] is None and name.startswith("epsilon")
            if absent or self.numbers.get(name) is None:
                raise UserError(
                    f"{name} cannot be changed: it is not traced, or no part of this agent's program",
                    "build the agent with another value of it first",
                )
        known = {name: value for name, value in numbers.items() if not isinstance(value, jax.core.Tracer)}
        known = {name: FIELD_TYPES[name](value) for name, value in known.items() if jnp.ndim(value) == 0}
        settings = self.settings.replace(**known)
        if self.config.mean_over_members and "loss_scale" in numbers:
            numbers["loss_scale"] = numbers["loss_scale"] / self.config.members
        return dataclasses.replace(self, numbers=self.numbers | numbers, settings=settings)

    # -- alg3 ---------------------------------------------------------------------

    def init(self, key: jax.Array, space: Space, num_actions: int, capacity: int | None = None) -> ValueState:
        """Lines 1-4 of alg3: random parameters, targets equal to them, and empty buffers."""
        c = self.config

        def draw(key):
            return jax.vmap(lambda k: self.network.init(k, space, num_actions))(jax.random.split(key, c.members))

        params_key, target_key, prior_key = jax.random.split(key, 3)
        params = draw(params_key)
        target = draw(target_key) if c.independent_target else params
        if isinstance(self.network, released.MovingPrior):
            target = target | {"prior": params["prior"]}
        state = ValueState(
            learner=self.learner.init(params, target),
            prior=draw(prior_key) if self.numbers["prior_scale"] is not None else None,
            replay=None,
            member=jnp.int32(0),
            episode=jnp.int32(0),
            index=self._draw_indices(key),
        )
        obs = jnp.zeros_like(example_observation(space))
        extras = jax.eval_shape(lambda: self._extras(key, state, obs, jnp.int32(0), obs))
        size = min(c.buffer_size, capacity or c.buffer_size)
        return state._replace(replay=self.problem.layout.init(space, extras, size))

    def begin_episode(self, key: jax.Array, state: ValueState) -> ValueState:
        """Line 9 of alg3: m ~ Unif({1, ..., M}); and an index, for networks that have one."""
        member = jax.random.randint(key, (), 0, self.config.members)
        return state._replace(member=member, episode=state.episode + 1, index=self._draw_indices(key))

    def attend(self, key: jax.Array, state: ValueState, obs: jax.Array) -> ValueState:
        """Bring the acting member's row for ``obs`` up to date, where rows are lazy."""
        if self.choice.kind != "lazy":
            return state
        return state._replace(learner=self.learner.attend(key, state.learner, state.member, obs))

    def act(self, key: jax.Array, state: ValueState, obs: jax.Array) -> jax.Array:
        """Line 13 of alg3: the acting member's greedy action, ties uniformly; uniform with probability ε (alg1)."""
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
        """Lines 15-19 of alg3: each member's buffer takes the transition with probability p."""
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
        return state._replace(replay=problem.layout.add(place_key, state.replay, transition, insert, random_out))

    def learn(self, key: jax.Array, state: ValueState, steps: jax.Array) -> ValueState:
        """Lines 6-8 of alg3: U updates of every member for each of ``steps``, once every buffer has enough data."""
        assert state.replay is not None, "a state without memory cannot learn"
        ready = state.replay.size.min() >= self.numbers["min_replay_size"]
        count = jnp.where(ready, self.numbers["updates_per_step"] * steps, 0)
        return state._replace(learner=self.learner.learn(key, state.learner, state.replay, count))

    # -- values -------------------------------------------------------------------

    def values(self, state: ValueState, obs: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Q of the acting member at one observation, prior included: (actions,)."""
        return self.member_values(state, state.member, obs, key)

    def member_values(self, state: ValueState, member, obs: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Q of one member at one observation, prior included: (actions,).

        ``key`` matters for lazy rows only: their noise since they were last read is drawn with it,
        and left out without it.
        """
        index = None if state.index is None else jax.tree.map(lambda x: x[member], state.index)
        q = self.learner.read(state.learner, member, obs, key, index)
        if state.prior is not None:
            q = q + self.numbers["prior_scale"] * member_values(self.network, state.prior, member, obs)
        return q

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

    def _draw_indices(self, key: jax.Array) -> Any:
        """An index for every member, or None."""
        if not has_index(self.network):
            return None
        keys = jax.random.split(jax.random.fold_in(key, 1), self.config.members)
        return jax.vmap(lambda key: draw_index(self.network, key))(keys)

    def _prior_values(self, prior: Any, obs: jax.Array) -> jax.Array:
        """The scaled prior of every member at one observation: (members, actions)."""
        return self.numbers["prior_scale"] * jax.vmap(self.network.apply, (0, None))(prior, obs)

    def _extras(self, noise_key: jax.Array, state: ValueState, obs, action, next_obs) -> dict[str, jax.Array]:
        """What is stored with a transition, by name; the leading axis of every leaf is the member.

        A frozen prior's values are computed once, when a transition is stored. The mask is
        drawn by the caller; here it only has its shape.
        """
        n, members, extras = self.numbers, self.config.members, {}
        if state.prior is not None:
            extras["prior"] = self._prior_values(state.prior, obs)[:, action]
            extras["next_prior"] = self._prior_values(state.prior, next_obs)
        if n["target_noise"] is not None:
            extras["target_noise"] = n["target_noise"] * jax.random.normal(noise_key, (members,))
        if self.config.insertion == "mask" and n["insertion_probability"] is not None:
            extras["mask"] = jnp.ones(members)
        return extras

    # -- statistics and checks ------------------------------------------------------

    def statistics(self, state: ValueState) -> dict[str, Any]:
        return {"updates": state.learner.counter.updates}

    def without_memory(self, state: ValueState) -> ValueState:
        return state._replace(replay=None)

    def is_finite(self, state: ValueState) -> jax.Array:
        """False once parameters, or the loss of any update, are not finite."""
        leaves = [jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(state.learner.params)]
        return jnp.stack(leaves).all() & (state.learner.counter.nonfinite_update == 0)

    def explain_divergence(self, state: ValueState) -> str:
        """Where the parameters stopped being finite, and the likeliest reason."""
        counter, c = state.learner.counter, self.settings
        update = int(counter.nonfinite_update) or int(counter.updates)
        if c.noise_variance > 0 and c.adam_eps < 1e-12:
            why = "adam_eps is so small that weights without gradient take unbounded noise; use adam_eps=1e-6"
        elif c.learning_rate > 0.1:
            why = "the learning rate is large; try a smaller learning_rate"
        elif c.noise_variance > 0.1:
            why = "the noise variance is large; try a smaller noise_variance"
        else:
            why = "the values or rewards grew without bound; try a smaller learning rate or a discount below 1"
        return f"parameters are not finite since episode {int(state.episode)}, update {update}: {why}"

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


def make_agent(config: AgentConfig, network: Network | None = None, space: Space | None = None) -> ValueAgent:
    """A value agent for a configuration.

    Args:
        config: what kind of agent.
        network: the value network; by default the one that :func:`~langevin_dqn.networks.network_for` chooses.
        space: what will be observed; needed to recognise a picture and to choose lazy rows.
    """
    network = network or networks.network_for(space, config.hidden, config.negative_slope)
    numbers = {name: _number(config, name) for name, setting in SETTINGS.items() if setting.traced}
    if not (config.epsilon > 0 or (config.epsilon_decay_episodes > 0 and config.epsilon_final > 0)):
        numbers["epsilon"] = None
    numbers["min_replay_size"] = jnp.int32(max(config.min_replay_size, 1))
    if config.mean_over_members:
        numbers["loss_scale"] = jnp.float32(config.loss_scale / config.members)
    if released.prior_moves(config):
        network, numbers["prior_scale"] = released.MovingPrior(network, config.prior_scale), None
    if numbers["prior_scale"] is not None and has_index(network):
        raise UserError("prior_scale needs a network without an index", "set prior_scale=0, or add a prior in apply")
    defaults = AgentConfig()
    untraced = config.replace(**{name: getattr(defaults, name) for name in numbers})
    return ValueAgent(numbers, untraced, network, choose_learner(config, network, space), config)


def _number(config: AgentConfig, name: str) -> jax.Array | None:
    value, absent = getattr(config, name), SETTINGS[name].absent
    if absent is not None and value == absent:
        return None
    return (jnp.int32 if FIELD_TYPES[name] is int else jnp.float32)(value)
