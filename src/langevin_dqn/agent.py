r"""The one agent template: DQN, Langevin DQN, Boot DQN and Ensemble Langevin DQN.

alg1 (``greedy_value_rl``) is alg3 (``ensemble_value_rl``) with one member, so one template
serves all four; which of them it is, its configuration says. An episode of alg3 reads here:

1. ``learn`` as often as the schedule asks: every member makes one update of alg2;
2. ``begin_episode``: draw the member :math:`m` that acts;
3. per step ``act`` greedily on :math:`Q_{\theta_m}` (ties uniformly, ε-greedy where ε > 0)
   and ``observe`` the transition, which each member's buffer takes with probability p.

An :class:`Agent` is a pytree: numbers such as σ_w² are its leaves and what decides shapes
is static, so a sweep over σ_w² compiles once.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax

from langevin_dqn import networks, prng, replay, row_learning, row_state
from langevin_dqn.config import AgentConfig
from langevin_dqn.environments.base import ArraySpace, IndexSpace, Space
from langevin_dqn.errors import UserError
from langevin_dqn.networks import Network
from langevin_dqn.optimizers import langevin_adam, langevin_sgd, sleeping_rows
from langevin_dqn.replay import Replay, Transition


class Hyper(NamedTuple):
    """The numbers of a configuration that may change without compiling again."""

    learning_rate: Any
    noise_variance: Any
    adam_b1: Any
    adam_b2: Any
    adam_eps: Any
    regularizer: Any
    loss_scale: Any
    discount: Any
    insertion_probability: Any
    target_noise: Any
    prior_scale: Any
    epsilon: Any
    epsilon_final: Any
    epsilon_decay_episodes: Any
    target_period: Any


@dataclass(frozen=True)
class Structure:
    """The parts of a configuration that decide the shape of the program."""

    members: int
    bootstraps: bool
    """Each member has a buffer of its own and takes a transition with probability p < 1."""
    batch_size: int
    buffer_size: int
    random_out: bool
    shared_minibatch: bool
    mean_over_members: bool
    debiased_drift: bool
    independent_target: bool
    mean_regularizer: bool
    masked: bool
    noisy: bool
    regularized: bool
    has_prior: bool
    prior_noise: bool
    has_target_noise: bool
    explores: bool
    tabulates: bool
    """The target is kept as its values of all states, found once per copy: cheaper for few states."""
    sleeping_rows: bool
    """The first layer's rows are touched only when read; equal in law, and faster for many rows."""

    plain: bool
    """Eq. (5) itself, without alg4's moments."""

    block: int
    """Updates that sleeping rows take together: at most those between two copies of the target."""

    @property
    def buffers(self) -> int:
        return self.members if self.bootstraps else 1

    @property
    def caches_prior(self) -> bool:
        """A frozen prior's values are computed once, when a transition is stored."""
        return self.has_prior and not self.prior_noise


class AgentState(NamedTuple):
    """Everything that changes while an agent learns; arrays lead with the members.

    Attributes:
        params: θ.
        target: θ_target, or its values of all states (members, states, actions) where there are few.
        prior: parameters of the prior networks; outside what the optimizer receives.
        target_prior: the prior as of the last copy where ``prior_noise`` moves it, else None.
        optimizer: the moments of alg4.
        member: who acts in this episode.
        episode: episodes begun.
        updates: update steps made; each moves every member once.
        nonfinite_update: the first update whose loss was not finite, 0 if none was.
    """

    params: Any
    target: Any
    prior: Any
    target_prior: Any
    optimizer: Any
    member: jax.Array
    episode: jax.Array
    updates: jax.Array
    nonfinite_update: jax.Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Agent:
    """Pure functions on an :class:`AgentState` and a :class:`~langevin_dqn.replay.Replay`."""

    hyper: Hyper
    structure: Structure = field(metadata={"static": True})
    network: Network = field(metadata={"static": True})

    # -- starting ---------------------------------------------------------------

    def init(self, key: jax.Array, space: Space, num_actions: int) -> AgentState:
        """Lines 1-4 of alg3: random parameters, and targets equal to them."""
        members = self.structure.members

        def draw(key):
            return jax.vmap(lambda k: self.network.init(k, space, num_actions))(jax.random.split(key, members))

        params_key, target_key, prior_key = jax.random.split(key, 3)
        params = draw(params_key)
        prior = draw(prior_key) if self.structure.has_prior else None
        state = AgentState(
            params=params,
            target=self._as_target(draw(target_key) if self.structure.independent_target else params),
            prior=prior,
            target_prior=prior if self.structure.prior_noise else None,
            optimizer=None if self.structure.sleeping_rows else jax.vmap(self.optimizer().init)(params),
            member=jnp.int32(0),
            episode=jnp.int32(0),
            updates=jnp.int32(0),
            nonfinite_update=jnp.int32(0),
        )
        return row_state.put_to_sleep(self, state) if self.structure.sleeping_rows else state

    def init_replay(self, space: Space, num_actions: int, capacity: int | None = None) -> Replay:
        """Empty buffers; ``capacity`` may be less than the configuration's to save memory."""
        s = self.structure
        shape = replay.template(
            space,
            s.buffers,
            s.members,
            num_actions,
            prior=s.caches_prior,
            next_prior=s.caches_prior,
            target_noise=s.has_target_noise,
            mask=s.masked,
        )
        return replay.init(shape, s.buffers, min(s.buffer_size, capacity or s.buffer_size))

    # -- acting -----------------------------------------------------------------

    def begin_episode(self, key: jax.Array, state: AgentState) -> AgentState:
        """Line 9 of alg3: m ~ Unif({1, ..., M})."""
        member = jax.random.randint(key, (), 0, self.structure.members)
        return state._replace(member=member, episode=state.episode + 1)

    def q_values(self, state: AgentState, obs: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Q of every member at one observation, prior included: (members, actions).

        ``key`` matters for sleeping rows only: their noise since they were last read is
        drawn with it, and left out without it.
        """

        def one(member):
            own_key = None if key is None else jax.random.fold_in(key, member)
            return self.member_values(state, member, obs, own_key)

        return jax.vmap(one)(jnp.arange(self.structure.members))

    def member_values(self, state: AgentState, member, obs: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Q of one member at one observation, prior included: (actions,)."""

        def mine(tree):
            return jax.tree.map(lambda x: x[member], tree)

        if self.structure.sleeping_rows and self.network.head is not None:
            row = row_state.awake_row(self, key, state, member, obs)
            q = self.network.head(mine(state.params[1]), row)
        else:
            q = self._member_apply(state.params, member, obs)
        if state.prior is not None:
            q = q + self.hyper.prior_scale * self._member_apply(state.prior, member, obs)
        return q

    def _member_apply(self, params, member, obs):
        if self.network.head is not None and networks.is_index(obs):
            # Take the row before the member, so that no member's whole table is copied.
            rows, rest = params
            row = rows[member, jnp.minimum(obs, rows.shape[1] - 1)]
            return self.network.head(jax.tree.map(lambda x: x[member], rest), row)
        return self.network.apply(jax.tree.map(lambda x: x[member], params), obs)

    def prior_values(self, prior: Any, obs: jax.Array) -> jax.Array:
        """The scaled prior of every member at one observation: (members, actions)."""
        return self.hyper.prior_scale * jax.vmap(self.network.apply, (0, None))(prior, obs)

    def act(self, key: jax.Array, state: AgentState, obs: jax.Array) -> jax.Array:
        """The acting member's greedy action, ties uniformly; uniform with probability ε."""
        tie_key, explore_key, action_key, row_key = jax.random.split(key, 4)
        q = self.member_values(state, state.member, obs, row_key)
        best = greedy(tie_key, q)
        if not self.structure.explores:
            return best
        anything = jax.random.randint(action_key, (), 0, q.shape[0])
        return jnp.where(jax.random.uniform(explore_key) < self.epsilon(state.episode), anything, best)

    def epsilon(self, episode: jax.Array) -> jax.Array:
        """ε in the given episode (counted from 1)."""
        h = self.hyper
        progress = (episode - 1) / jnp.maximum(h.epsilon_decay_episodes, 1)
        left = jnp.where(h.epsilon_decay_episodes > 0, jnp.maximum(1 - progress, 0), 1.0)
        final = jnp.where(h.epsilon_decay_episodes > 0, h.epsilon_final, 0.0)
        return final + (h.epsilon - final) * left

    def attend(self, key: jax.Array, state: AgentState, obs: jax.Array) -> AgentState:
        """Look at ``obs`` before acting on it: with sleeping rows, its row wakes up for good."""
        return row_state.attend(self, key, state, obs) if self.structure.sleeping_rows else state

    # -- remembering ------------------------------------------------------------

    def observe(
        self, key: jax.Array, state: AgentState, buffer: Replay, obs, action, reward, next_obs, terminated
    ) -> Replay:
        """Lines 14-18 of alg3: each member's buffer takes the transition with probability p."""
        s, members = self.structure, self.structure.members
        insert_key, noise_key, place_key = jax.random.split(key, 3)
        taken = jax.random.uniform(insert_key, (members,)) < self.hyper.insertion_probability
        parts: dict[str, jax.Array] = {}
        if s.caches_prior:
            parts["prior"] = self.prior_values(state.prior, obs)[:, action]
            parts["next_prior"] = self.prior_values(state.prior, next_obs)
        if s.has_target_noise:
            parts["target_noise"] = self.hyper.target_noise * jax.random.normal(noise_key, (members,))
        if s.masked:
            parts["mask"] = taken.astype(jnp.float32)
        common = (obs, action, reward, next_obs, 1.0 - terminated)
        transition = Transition(
            *(jnp.broadcast_to(x, (s.buffers, *jnp.shape(x))) for x in common),
            **{k: v.reshape(s.buffers, members // s.buffers, *v.shape[1:]) for k, v in parts.items()},
        )
        insert = taken if s.bootstraps else jnp.ones(1, bool)
        return replay.add(place_key, buffer, transition, insert, s.random_out)

    # -- learning ---------------------------------------------------------------

    def learn_many(self, key: jax.Array, state: AgentState, buffer: Replay, count: jax.Array) -> AgentState:
        """``count`` update steps in a row, from one key."""
        if self.structure.sleeping_rows:
            return row_learning.learn_many(self, key, state, buffer, count)
        return lax.fori_loop(0, count, lambda i, s: self.learn(jax.random.fold_in(key, i), s, buffer), state)

    def learn(self, key: jax.Array, state: AgentState, buffer: Replay) -> AgentState:
        """One update step: alg2 for every member, then the target every ``target_period`` steps."""
        if self.structure.sleeping_rows:
            return row_learning.learn_many(self, key, state, buffer, jnp.int32(1))
        batch_key, noise_key, prior_key = jax.random.split(key, 3)
        batch, num_data = self.minibatches(batch_key, buffer)
        params, optimizer, loss = jax.vmap(self._update)(
            jax.random.split(noise_key, self.structure.members),
            state.params,
            state.target,
            state.prior if self.structure.prior_noise else None,
            state.target_prior,
            state.optimizer,
            batch,
            num_data,
        )
        state = self.counted(state, loss)
        copies = self.copies_target(state)

        def synced(new, old):
            return jax.tree.map(lambda n, o: jnp.where(copies, n, o), new, old)

        if self.structure.tabulates:
            target = lax.cond(copies, lambda: self._as_target(params), lambda: state.target)
        else:
            target = synced(params, state.target)
        prior, target_prior = state.prior, state.target_prior
        if self.structure.prior_noise:
            prior = self._perturb_prior(prior_key, prior, optimizer.count, num_data)
            target_prior = synced(prior, target_prior)
        return state._replace(
            params=params,
            target=target,
            prior=prior,
            target_prior=target_prior,
            optimizer=optimizer,
        )

    def minibatches(self, key: jax.Array, buffer: Replay) -> tuple[Transition, jax.Array]:
        """Line 1 of alg2 for every member: its minibatch, and its |D|.

        A member that has no data yet must not move: its samples are masked, and an
        infinite |D| leaves it without noise.
        """
        s = self.structure
        batch = replay.sample(key, buffer, s.members, s.batch_size, s.shared_minibatch)
        size = jnp.broadcast_to(buffer.size.astype(jnp.float32), (s.members,))
        if s.bootstraps:
            batch = batch._replace(mask=jnp.broadcast_to(size[:, None] > 0, batch.reward.shape).astype(jnp.float32))
        return batch, jnp.where(size > 0, size, jnp.inf)

    def counted(self, state: AgentState, loss: jax.Array) -> AgentState:
        """The state with one more update on its counter, and a note if its loss was not finite."""
        updates = state.updates + 1
        failed = jnp.where(jnp.isfinite(loss).all(), 0, updates)
        first = jnp.where(state.nonfinite_update > 0, state.nonfinite_update, failed)
        return state._replace(updates=updates, nonfinite_update=first)

    def copies_target(self, state: AgentState) -> jax.Array:
        """True if the update just counted is one after which the target is copied."""
        return state.updates % self.hyper.target_period == 0

    def optimizer(self) -> optax.GradientTransformationExtraArgs:
        h = self.hyper
        variance = h.noise_variance if self.structure.noisy else 0
        if self.structure.plain:
            return langevin_sgd(h.learning_rate, variance)
        return langevin_adam(
            h.learning_rate,
            variance,
            h.adam_b1,
            h.adam_b2,
            h.adam_eps,
            debiased_drift=self.structure.debiased_drift,
        )

    def _update(self, key, params, target, prior, target_prior, optimizer_state, batch, num_data):
        """alg2 for one member: gradient of the TD loss and the regulariser, then alg4."""
        next_prior = batch.next_prior
        if prior is not None:  # a prior that moves cannot have been cached
            batch = batch._replace(prior=self._values(prior, batch.obs, batch.action) * self.hyper.prior_scale)
            next_prior = self.hyper.prior_scale * jax.vmap(self.network.apply, (None, 0))(target_prior, batch.next_obs)
        goal = self.td_target(self._target_values(target, batch.next_obs), next_prior, batch)

        def mean_loss(params):
            error = goal - self._values(params, batch.obs, batch.action)
            return self.mean_squares(error, batch)

        loss, gradient = jax.value_and_grad(mean_loss)(params)
        if self.structure.regularized:
            gradient = jax.tree.map(lambda g, p: g + self._penalty_slope(p, num_data), gradient, params)
        step, optimizer_state = self.optimizer().update(gradient, optimizer_state, params, key=key, num_data=num_data)
        return optax.apply_updates(params, step), optimizer_state, loss

    def td_target(self, q_next: jax.Array, next_prior: jax.Array | None, batch: Transition) -> jax.Array:
        """R + γ max_a' Q_target(s', a'), less the prior's share of Q(s, a): what the network must match."""
        if next_prior is not None:
            q_next = q_next + next_prior
        goal = batch.reward + self.hyper.discount * batch.continues * q_next.max(-1)
        if batch.target_noise is not None:
            goal = goal + batch.target_noise
        return goal if batch.prior is None else goal - batch.prior

    def _as_target(self, params):
        """What to keep of the parameters for the target: themselves, or their values of all states."""
        return jax.vmap(self._all_values)(params) if self.structure.tabulates else params

    def _target_values(self, target, next_obs):
        if self.structure.tabulates:
            return target[jnp.minimum(next_obs, target.shape[0] - 1)]
        return jax.vmap(self.network.apply, (None, 0))(target, next_obs)

    def _all_values(self, params):
        """One member's Q of every state, without prior: (states, actions)."""
        rows, rest = params
        assert self.network.head is not None, "only a table has all its states at hand"
        return jax.vmap(self.network.head, (None, 0))(rest, rows)

    def _values(self, params, obs, action):
        if self.structure.tabulates and params[0].shape[0] <= obs.shape[0]:
            # With no more states than samples, each state is worked out once and nothing is gathered.
            return self._all_values(params)[obs, action]
        q = jax.vmap(self.network.apply, (None, 0))(params, obs)
        return (q * jax.nn.one_hot(action, q.shape[-1])).sum(-1)

    def mean_squares(self, error: jax.Array, batch: Transition) -> jax.Array:
        squares = jnp.square(error)
        if batch.mask is not None:
            squares = squares * batch.mask
        scale = self.hyper.loss_scale
        if self.structure.mean_over_members:
            scale = scale / self.structure.members
        return scale * squares.mean()

    def _penalty_slope(self, param: jax.Array, num_data: jax.Array) -> jax.Array:
        """Gradient of σ_w²λ/|D|·Σθ² (the paper) or of λ/|D|·mean θ² (the authors' code)."""
        weight = 1 / param.size if self.structure.mean_regularizer else self.hyper.noise_variance
        return 2 * self.hyper.regularizer * weight / num_data * param

    def _perturb_prior(self, key, prior, count, num_data):
        """The authors' slip: noise reaches the prior, whose v is 0 because it has no gradient."""
        h = self.hyper
        alpha_k = h.learning_rate * jnp.sqrt(1 - h.adam_b2**count) / (1 - h.adam_b1**count)
        std = jnp.sqrt(2 * alpha_k * h.noise_variance / (num_data * h.adam_eps))
        return jax.tree.map(
            lambda p, z: p + std.reshape(-1, *[1] * (p.ndim - 1)) * z, prior, prng.normal_like(key, prior)
        )


def greedy(key: jax.Array, q: jax.Array) -> jax.Array:
    """The action of the highest value, ties uniformly."""
    return jnp.argmax(jnp.where(q == q.max(), jax.random.uniform(key, q.shape), -1.0))


def make_agent(config: AgentConfig, network: Network | None = None, space: Space | None = None) -> Agent:
    """An agent for a configuration.

    Args:
        config: what kind of agent.
        network: the value network; by default the configuration's MLP, behind convolutions for pictures.
        space: what will be observed; needed to see a picture as one and to choose sleeping rows.
    """
    network = network or networks.network_for(space, config.hidden, config.negative_slope)
    sleeps = _rows_sleep(config, network, space)
    whole = ("epsilon_decay_episodes", "target_period")
    return Agent(
        hyper=Hyper(
            **{name: (jnp.int32 if name in whole else jnp.float32)(getattr(config, name)) for name in Hyper._fields}
        ),
        structure=Structure(
            members=config.members,
            bootstraps=config.insertion == "buffers" and config.insertion_probability < 1,
            batch_size=config.batch_size,
            buffer_size=config.buffer_size,
            random_out=config.buffer_discipline == "random",
            shared_minibatch=config.shared_minibatch,
            mean_over_members=config.mean_over_members,
            debiased_drift=config.debiased_drift,
            independent_target=config.independent_target,
            mean_regularizer=config.regularizer_form == "mean",
            masked=config.insertion == "mask" and config.insertion_probability < 1,
            noisy=config.noise_variance > 0,
            regularized=config.regularizer > 0,
            has_prior=config.prior_scale > 0,
            prior_noise=config.prior_noise and config.prior_scale > 0 and config.noise_variance > 0,
            has_target_noise=config.target_noise > 0,
            explores=config.epsilon > 0 or (config.epsilon_decay_episodes > 0 and config.epsilon_final > 0),
            tabulates=not sleeps and _is_small(config, network, space),
            sleeping_rows=sleeps,
            plain=config.optimizer == "sgd",
            block=min(config.target_period, sleeping_rows.MAX_BLOCK) if sleeps else 1,
        ),
        network=network,
    )


def _is_small(config: AgentConfig, network: Network, space: Space | None) -> bool:
    """A table of all states is no more work than the samples between two copies of the target."""
    if network.head is None or not isinstance(space, IndexSpace):
        return False
    return space.n <= config.target_period * config.batch_size


def _rows_sleep(config: AgentConfig, network: Network, space: Space | None) -> bool:
    """Sleeping is exact without a regulariser, for a first layer that is a table."""
    is_table = network.head is not None and not isinstance(space, ArraySpace)
    exact = is_table and config.regularizer == 0 and not config.prior_noise and config.optimizer == "adam"
    if config.row_updates == "sleeping" and not exact:
        needs = "regularizer=0, prior_noise=false and optimizer=adam" if is_table else "observations that are indices"
        raise UserError(f"row_updates=sleeping needs {needs}", "use row_updates=dense")
    return config.row_updates == "sleeping" or (
        config.row_updates == "auto" and exact and space is not None and row_state.pays(space)
    )
