"""How much noise a Langevin step takes: written once, for JAX, torch and plain numbers alike."""

from typing import Any


def step_noise_variance(alpha: Any, noise_variance: Any, num_data: Any) -> Any:
    r"""The variance of one step's noise, :math:`2\alpha\sigma_w^2/|D|` (eq. 5).

    A preconditioned step (alg4) divides it by :math:`\sqrt{v_k}+\epsilon`.

    Args:
        alpha: the step size; :math:`\alpha_k` in alg4.
        noise_variance: :math:`\sigma_w^2`.
        num_data: :math:`|D|`.
    """
    return 2 * alpha * noise_variance / num_data
