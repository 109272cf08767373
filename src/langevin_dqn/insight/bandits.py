r"""Bandits where the posterior is known: exact Thompson sampling and other rules, many seeds at once.

Rewards are $\phi_a^\top w + N(0, \sigma^2)$ with a prior $w \sim N(0, s^2 I)$;
arms without features have $\phi_a = e_a$. After some pulls $w$ is Gaussian with
precision $P = I/s^2 + \sum \phi\phi^\top/\sigma^2$ and mean $P^{-1}\sum \phi r/\sigma^2$.
Every rule below knows all of this, and differs only in how it chooses.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.linalg import solve_triangular

from langevin_dqn import prng
from langevin_dqn.agents.base import greedy
from langevin_dqn.environments.bandits.gaussian_bandit import GaussianBandit
from langevin_dqn.errors import UserError


class Belief(NamedTuple):
    """A Gaussian posterior of the weights, by its precision P and P times its mean."""

    precision: jax.Array
    shift: jax.Array

    @classmethod
    def prior(cls, bandit: GaussianBandit) -> "Belief":
        size = bandit.design.shape[1]
        return cls(jnp.eye(size) / bandit.weight_std**2, jnp.zeros(size))

    def after(self, features: jax.Array, reward: jax.Array, reward_noise: float | jax.Array) -> "Belief":
        """Bayes' rule for one reward of an arm with these features."""
        precise = 1 / reward_noise**2
        return Belief(
            self.precision + precise * jnp.outer(features, features), self.shift + precise * reward * features
        )


#: ``rule(key, belief, design, t) -> arm`` for pull number t, counted from 1.
Rule = Callable[[jax.Array, Belief, jax.Array, jax.Array], jax.Array]


def thompson() -> Rule:
    """Draw weights from the posterior, and pull the arm that would be best."""

    def rule(key, belief, design, t):
        del t
        draw_key, tie_key = jax.random.split(key)
        root = jnp.linalg.cholesky(belief.precision)
        mean = jnp.linalg.solve(belief.precision, belief.shift)
        normal = prng.normal(draw_key, mean.shape)
        return greedy(tie_key, design @ (mean + solve_triangular(root.T, normal)))  # (LLᵀ)⁻¹ = L⁻ᵀL⁻¹

    return rule


def epsilon_greedy(epsilon: float = 0.1) -> Rule:
    """Pull the arm of the best posterior mean; any arm with chance ε."""
    if not 0 <= epsilon <= 1:
        raise UserError(f"epsilon must be between 0 and 1, not {epsilon:g}", "for example, 0.1")

    def rule(key, belief, design, t):
        del t
        tie_key, explore_key, arm_key = jax.random.split(key, 3)
        best = greedy(tie_key, design @ jnp.linalg.solve(belief.precision, belief.shift))
        anything = jax.random.randint(arm_key, (), 0, design.shape[0])
        return jnp.where(jax.random.uniform(explore_key) < epsilon, anything, best)

    return rule


def ucb(width: float = 2.0) -> Rule:
    """Pull the arm of the highest bound, mean + sqrt(width · log t) standard deviations; 2 is UCB1's width."""
    if width < 0:
        raise UserError(f"width must be at least 0, not {width:g}", "2 is UCB1's width")

    def rule(key, belief, design, t):
        solved = jnp.linalg.solve(belief.precision, jnp.column_stack([belief.shift, design.T]))
        mean, variance = design @ solved[:, 0], (design.T * solved[:, 1:]).sum(0)
        return greedy(key, mean + jnp.sqrt(width * jnp.log(t) * variance))

    return rule


def regrets(rule: Rule, bandits: Sequence[GaussianBandit], steps: int, seed: int = 0) -> np.ndarray:
    """The regret of each pull, for each of the bandits: (bandits, steps).

    Bandits of one shape run as one program. Cumulative sums over steps are the regret curves.

    Args:
        rule: how to choose.
        bandits: one for each run.
        steps: pulls per run.
        seed: everything random follows from it.
    """
    if steps < 1:
        raise UserError(f"steps must be at least 1, not {steps}", "for example, 1000")
    if any(not bandit.reward_noise > 0 for bandit in bandits):
        raise UserError("reward_noise must be above 0: the posterior is not defined without noise", "for example, 1")
    if len({bandit.design.shape for bandit in bandits}) != 1:
        raise UserError("the bandits have different shapes", "pass bandits with the same number of arms and features")
    stacked = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(x) for x in leaves]), *bandits)
    keys = jax.random.split(jax.random.key(seed, impl=prng.PRNG), len(bandits))
    return np.asarray(_run(rule, steps, stacked, keys))


@partial(jax.jit, static_argnums=(0, 1))
def _run(rule: Rule, steps: int, bandits: GaussianBandit, keys: jax.Array) -> jax.Array:
    def one(bandit: GaussianBandit, key: jax.Array) -> jax.Array:
        design = bandit.design

        def pull(belief: Belief, t: jax.Array) -> tuple[Belief, Any]:
            reset_key, rule_key, step_key = jax.random.split(jax.random.fold_in(key, t), 3)
            state, _ = bandit.reset(reset_key)
            arm = rule(rule_key, belief, design, t)
            state, _, reward, _, _ = bandit.step(step_key, state, arm)
            return belief.after(design[arm], reward, bandit.reward_noise), bandit.measure(state)["regret"]

        return lax.scan(pull, Belief.prior(bandit), jnp.arange(1, steps + 1))[1]

    return jax.vmap(one)(bandits, keys)
