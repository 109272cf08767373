r"""Langevin SGD and its Adam-preconditioned form, as optax transformations.

Both take the key and the size of the data set at update time, because the noise depends
on them: ``update(grads, state, params=None, *, key, num_data)``. ``grads`` is the gradient
of the *mean* loss over a minibatch, plus that of :math:`\sigma_w^2\psi(\theta)/|D|` where
there is a regulariser. A key that lived inside the transformation would hand the same
noise to every member of an ensemble; here ``vmap`` over keys gives each its own.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from langevin_dqn import prng
from langevin_dqn.errors import UserError
from langevin_dqn.optimizers.noise_scale import step_noise_variance

ScalarOrSchedule = float | jax.Array | Callable[[jax.Array], Any]


class LangevinSgdState(NamedTuple):
    """Number of updates made, for schedules."""

    count: jax.Array  # type: ignore[assignment]


class LangevinAdamState(NamedTuple):
    """Number of updates made, and the raw first and second moments m and v."""

    count: jax.Array  # type: ignore[assignment]
    mu: Any
    nu: Any


def langevin_sgd(
    learning_rate: ScalarOrSchedule, noise_variance: float | jax.Array
) -> optax.GradientTransformationExtraArgs:
    r"""Langevin SGD, eq. (5) of the paper in the appendix's scaling.

    .. math::
        \Delta\theta_k = -\alpha_k \hat g_k + \sqrt{\frac{2\alpha_k\sigma_w^2}{|D|}}\, z_k,
        \qquad z_k \sim N(0, I)

    With the gradient of the mean of :math:`\tfrac12(f_\theta(x_i) - y_i)^2` this samples
    the posterior of a Gaussian model with noise variance :math:`\sigma_w^2`. On a
    quadratic :math:`\tfrac12 h\theta^2` its stationary variance is
    :math:`\sigma_w^2 / (|D|\,h\,(1 - \alpha h/2))`.

    Args:
        learning_rate: :math:`\alpha`, or a function of the number of updates made so far.
        noise_variance: :math:`\sigma_w^2`. Python's 0 gives plain SGD, bit for bit.

    Example:
        >>> import jax, jax.numpy as jnp, langevin_dqn
        >>> optimizer = langevin_dqn.langevin_sgd(0.1, noise_variance=1.0)
        >>> params = jnp.zeros(3)
        >>> state = optimizer.init(params)
        >>> updates, state = optimizer.update(jnp.ones(3), state, key=jax.random.key(0), num_data=100)
        >>> updates.shape
        (3,)

    References:
        Welling and Teh, *Bayesian learning via stochastic gradient Langevin dynamics*, 2011.
    """
    _check(noise_variance)

    def init(params):
        del params
        return LangevinSgdState(count=jnp.zeros([], jnp.int32))

    def update(updates, state, params=None, *, key, num_data, **extra):
        del params, extra
        alpha = _value(learning_rate, state.count)
        steps = jax.tree.map(lambda g: -alpha * g, updates)
        if not _is_zero(noise_variance):
            std = jnp.sqrt(step_noise_variance(alpha, noise_variance, num_data))
            steps = jax.tree.map(lambda s, z: s + std * z, steps, prng.normal_like(key, steps))
        return steps, LangevinSgdState(count=optax.safe_increment(state.count))

    return optax.GradientTransformationExtraArgs(init, update)


def langevin_adam(
    learning_rate: ScalarOrSchedule,
    noise_variance: float | jax.Array,
    b1: float | jax.Array = 0.9,
    b2: float | jax.Array = 0.999,
    eps: float | jax.Array = 1e-6,
    *,
    bias_correction: bool = False,
    debiased_drift: bool | None = None,
) -> optax.GradientTransformationExtraArgs:
    r"""Langevin SGD preconditioned by Adam's moments, alg4 of the paper.

    .. math::
        \alpha_k &= \alpha \sqrt{1-\beta_2^k} / (1-\beta_1^k) \\
        m_k &= \beta_1 m_{k-1} + (1-\beta_1)\hat g \\
        v_k &= \beta_2 v_{k-1} + (1-\beta_2)\hat g^2 \\
        \theta_k &= \theta_{k-1} - \alpha_k \frac{m_k}{\sqrt{v_k}+\epsilon}
            + \sqrt{\frac{2\alpha_k\,\sigma_w^2}{|D|\,(\sqrt{v_k}+\epsilon)}}\; z

    The paper prints alg4 for a loss scaled by :math:`|D|/\sigma_w^2`; the factor
    :math:`\sigma_w^2/|D|` under the root is the appendix's update rule, in which the
    learning rate has absorbed that scale. A parameter that has never seen a gradient has
    :math:`v = 0`, so :math:`\epsilon` sets the size of its random walk: it is the knob
    that keeps unvisited states uncertain, not only a guard against division by zero.

    Where sources differ: alg4 adds :math:`\epsilon` to the root of the *raw* second
    moment (Kingma and Ba's "epsilon hat"), while ``optax.adam`` and the authors' code add
    it to the bias-corrected one.

    Args:
        learning_rate: :math:`\alpha`, or a function of the number of updates made so far.
        noise_variance: :math:`\sigma_w^2`. Python's 0 gives Adam in alg4's form, bit for bit.
        b1: :math:`\beta_1`.
        b2: :math:`\beta_2`.
        eps: :math:`\epsilon`.
        bias_correction: take the drift from bias-corrected moments, :math:`\alpha\hat m_k /
            (\sqrt{\hat v_k}+\epsilon)`, as the authors' code does; the noise keeps raw
            :math:`v_k` and :math:`\alpha_k` there too.
        debiased_drift: the old name of ``bias_correction``.

    Example:
        >>> import jax, jax.numpy as jnp, langevin_dqn
        >>> optimizer = langevin_dqn.langevin_adam(1e-3, noise_variance=1e-4)
        >>> params = {"w": jnp.ones((2, 2))}
        >>> state = optimizer.init(params)
        >>> updates, state = optimizer.update(params, state, key=jax.random.key(0), num_data=100)
        >>> updates["w"].shape
        (2, 2)
    """
    _check(noise_variance)
    if debiased_drift is not None:
        warnings.warn("debiased_drift is now bias_correction", DeprecationWarning, stacklevel=2)
        bias_correction = debiased_drift

    def init(params):
        zeros = jax.tree.map(jnp.zeros_like, params)
        return LangevinAdamState(count=jnp.zeros([], jnp.int32), mu=zeros, nu=zeros)

    def update(updates, state, params=None, *, key, num_data, **extra):
        del params, extra
        count = optax.safe_increment(state.count)
        alpha = _value(learning_rate, state.count)
        correction_1, correction_2 = 1 - b1**count, 1 - b2**count
        alpha_k = alpha * jnp.sqrt(correction_2) / correction_1
        mu = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state.mu, updates)
        nu = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, state.nu, updates)
        if bias_correction:
            steps = jax.tree.map(lambda m, v: -alpha * (m / correction_1) / (jnp.sqrt(v / correction_2) + eps), mu, nu)
        else:
            steps = jax.tree.map(lambda m, v: -alpha_k * m / (jnp.sqrt(v) + eps), mu, nu)
        if not _is_zero(noise_variance):
            scale = step_noise_variance(alpha_k, noise_variance, num_data)
            steps = jax.tree.map(
                lambda s, v, z: s + jnp.sqrt(scale / (jnp.sqrt(v) + eps)) * z,
                steps,
                nu,
                prng.normal_like(key, steps),
            )
        return steps, LangevinAdamState(count, mu, nu)

    return optax.GradientTransformationExtraArgs(init, update)


def _value(learning_rate: ScalarOrSchedule, count: jax.Array):
    return learning_rate(count) if callable(learning_rate) else learning_rate


def _is_zero(noise_variance) -> bool:
    """True for a Python 0, for which no noise is drawn at all; False for traced values."""
    return isinstance(noise_variance, (int, float)) and noise_variance == 0


def _check(noise_variance) -> None:
    if isinstance(noise_variance, (int, float)) and not noise_variance >= 0:
        raise UserError(
            f"noise_variance={noise_variance} must not be negative", "use 0 for no noise, or a positive number"
        )
