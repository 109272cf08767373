r"""The Langevin optimizers for PyTorch: ``pip install 'langevin-dqn[torch]'``.

The same updates as ``langevin_dqn.optimizers.langevin``, as subclasses of
``torch.optim.Optimizer``. ``loss`` is the *mean* over a minibatch, plus
$\sigma_w^2\psi(\theta)/|D|$ where there is a regulariser, and the size of the data
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

    def __init__(
        self,
        params: Iterable[Any],
        defaults: dict[str, Any],
        maximize: bool,
        foreach: bool,
        generator: torch.Generator | None,
    ):
        super().__init__(params, defaults | {"maximize": maximize, "foreach": foreach})
        self._generator = generator

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # a state_dict from before has neither
            group.setdefault("maximize", False)
            group.setdefault("foreach", False)

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
            num_data: $|D|$, the number of data that the mean loss is about.
        """
        if not num_data >= 1:
            raise UserError(f"num_data={num_data} must be at least 1", "pass the size of the data set or replay buffer")
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            gradients = [parameter.grad for parameter in parameters]
            if any(gradient.is_sparse for gradient in gradients):
                raise UserError(
                    "sparse gradients are not supported, because every row receives noise", "use sparse=False"
                )
            if group["maximize"]:
                gradients = [-gradient for gradient in gradients]
            states = [self.state[parameter] for parameter in parameters]
            for own, slopes, kept in _batches(group["foreach"], parameters, gradients, states):
                torch._foreach_add_(own, self._moves(slopes, kept, group, num_data))
        return loss

    def _moves(
        self, gradients: list[torch.Tensor], states: list[dict[str, Any]], group: dict[str, Any], num_data: float
    ) -> list[torch.Tensor]:
        """The step of each parameter."""
        raise NotImplementedError

    def _normal_like(self, tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
        return [torch.empty_like(tensor).normal_(generator=self._generator) for tensor in tensors]


def _batches(
    together: bool, parameters: list[Any], gradients: list[Any], states: list[Any]
) -> list[tuple[list[Any], list[Any], list[Any]]]:
    """All parameters at once, or one after the other, which takes less memory."""
    if together and parameters:
        return [(parameters, gradients, states)]
    return [([one], [slope], [kept]) for one, slope, kept in zip(parameters, gradients, states, strict=True)]


class LangevinSGD(_Langevin):
    r"""Langevin SGD, equation (5) of the paper: see ``langevin_dqn.langevin_sgd``.

    $$
    \Delta\theta_k = -\alpha \hat g_k + \sqrt{\frac{2\alpha\sigma_w^2}{|D|}}\, z_k
    $$

    Args:
        params: parameters, or groups of them; ``lr`` and ``noise_variance`` may differ by group.
        lr: $\alpha$.
        noise_variance: $\sigma_w^2$; 0 gives plain SGD.
        maximize: go up the gradient.
        foreach: update all parameters together, which is faster on an accelerator and takes more memory.
        generator: where the noise comes from, on the parameters' device; by default torch's own. Its state is not in
            ``state_dict()``.

    Examples:
        >>> import torch
        >>> from langevin_dqn.torch import LangevinSGD
        >>> theta = torch.nn.Parameter(torch.zeros(3))
        >>> optimizer = LangevinSGD([theta], lr=0.1, noise_variance=1.0)
        >>> ((theta - 1) ** 2).mean().backward()
        >>> optimizer.step(num_data=100)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float,
        noise_variance: float,
        *,
        maximize: bool = False,
        foreach: bool = False,
        generator: torch.Generator | None = None,
    ):
        super().__init__(params, {"lr": lr, "noise_variance": noise_variance}, maximize, foreach, generator)

    def _moves(self, gradients, states, group, num_data):
        del states
        moves = torch._foreach_mul(gradients, -group["lr"])
        if group["noise_variance"] > 0:
            std = math.sqrt(step_noise_variance(group["lr"], group["noise_variance"], num_data))
            torch._foreach_add_(moves, self._normal_like(gradients), alpha=std)
        return moves


class LangevinAdam(_Langevin):
    r"""Langevin SGD preconditioned by Adam's moments, Algorithm 4: see ``langevin_dqn.langevin_adam``.

    $$
    \theta_k = \theta_{k-1} - \alpha_k \frac{m_k}{\sqrt{v_k}+\epsilon}
        + \sqrt{\frac{2\alpha_k\,\sigma_w^2}{|D|\,(\sqrt{v_k}+\epsilon)}}\; z,
    \qquad \alpha_k = \alpha \sqrt{1-\beta_2^k} / (1-\beta_1^k)
    $$

    ``torch.optim.Adam`` adds $\epsilon$ to the root of the bias-corrected moment, Algorithm 4 to that of the raw one.

    Args:
        params: parameters, or groups of them; every setting may differ by group.
        lr: $\alpha$.
        noise_variance: $\sigma_w^2$; 0 gives Adam in Algorithm 4's form.
        betas: $\beta_1$ and $\beta_2$.
        eps: $\epsilon$. It sets how far a parameter without gradient fluctuates.
        bias_correction: take the drift from bias-corrected moments, as the authors' code and ``torch.optim.Adam`` do;
            the noise keeps the raw ones.
        debiased_drift: the old name of ``bias_correction``.
        maximize: go up the gradient.
        foreach: update all parameters together, which is faster on an accelerator and takes more memory.
        generator: where the noise comes from, on the parameters' device; by default torch's own. Its state is not in
            ``state_dict()``.

    Examples:
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
        maximize: bool = False,
        foreach: bool = False,
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
        super().__init__(params, defaults, maximize, foreach, generator)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # a state_dict from before has the old name
            group.setdefault("bias_correction", group.pop("debiased_drift", False))

    def _moves(self, gradients, states, group, num_data):
        (b1, b2), eps, lr = group["betas"], group["eps"], group["lr"]
        for gradient, state in zip(gradients, states, strict=True):
            if not state:
                state.update(step=0, m=torch.zeros_like(gradient), v=torch.zeros_like(gradient))
            state["step"] += 1
        m, v = [state["m"] for state in states], [state["v"] for state in states]
        torch._foreach_mul_(m, b1)
        torch._foreach_add_(m, gradients, alpha=1 - b1)
        torch._foreach_mul_(v, b2)
        torch._foreach_addcmul_(v, gradients, gradients, value=1 - b2)
        corrections_1 = [1 - b1 ** state["step"] for state in states]
        corrections_2 = [1 - b2 ** state["step"] for state in states]
        alphas = [lr * math.sqrt(two) / one for one, two in zip(corrections_1, corrections_2, strict=True)]
        scales = torch._foreach_sqrt(v)
        torch._foreach_add_(scales, eps)
        if group["bias_correction"]:
            roots = torch._foreach_div(v, corrections_2)
            torch._foreach_sqrt_(roots)
            torch._foreach_add_(roots, eps)
            moves = torch._foreach_div(m, roots)
            torch._foreach_mul_(moves, [-lr / one for one in corrections_1])
        else:
            moves = torch._foreach_div(m, scales)
            torch._foreach_mul_(moves, [-alpha for alpha in alphas])
        if group["noise_variance"] > 0:
            variances = [step_noise_variance(alpha, group["noise_variance"], num_data) for alpha in alphas]
            for scale, variance in zip(scales, variances, strict=True):
                scale.reciprocal_().mul_(variance).sqrt_()
            torch._foreach_addcmul_(moves, self._normal_like(gradients), scales)
        return moves
