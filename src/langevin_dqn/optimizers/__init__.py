"""The Langevin optimizers, for optax; :mod:`langevin_dqn.torch` has them for PyTorch.

Names load on first use, so that :mod:`langevin_dqn.torch` does not load JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langevin_dqn.optimizers.langevin import LangevinAdamState, LangevinSgdState, langevin_adam, langevin_sgd
    from langevin_dqn.optimizers.schedules import polynomial_decay

_HOME = {
    "LangevinAdamState": "langevin",
    "LangevinSgdState": "langevin",
    "langevin_adam": "langevin",
    "langevin_sgd": "langevin",
    "polynomial_decay": "schedules",
}

__all__ = ["LangevinAdamState", "LangevinSgdState", "langevin_adam", "langevin_sgd", "polynomial_decay"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
