r"""The tabular Langevin update of Section 5 (eq. 8), and what it settles at.

With the whole buffer, $\psi = 0$ and the current values as targets, every cell moves by

$$
\hat Q_h(x,a) \leftarrow \hat Q_h(x,a) - \frac{\epsilon |D_{x,a}|}{\sigma_w^2}
\Big(\hat Q_h(x,a) - \bar r - \sum_{x'} \hat P(x') \max_{a'} \hat Q_{h+1}(x', a')\Big) + \sqrt{2\epsilon}\, z
$$

where $\bar r$ and $\hat P$ average over $D_{x,a}$ (a sum over data is
$|D_{x,a}|$ times its average).

*One cell with a target at rest.* With $c = \epsilon|D_{x,a}|/\sigma_w^2$ the error
obeys $e \leftarrow (1-c) e + \sqrt{2\epsilon} z$. A variance that stays the same has
$v = (1-c)^2 v + 2\epsilon$, so

$$
v = \frac{2\epsilon}{1-(1-c)^2} = \frac{\sigma_w^2}{|D_{x,a}|} \cdot \frac{1}{1 - c/2},
\qquad 0 < c < 2,
$$

which tends to the posterior's $\sigma_w^2/|D_{x,a}|$ as $\epsilon \to 0$.

*Cells with moving targets.* Where one action stays the best, the update is linear,
$Q \leftarrow A Q + b + \sqrt{2\epsilon} z$, and the covariance solves
$\Sigma = A \Sigma A^\top + 2\epsilon I$ (``linear_covariance``). A target that moves much more
slowly than the cell is followed, and the cell takes over its variance, as the paper argues. A target
as slow as the cell is not. In the limit $\epsilon \to 0$ of a cell whose target is its own
value one period later, m periods from the end, the noise of j periods later arrives through j + 1
equal filters, $t^j e^{-t}/j!$, so in units of $\sigma_w^2/|D_{x,a}|$

$$
v_m = \sum_{j=0}^{m} 2\int_0^\infty \Big(\frac{t^j e^{-t}}{j!}\Big)^2 dt
= \sum_{j=0}^{m} \binom{2j}{j} 4^{-j} = 1,\ 1.5,\ 1.875,\ \ldots
$$

where the posterior has m + 1. Variance then grows along the horizon like $2\sqrt{m/\pi}$, not like m.
"""

from functools import partial
from math import comb

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import prng
from langevin_dqn.errors import UserError
from langevin_dqn.insight.four_states import ACTIONS, HORIZON, STATES, FourStates


def default_step(problem: FourStates) -> float:
    """ε that moves the quickest cell a fifth of the way to its target."""
    return 0.2 * problem.noise_variance / problem.counts.max()


def update(key: jax.Array, q: jax.Array, problem: FourStates, epsilon: float) -> jax.Array:
    """Eq. (8) for many chains at once: ``q`` is (horizon, states, actions, chains)."""
    transitions, rewards, counts = (
        jnp.asarray(x, jnp.float32) for x in (problem.transitions, problem.rewards, problem.counts)
    )
    later = jnp.concatenate([q[1:].max(2), jnp.zeros_like(q[:1, :, 0])])
    target = rewards[..., None] + (transitions[..., None] * later[:, None, None]).sum(3)
    drift = (epsilon / problem.noise_variance) * counts[..., None] * (target - q)
    return q + drift + jnp.sqrt(2 * epsilon) * prng.normal(key, q.shape)


@partial(jax.jit, static_argnames=("problem", "steps"))
def _advance(key: jax.Array, q: jax.Array, problem: FourStates, epsilon: float, steps: int) -> jax.Array:
    return jax.lax.fori_loop(0, steps, lambda i, q: update(jax.random.fold_in(key, i), q, problem, epsilon), q)


def sample(
    key: jax.Array,
    problem: FourStates,
    *,
    epsilon: float | None = None,
    chains: int = 500,
    burn_in: float = 20.0,
    length: float = 20.0,
    spacing: float = 0.5,
) -> np.ndarray:
    """Values of independent chains after burn-in: (chains, times, horizon, states, actions).

    Times are in units of the slowest cell's relaxation, σ_w²/(ε|D|) updates. Six cells in a
    row forget their start like $t^5 e^{-t}/5!$: 5e-5 after 20 units.
    """
    epsilon = default_step(problem) if epsilon is None else epsilon
    check_step(problem, epsilon)
    relaxation = problem.noise_variance / (epsilon * problem.counts.min())
    q = jnp.zeros((HORIZON, STATES, ACTIONS, chains), jnp.float32)
    burn_key, key = jax.random.split(key)
    q = _advance(burn_key, q, problem, epsilon, round(burn_in * relaxation))
    kept = []
    for sample_key in jax.random.split(key, round(length / spacing)):
        q = _advance(sample_key, q, problem, epsilon, round(spacing * relaxation))
        kept.append(np.moveaxis(np.asarray(q), -1, 0))
    return np.stack(kept, axis=1)


def check_step(problem: FourStates, epsilon: float) -> None:
    """Refuse a step with which the chain would not settle."""
    largest = 2 * problem.noise_variance / problem.counts.max()
    if not 0 < epsilon < largest:
        raise UserError(f"epsilon={epsilon:g} is out of range", f"use a value above 0 and below {largest:g}")


def stationary_variance(count: float, noise_variance: float, epsilon: float) -> float:
    """Variance of one cell with a target at rest: σ_w²/|D| / (1 - ε|D|/(2σ_w²))."""
    return noise_variance / count / (1 - epsilon * count / (2 * noise_variance))


def cascade_variance(periods_left: int) -> float:
    """v_m above: a cell that follows itself, in units of σ_w²/|D|, as ε goes to 0."""
    return sum(comb(2 * j, j) / 4**j for j in range(periods_left + 1))


def linear_covariance(problem: FourStates, epsilon: float, best: np.ndarray) -> np.ndarray:
    r"""Stationary covariance of all cells where ``best[h, x]`` stays the best action: (48, 48).

    Doubling: $\Sigma_{2n} = \Sigma_n + A^n \Sigma_n (A^n)^\top$.
    """
    check_step(problem, epsilon)
    shape = (HORIZON, STATES, ACTIONS)
    pull = epsilon * problem.counts / problem.noise_variance
    map_ = np.zeros(shape + shape)
    for h, x, a in np.ndindex(shape):
        map_[h, x, a, h, x, a] = 1 - pull[x, a]
        if h + 1 < HORIZON:
            for y in range(STATES):
                map_[h, x, a, h + 1, y, best[h + 1, y]] += pull[x, a] * problem.transitions[x, a, y]
    power = map_.reshape(np.prod(shape), -1)
    sigma = 2 * epsilon * np.eye(len(power))
    while np.abs(power).max() > 1e-12:
        sigma, power = sigma + power @ sigma @ power.T, power @ power
    return sigma
