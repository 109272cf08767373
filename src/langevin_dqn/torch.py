r"""The Langevin optimizers for PyTorch: ``pip install 'langevin-dqn[torch]'``.

The same updates as :mod:`langevin_dqn.optimizers.langevin`, as subclasses of
``torch.optim.Optimizer``. ``loss`` is the *mean* over a minibatch, plus
:math:`\sigma_w^2\psi(\theta)/|D|` where there is a regulariser, and the size of the data
set goes to ``step``, because a replay buffer grows: ``optimizer.step(num_data=len(buffer))``.

As everywhere in torch, a parameter whose ``grad`` is None stays where it is. One whose
gradient is zero takes noise: poorly constrained weights keep fluctuating.
"""

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

try:
    import torch
except ModuleNotFoundError:
    raise ModuleNotFoundError("torch is not installed\nhint: pip install 'langevin-dqn[torch]'", name="torch") from None

from langevin_dqn.errors import UserError
from langevin_dqn.optimizers.noise_scale import step_noise_variance


class _Langevin(torch.optim.Optimizer):
    """What both share: the loop over parameters, and where the noise comes from."""

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any], generator: torch.Generator | None):
        super().__init__(params, defaults)
        self._generator = generator

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with settings of their own, as in ``torch.optim.Optimizer``."""
        settings = self.defaults | param_group
        if not settings["lr"] >= 0:
            raise UserError(f"lr={settings['lr']} must not be negative", "use a positive number")
        if not settings["noise_variance"] >= 0:
            raise UserError(
                f"noise_variance={settings['noise_variance']} must not be negative",
                "use 0 for no noise, or a positive number",
            )
        super().add_param_group(param_group)

    @torch.no_grad()
    def step(self, closure: Callable[[], torch.Tensor] | None = None, *, num_data: float) -> torch.Tensor | None:
        """One update.

        Args:
            closure: computes the loss and its gradients anew; its loss is returned.
            num_data: :math:`|D|`, the number of data that the mean loss is about.
        """
        if not num_data > 0:
            raise UserError(f"num_data={num_data} must be positive", "pass the size of the data set or buffer")
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if parameter.grad.is_sparse:
                    raise UserError(
                        "sparse gradients are not supported: rows that were not read need noise too", "use sparse=False"
                    )
                parameter.add_(self._move(parameter.grad, self.state[parameter], group, num_data))
        return loss

    def _move(
        self, gradient: torch.Tensor, state: dict[str, Any], group: dict[str, Any], num_data: float
    ) -> torch.Tensor:
        raise NotImplementedError

    def _normal_like(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(tensor).normal_(generator=self._generator)


class LangevinSGD(_Langevin):
    r"""Langevin SGD, eq. (5) of the paper: see :func:`langevin_dqn.langevin_sgd`.

    .. math::
        \Delta\theta_k = -\alpha \hat g_k + \sqrt{\frac{2\alpha\sigma_w^2}{|D|}}\, z_k

    Args:
        params: parameters, or groups of them; ``lr`` and ``noise_variance`` may differ by group.
        lr: :math:`\alpha`.
        noise_variance: :math:`\sigma_w^2`; 0 gives plain SGD.
        generator: where the noise comes from, on the parameters' device; by default torch's own. Its state is not in
            ``state_dict()``.

    Example:
        >>> import torch
        >>> from langevin_dqn.torch import LangevinSGD
        >>> theta = torch.nn.Parameter(torch.zeros(3))
        >>> optimizer = LangevinSGD([theta], lr=0.1, noise_variance=1.0)
        >>> ((theta - 1) ** 2).mean().backward()
        >>> optimizer.step(num_data=100)
    """

    def __init__(
        self, params: Iterable[Any], lr: float, noise_variance: float, *, generator: torch.Generator | None = None
    ):
        super().__init__(params, {"lr": lr, "noise_variance": noise_variance}, generator)

    def _move(self, gradient, state, group, num_data):
        del state
        move = -group["lr"] * gradient
        if group["noise_variance"] > 0:
            std = math.sqrt(step_noise_variance(group["lr"], group["noise_variance"], num_data))
            move.add_(self._normal_like(gradient), alpha=std)
        return move


class LangevinAdam(_Langevin):
    r"""Langevin SGD preconditioned by Adam's moments, alg4: see :func:`langevin_dqn.langevin_adam`.

    .. math::
        \theta_k = \theta_{k-1} - \alpha_k \frac{m_k}{\sqrt{v_k}+\epsilon}
            + \sqrt{\frac{2\alpha_k\,\sigma_w^2}{|D|\,(\sqrt{v_k}+\epsilon)}}\; z,
        \qquad \alpha_k = \alpha \sqrt{1-\beta_2^k} / (1-\beta_1^k)

    ``torch.optim.Adam`` adds :math:`\epsilon` to the root of the bias-corrected moment, alg4 to that of the raw one.

    Args:
        params: parameters, or groups of them; every setting may differ by group.
        lr: :math:`\alpha`.
        noise_variance: :math:`\sigma_w^2`; 0 gives Adam in alg4's form.
        betas: :math:`\beta_1` and :math:`\beta_2`.
        eps: :math:`\epsilon`. It sets how far a parameter without gradient fluctuates.
        bias_correction: take the drift from bias-corrected moments, as the authors' code and ``torch.optim.Adam`` do;
            the noise keeps the raw ones.
        debiased_drift: the old name of ``bias_correction``.
        generator: where the noise comes from, on the parameters' device; by default torch's own. Its state is not in
            ``state_dict()``.

    Example:
        >>> import torch
        >>> from langevin_dqn.torch import LangevinAdam
        >>> network = torch.nn.Linear(4, 2)
        >>> optimizer = LangevinAdam(network.parameters(), lr=1e-3, noise_variance=1e-4)
        >>> network(torch.ones(8, 4)).square().mean().backward()
        >>> optimizer.step(num_data=1_000)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float,
        noise_variance: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        *,
        bias_correction: bool = False,
        debiased_drift: bool | None = None,
        generator: torch.Generator | None = None,
    ):
        if debiased_drift is not None:
            warnings.warn("debiased_drift is now bias_correction", DeprecationWarning, stacklevel=2)
            bias_correction = debiased_drift
        defaults = {
            "lr": lr,
            "noise_variance": noise_variance,
            "betas": betas,
            "eps": eps,
            "bias_correction": bias_correction,
        }
        super().__init__(params, defaults, generator)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # a state_dict from before has the old name
            group.setdefault("bias_correction", group.pop("debiased_drift", False))

    def _move(self, gradient, state, group, num_data):
        (b1, b2), eps, lr = group["betas"], group["eps"], group["lr"]
        if not state:
            state.update(step=0, m=torch.zeros_like(gradient), v=torch.zeros_like(gradient))
        state["step"] += 1
        m, v = state["m"], state["v"]
        m.mul_(b1).add_(gradient, alpha=1 - b1)
        v.mul_(b2).addcmul_(gradient, gradient, value=1 - b2)
        correction_1, correction_2 = 1 - b1 ** state["step"], 1 - b2 ** state["step"]
        alpha_k = lr * math.sqrt(correction_2) / correction_1
        scale = v.sqrt().add_(eps)
        if group["bias_correction"]:
            move = (m / (v / correction_2).sqrt_().add_(eps)).mul_(-lr / correction_1)
        else:
            move = (m / scale).mul_(-alpha_k)
        if group["noise_variance"] > 0:
            variance = step_noise_variance(alpha_k, group["noise_variance"], num_data)
            move.addcmul_(self._normal_like(gradient), (variance / scale).sqrt_())
        return move
