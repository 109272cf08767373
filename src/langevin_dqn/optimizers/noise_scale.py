"""How much noise a Langevin step takes: written once, for JAX, torch and plain numbers alike."""

from typing import Any


def step_noise_variance(alpha: Any, noise_variance: Any, num_data: Any) -> Any:
    r"""The variance of one step's noise, $2\alpha\sigma_w^2/|D|$ (equation 5).

    A preconditioned step (Algorithm 4) divides it by $\sqrt{v_k}+\epsilon$.

    Args:
        alpha: the step size; $\alpha_k$ in Algorithm 4.
        noise_variance: $\sigma_w^2$.
        num_data: $|D|$.
    """
    return 2 * alpha * noise_variance / num_data
