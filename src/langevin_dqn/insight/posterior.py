r"""Langevin Monte Carlo, Langevin gradient descent and Langevin SGD: Section 2 of the paper.

Gradient descent finds the best parameters. With noise of the right size in every update the
sequence of parameters is a sample of the posterior instead. All three
samplers are one loop around the optimizers that the agents use, compiled as one program.

* Equation (1), Langevin Monte Carlo, samples any log density: ``langevin_monte_carlo``;
* Equations (2)-(3), Langevin gradient descent, is equation (1) for the log posterior of a data set:
  ``sample_posterior``;
* Equations (4)-(5), Langevin SGD, sees a minibatch per step: ``sample_posterior(..., batch_size=...)``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from langevin_dqn import prng
from langevin_dqn.errors import UserError
from langevin_dqn.insight import chains as langevin_chains
from langevin_dqn.insight.draws import Draws
from langevin_dqn.optimizers import langevin_sgd
from langevin_dqn.optimizers.langevin import ScalarOrSchedule


def sample_posterior(
    loss: Callable[[Any, Any], jax.Array],
    params: Any,
    data: Any,
    *,
    key: jax.Array,
    num_samples: int,
    learning_rate: ScalarOrSchedule,
    noise_variance: float,
    negative_log_prior: Callable[[Any], Any] | None = None,
    batch_size: int | None = None,
    burn_in: int = 0,
    thinning: int = 1,
    chains: int = 4,
    optimizer: Callable[..., optax.GradientTransformationExtraArgs] = langevin_sgd,
) -> Draws:
    r"""Draws from the posterior of ``params`` given ``data``, by Langevin gradient descent or SGD.

    With loss $\ell$ and regulariser $\psi$ the draws follow

    $$
    p(\theta \mid D) \propto \exp\Bigl(-\frac{1}{\sigma_w^2}\sum_{i \in D}\ell(\theta, x_i) - \psi(\theta)\Bigr)
    $$

    and each step is equation (5) of the paper, in the appendix's scaling
    ($\epsilon_k = \alpha_k\sigma_w^2/|D|$ is the step size of equations 1 to 4):

    $$
    \Delta\theta_k = -\alpha_k \nabla\Bigl(\frac{1}{|\tilde D|}\sum_{i \in \tilde D}\ell(\theta, x_i)
        + \frac{\sigma_w^2}{|D|}\psi(\theta)\Bigr) + \sqrt{\frac{2\alpha_k\sigma_w^2}{|D|}}\, z_k
    $$

    Steps of a finite size leave a bias. In a direction of curvature $h$ the variance
    comes out too large by $\alpha h/2$, and with minibatches by about
    $\alpha h |D| / (2|\tilde D|)$ more, relative to its size. A decreasing schedule, such as
    ``polynomial_decay``, reduces both to zero. Later steps are then shorter, so draws are taken at
    equal distances of diffusion time $\sum_k \alpha_k$ and not after a fixed number of steps. All
    draws have the same weight, and a step that is longer than the distance is drawn more than once.

    Args:
        loss: the loss of one example, ``loss(params, example)``: a half of the squared error for
            Gaussian noise, or any negative log-likelihood, with ``noise_variance=1``.
        params: where the chains start: a tree, or a function of a key that makes one, by which
            each chain starts elsewhere.
        data: a tree of arrays with one leading axis of length $|D|$.
        key: any JAX key.
        num_samples: draws to keep, per chain.
        learning_rate: $\alpha$, or a function of the number of steps made so far.
        noise_variance: $\sigma_w^2$.
        negative_log_prior: $\psi$; none is a flat prior.
        batch_size: $|\tilde D|$, examples per step, drawn with replacement; none takes all
            of them, which is Langevin gradient descent.
        burn_in: steps before the first draw counts.
        thinning: steps per draw; with a schedule, on average.
        chains: chains, side by side.
        optimizer: called with ``learning_rate`` and ``noise_variance``. ``langevin_adam`` runs
            too, but leaves out a term that its preconditioner calls for: what it samples is
            close to the posterior, but not equal to it.

    Returns:
        The draws, with methods for ArviZ's effective sample size and R-hat.

    Examples:
        >>> import jax, jax.numpy as jnp, langevin_dqn
        >>> y = jnp.array([0.0, 1.0, 2.0])
        >>> draws = langevin_dqn.sample_posterior(
        ...     lambda mean, y: 0.5 * (mean - y) ** 2, jnp.zeros(()), y, key=jax.random.key(0),
        ...     num_samples=1000, learning_rate=0.1, noise_variance=1.0, burn_in=100, thinning=10)
        >>> draws.params.shape
        (4, 1000)
        >>> round(float(draws.mean()), 1)
        1.0
    """
    plan = langevin_chains.Plan(num_samples, burn_in, thinning, chains)
    size = _data_size(data)
    if batch_size is not None:
        langevin_chains.whole_number("batch_size", batch_size, least=1)
        if batch_size > size:
            raise UserError(
                f"batch_size={batch_size} is larger than the data set of {size} examples",
                "leave it out to use all examples",
            )
    if not noise_variance > 0:
        raise UserError(
            f"noise_variance={noise_variance} does not sample a posterior",
            "use the variance of the noise in the data, or 1 where the loss is a negative log-likelihood",
        )
    data = jax.tree.map(jnp.asarray, data)
    target = _Posterior(loss, negative_log_prior, batch_size)
    return langevin_chains.run(target, optimizer, learning_rate, noise_variance, size, params, data, key, plan)


def langevin_monte_carlo(
    log_density: Callable[[Any], jax.Array],
    params: Any,
    *,
    key: jax.Array,
    num_samples: int,
    step_size: ScalarOrSchedule,
    burn_in: int = 0,
    thinning: int = 1,
    chains: int = 4,
) -> Draws:
    r"""Draws from any density, by equation (1) of the paper.

    $$
    \Delta\theta_k = \epsilon_k \nabla\log p(\theta) + \sqrt{2\epsilon_k}\, z_k
    $$

    Args:
        log_density: $\log p(\theta)$, up to a constant.
        params: where the chains start, as in ``sample_posterior``.
        key: any JAX key.
        num_samples: draws to keep, per chain.
        step_size: $\epsilon$, or a function of the number of steps made so far.
        burn_in: steps before the first draw counts.
        thinning: steps per draw; with a schedule, on average.
        chains: chains, side by side.
    """
    plan = langevin_chains.Plan(num_samples, burn_in, thinning, chains)
    return langevin_chains.run(_Density(log_density), langevin_sgd, step_size, 1.0, 1, params, None, key, plan)


@dataclass(frozen=True)
class _Posterior:
    loss: Callable[[Any, Any], jax.Array]
    negative_log_prior: Callable[[Any], Any] | None
    batch_size: int | None

    def gradient(self, key, params, data, noise_variance):
        size = _data_size(data)
        if self.batch_size is not None:
            rows = prng.integers(key, (self.batch_size,), jnp.int32(size))
            data = jax.tree.map(lambda leaf: leaf.at[rows].get(mode="promise_in_bounds"), data)

        def objective(params):
            losses = jax.vmap(self.loss, in_axes=(None, 0))(params, data)
            if losses.ndim != 1:
                raise UserError(
                    f"the loss of one example has shape {losses.shape[1:]}", "return a scalar, for example a sum"
                )
            mean_loss = jnp.mean(losses)
            if self.negative_log_prior is None:
                return mean_loss
            return mean_loss + noise_variance / size * self.negative_log_prior(params)

        return jax.grad(objective)(params)


@dataclass(frozen=True)
class _Density:
    log_density: Callable[[Any], jax.Array]

    def gradient(self, key, params, data, noise_variance):
        del key, data, noise_variance
        return jax.grad(lambda params: -self.log_density(params))(params)


def _data_size(data: Any) -> int:
    sizes = {np.shape(leaf)[:1] for leaf in jax.tree.leaves(data)}
    if len(sizes) != 1 or sizes <= {(), (0,)}:
        raise UserError(
            f"the arrays of the data have different leading axes: {sorted(sizes)}",
            "all arrays need the same leading axis, over examples",
        )
    return sizes.pop()[0]
