r"""Algorithm 2, the update of one member, written once.

$$
\Delta\theta = -\alpha \nabla_\theta \Big(\frac{1}{|\tilde D|}
    \sum_{(s,a,r,s') \in \tilde D} \big(r + \gamma \max_{a'} Q_{\theta^{target}}(s', a')
    - Q_\theta(s, a)\big)^2 + \frac{\sigma_w^2}{|D|}\psi(\theta)\Big)
    + \sqrt{\frac{2\alpha\sigma_w^2}{|D|}}\, z
$$

1. ``Problem.minibatches`` draws $\tilde D$ (line 1 of Algorithm 2).
2. ``Problem.goal`` is the target $r + \gamma \max_{a'} Q_{\theta^{target}}(s', a')$.
3. ``loss_gradient`` and ``Problem.add_penalty`` give the gradient (line 3).
4. ``Problem.step`` is the Langevin step with its noise (lines 2 to 4), preconditioned as in Algorithm 4.

Two learners carry this out. ``dense`` moves all parameters at every update; ``lazy`` moves the rows of a
lookup table only when they are read. Both are given a ``Problem`` and know nothing of the agent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from langevin_dqn.agents.replay import Layout, Replay, Transition
from langevin_dqn.config import AgentConfig
from langevin_dqn.networks import Network
from langevin_dqn.optimizers import langevin_adam, langevin_sgd


class UpdateCount(NamedTuple):
    """How many updates were made, and which was the first whose loss was not finite (0 if none was)."""

    updates: jax.Array
    nonfinite_update: jax.Array

    @classmethod
    def zero(cls) -> "UpdateCount":
        return cls(jnp.int32(0), jnp.int32(0))

    def add(self, loss: jax.Array) -> "UpdateCount":
        """One more update, whose members had these losses."""
        updates = self.updates + 1
        failed = jnp.where(jnp.isfinite(loss).all(), 0, updates)
        return UpdateCount(updates, jnp.where(self.nonfinite_update > 0, self.nonfinite_update, failed))


class Look(NamedTuple):
    """Quantities of an update, for metrics; the leading axis is the member.

    Attributes:
        loss: of the minibatch.
        error: the TD error of each sample.
        gradient_norm: the norm of what the optimizer receives.
    """

    loss: jax.Array
    error: jax.Array
    gradient_norm: jax.Array


@dataclass(frozen=True)
class Problem:
    """What an update minimises, and by which step: the only input of a learner.

    Attributes:
        network: the value network.
        config: the settings that decide the program.
        numbers: the traced settings by name; None for what is no part of the program.
        layout: how transitions are kept.
        no_penalty_on: takes parameters; a tree of booleans, True for what the penalty leaves alone.
        reward_scale: what rewards are divided by; None for 1.
        prior_mixture: each member's weights of the networks of a moving prior; None for one that stays.
    """

    network: Network
    config: AgentConfig
    numbers: Mapping[str, Any]
    layout: Layout
    no_penalty_on: Callable[[Any], Any] | None = None
    reward_scale: Any = None
    prior_mixture: Any = None

    @property
    def members(self) -> int:
        return self.layout.members

    def minibatches(self, key: jax.Array, replay: Replay) -> tuple[Transition, jax.Array]:
        """Line 1 of Algorithm 2 for every member: its minibatch, and its |D|.

        A member whose buffer is empty must not move: its samples are masked, and an infinite |D|
        gives it no noise.
        """
        c, members = self.config, self.members
        recent, window = round(c.recent_fraction * c.batch_size), self.numbers["recent_window"]
        batch = self.layout.sample(
            key, replay, c.batch_size, c.shared_minibatch, (recent, window) if recent > 0 else None
        )
        if self.reward_scale is not None:
            batch = batch._replace(reward=batch.reward / self.reward_scale)
        if self.prior_mixture is not None:
            mix = {
                name: jnp.einsum("mk,mbk...->mb...", self.prior_mixture, batch.extras[name])
                for name in ("prior", "next_prior")
            }
            batch = batch._replace(extras=batch.extras | mix)
        size = jnp.broadcast_to(replay.size.astype(jnp.float32), (members,))
        if self.layout.separate:
            mask = jnp.broadcast_to(size[:, None] > 0, batch.reward.shape).astype(jnp.float32)
            batch = batch._replace(extras=batch.extras | {"mask": mask})
        return batch, jnp.where(size > 0, size, jnp.inf)

    def goal(self, q_next: jax.Array, batch: Transition) -> jax.Array:
        """What the network must match: R + γ max_a' Q_target(s', a'), less the prior's share of Q(s, a).

        Args:
            q_next: the target network's values of the next observations, without prior.
            batch: one member's minibatch.
        """
        extras = batch.extras
        if "next_prior" in extras:
            q_next = q_next + extras["next_prior"]
        goal = batch.reward + self.numbers["discount"] * batch.continues * q_next.max(-1)
        if "target_noise" in extras:
            goal = goal + extras["target_noise"]
        return goal - extras["prior"] if "prior" in extras else goal

    def mean_loss(self, error: jax.Array, batch: Transition) -> jax.Array:
        """The mean squared error over a minibatch; masked samples count as zeros."""
        squares = jnp.square(error)
        if "mask" in batch.extras:
            squares = squares * batch.extras["mask"]
        return self.numbers["loss_scale"] * squares.mean()

    def add_penalty(self, gradient: Any, params: Any, num_data: jax.Array) -> Any:
        """The gradient with that of the penalty: σ_w²λ/|D|·Σθ² (the paper) or λ/|D|·mean θ² (the released code)."""
        strength = self.numbers["regularizer"]
        if strength is None:
            return gradient

        def add(slope, param, leave_alone=False):
            weight = 1 / param.size if self.config.regularizer_form == "mean" else self._variance
            return slope if leave_alone else slope + 2 * strength * weight / num_data * param

        if self.no_penalty_on is not None:
            return jax.tree.map(add, gradient, params, self.no_penalty_on(params))
        return jax.tree.map(add, gradient, params)

    @property
    def _variance(self) -> Any:
        """σ_w²: Python's 0 where there is no noise, so that none is drawn."""
        return 0 if self.numbers["noise_variance"] is None else self.numbers["noise_variance"]

    @property
    def optimizer(self) -> optax.GradientTransformationExtraArgs:
        n = self.numbers
        if self.config.optimizer == "sgd":
            return langevin_sgd(n["learning_rate"], self._variance)
        return langevin_adam(
            n["learning_rate"],
            self._variance,
            n["adam_b1"],
            n["adam_b2"],
            n["adam_eps"],
            bias_correction=self.config.bias_correction,
        )

    def step(self, key: jax.Array, gradient: Any, optimizer_state: Any, params: Any, num_data: jax.Array):
        """One member's Langevin step: its new parameters and optimizer state."""
        step, optimizer_state = self.optimizer.update(gradient, optimizer_state, params, key=key, num_data=num_data)
        return optax.apply_updates(params, step), optimizer_state

    def copies_target(self, counter: UpdateCount) -> jax.Array:
        """True if the target is copied after the update that was counted last."""
        return counter.updates % self.numbers["target_period"] == 0


def loss_gradient(
    problem: Problem, chosen_values: Callable[[Any], jax.Array], params: Any, goal: jax.Array, batch: Transition
) -> tuple[jax.Array, Any]:
    """The mean loss over one member's minibatch and its gradient.

    Args:
        problem: what is minimised.
        chosen_values: Q(s, a) of every sample as a function of ``params``.
        params: what the gradient is taken for.
        goal: what each sample's value must match.
        batch: the minibatch.
    """

    def mean_loss(params):
        return problem.mean_loss(goal - chosen_values(params), batch)

    return jax.value_and_grad(mean_loss)(params)


def norm(tree: Any) -> jax.Array:
    """The Euclidean norm of all numbers in a tree."""
    return jnp.sqrt(sum(jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(tree)))


def of_actions(values: jax.Array, action: jax.Array) -> jax.Array:
    """The value of each sample's action, from those of all actions; no gather, which would cost more."""
    return (values * jax.nn.one_hot(action, values.shape[-1])).sum(-1)
