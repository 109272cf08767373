r"""Langevin SGD and its Adam-preconditioned form, as optax transformations.

Both take the key and the size of the data set at update time, because the noise depends
on them: ``update(grads, state, params=None, *, key, num_data)``. ``grads`` is the gradient
of the *mean* loss over a minibatch, plus that of $\sigma_w^2\psi(\theta)/|D|$ where
there is a regulariser. A key that lived inside the transformation would hand the same
noise to every member of an ensemble; here ``vmap`` over keys gives each its own.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
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
    learning_rate: ScalarOrSchedule, noise_variance: ScalarOrSchedule
) -> optax.GradientTransformationExtraArgs:
    r"""Langevin SGD, equation (5) of the paper in the appendix's scaling.

    $$
    \Delta\theta_k = -\alpha_k \hat g_k + \sqrt{\frac{2\alpha_k\sigma_w^2}{|D|}}\, z_k,
    \qquad z_k \sim N(0, I)
    $$

    With the gradient of the mean of $\tfrac12(f_\theta(x_i) - y_i)^2$ this samples
    the posterior of a Gaussian model with noise variance $\sigma_w^2$. On a
    quadratic $\tfrac12 h\theta^2$ its stationary variance is
    $\sigma_w^2 / (|D|\,h\,(1 - \alpha h/2))$.

    Args:
        learning_rate: $\alpha$, or a function of the number of updates made so far.
        noise_variance: $\sigma_w^2$, or a function likewise. Python's 0 gives plain SGD, bit for bit.

    Examples:
        >>> import jax, jax.numpy as jnp, langevin_dqn
        >>> optimizer = langevin_dqn.langevin_sgd(0.1, noise_variance=1.0)
        >>> params = jnp.zeros(3)
        >>> state = optimizer.init(params)
        >>> key, gradient = jax.random.key(0), jnp.ones(3)
        >>> updates, state = optimizer.update(gradient, state, key=key, num_data=100)
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
        check_num_data(num_data)
        alpha = _value(learning_rate, state.count)
        steps = jax.tree.map(lambda g: -alpha * g, updates)
        if not _is_zero(noise_variance):
            check_key(key)
            std = jnp.sqrt(step_noise_variance(alpha, _value(noise_variance, state.count), num_data))
            steps = jax.tree.map(lambda s, z: s + std * z, steps, prng.normal_like(key, steps))
        return steps, LangevinSgdState(count=optax.safe_increment(state.count))

    return optax.GradientTransformationExtraArgs(init, update)


def langevin_adam(
    learning_rate: ScalarOrSchedule,
    noise_variance: ScalarOrSchedule,
    b1: ScalarOrSchedule = 0.9,
    b2: ScalarOrSchedule = 0.999,
    eps: ScalarOrSchedule = 1e-6,
    *,
    bias_correction: bool = False,
    debiased_drift: bool | None = None,
) -> optax.GradientTransformationExtraArgs:
    r"""Langevin SGD preconditioned by Adam's moments, Algorithm 4 of the paper.

    $$
    \begin{aligned}
    \alpha_k &= \alpha \sqrt{1-\beta_2^k} / (1-\beta_1^k) \\
    m_k &= \beta_1 m_{k-1} + (1-\beta_1)\hat g \\
    v_k &= \beta_2 v_{k-1} + (1-\beta_2)\hat g^2 \\
    \theta_k &= \theta_{k-1} - \alpha_k \frac{m_k}{\sqrt{v_k}+\epsilon}
        + \sqrt{\frac{2\alpha_k\,\sigma_w^2}{|D|\,(\sqrt{v_k}+\epsilon)}}\; z
    \end{aligned}
    $$

    The paper prints Algorithm 4 for a loss scaled by $|D|/\sigma_w^2$; the factor
    $\sigma_w^2/|D|$ under the root is the appendix's update rule, in which the
    learning rate has absorbed that scale. A parameter that has never had a gradient has
    $v = 0$, so $\epsilon$ sets the size of its random walk. This keeps unvisited
    states uncertain.

    Where sources differ: Algorithm 4 adds $\epsilon$ to the root of the *raw* second
    moment (Kingma and Ba's "epsilon hat"), while ``optax.adam`` and the authors' code add
    it to the bias-corrected one.

    Args:
        learning_rate: $\alpha$, or a function of the number of updates made so far.
        noise_variance: $\sigma_w^2$, or a function likewise. Python's 0 gives Adam in Algorithm 4's form, bit for bit.
        b1: $\beta_1$, or a function likewise, as are the next two.
        b2: $\beta_2$.
        eps: $\epsilon$.
        bias_correction: take the drift from bias-corrected moments, $\alpha\hat m_k /
            (\sqrt{\hat v_k}+\epsilon)$, as the authors' code does; the noise keeps raw
            $v_k$ and $\alpha_k$ there too.
        debiased_drift: the old name of ``bias_correction``.

    Examples:
        >>> import jax, jax.numpy as jnp, langevin_dqn
        >>> optimizer = langevin_dqn.langevin_adam(1e-3, noise_variance=1e-4)
        >>> params = {"w": jnp.zeros((2, 2))}
        >>> state = optimizer.init(params)
        >>> key, gradient = jax.random.key(0), {"w": jnp.ones((2, 2))}
        >>> updates, state = optimizer.update(gradient, state, key=key, num_data=100)
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
        check_num_data(num_data)
        count = optax.safe_increment(state.count)
        alpha, beta_1, beta_2, epsilon = (_value(x, state.count) for x in (learning_rate, b1, b2, eps))
        correction_1, correction_2 = 1 - beta_1**count, 1 - beta_2**count
        alpha_k = alpha * jnp.sqrt(correction_2) / correction_1
        mu = jax.tree.map(lambda m, g: beta_1 * m + (1 - beta_1) * g, state.mu, updates)
        nu = jax.tree.map(lambda v, g: beta_2 * v + (1 - beta_2) * g * g, state.nu, updates)
        if bias_correction:
            steps = jax.tree.map(
                lambda m, v: -alpha * (m / correction_1) / (jnp.sqrt(v / correction_2) + epsilon), mu, nu
            )
        else:
            steps = jax.tree.map(lambda m, v: -alpha_k * m / (jnp.sqrt(v) + epsilon), mu, nu)
        if not _is_zero(noise_variance):
            check_key(key)
            scale = step_noise_variance(alpha_k, _value(noise_variance, state.count), num_data)
            steps = jax.tree.map(
                lambda s, v, z: s + jnp.sqrt(scale / (jnp.sqrt(v) + epsilon)) * z,
                steps,
                nu,
                prng.normal_like(key, steps),
            )
        return steps, LangevinAdamState(count, mu, nu)

    return optax.GradientTransformationExtraArgs(init, update)


def check_num_data(num_data: Any) -> None:
    """Refuse a |D| below 1, where it is known: not under ``jit``, unless it is a Python number."""
    if isinstance(num_data, jax.core.Tracer):
        return
    known = isinstance(num_data, (int, float, np.ndarray, np.generic, jax.Array))
    if not known or not (np.asarray(num_data) >= 1).all():
        raise UserError(f"num_data={num_data!r} must be at least 1", "pass the size of the data set or replay buffer")


def check_key(key: Any) -> None:
    """Refuse what is no single random key."""
    is_array = isinstance(key, (jax.Array, np.ndarray))
    typed = is_array and jnp.issubdtype(key.dtype, jax.dtypes.prng_key) and key.ndim == 0
    if not typed and not (is_array and key.dtype == jnp.uint32 and key.ndim == 1):
        shown = f"an array of shape {key.shape}" if is_array else repr(key)
        raise UserError(f"key must be one random key, not {shown}", "pass jax.random.key(0), and a new one per update")


def _value(setting: ScalarOrSchedule, count: jax.Array):
    return setting(count) if callable(setting) else setting


def _is_zero(noise_variance) -> bool:
    """True for a Python 0, for which no noise is drawn at all; False for traced values."""
    return isinstance(noise_variance, (int, float)) and noise_variance == 0


def _check(noise_variance) -> None:
    if isinstance(noise_variance, (int, float)) and not noise_variance >= 0:
        raise UserError(
            f"noise_variance={noise_variance} must not be negative", "use 0 for no noise, or a positive number"
        )
