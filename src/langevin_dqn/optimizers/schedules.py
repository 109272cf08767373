"""Step sizes that fall as Langevin SGD needs them to."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from langevin_dqn.errors import UserError


@dataclass(frozen=True)
class PolynomialDecay:
    """``scale * (offset + k) ** -power`` after ``k`` updates; equal settings are equal objects, and compile once."""

    scale: float
    offset: float
    power: float

    def __call__(self, count: jax.Array) -> jax.Array:
        return self.scale * (self.offset + jnp.asarray(count, jnp.float32)) ** -self.power


def polynomial_decay(scale: float, offset: float = 1.0, power: float = 1 / 3) -> PolynomialDecay:
    r"""Welling and Teh's step sizes, for any optimizer that takes an optax schedule.

    $$
    \alpha_k = a\,(b + k)^{-\gamma}
    $$

    Langevin SGD converges to the posterior if $\sum_k \alpha_k = \infty$ and
    $\sum_k \alpha_k^2 < \infty$, which is $\tfrac12 < \gamma \le 1$. Averages over
    the draws converge for every $0 < \gamma \le 1$, fastest at $\gamma = \tfrac13$
    (Teh, Thiery and Vollmer, *Consistency and fluctuations for stochastic gradient Langevin
    dynamics*, 2016).

    Args:
        scale: $a$.
        offset: $b$; the larger, the later the decay sets in.
        power: $\gamma$.

    Examples:
        >>> import langevin_dqn
        >>> step_size = langevin_dqn.polynomial_decay(0.8, offset=1.0, power=0.5)
        >>> tuple(round(float(step_size(k)), 2) for k in (0, 3, 15))
        (0.8, 0.4, 0.2)

    References:
        Welling and Teh, *Bayesian learning via stochastic gradient Langevin dynamics*, 2011.
    """
    if not (scale > 0 and offset > 0 and 0 < power <= 1):
        raise UserError(
            f"step sizes {scale:g} ({offset:g} + k)^-{power:g} do not decrease to zero slowly enough",
            "use a scale and an offset above 0, and a power from above 0 to 1",
        )
    return PolynomialDecay(float(scale), float(offset), float(power))
