"""The Langevin optimizers, for optax; ``langevin_dqn.torch`` has them for PyTorch.

Names load on first use, so that ``langevin_dqn.torch`` does not load JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langevin_dqn.optimizers.langevin import LangevinAdamState, LangevinSgdState, langevin_adam, langevin_sgd
    from langevin_dqn.optimizers.own_key import KeyedState, keyed
    from langevin_dqn.optimizers.schedules import polynomial_decay

_HOME = {
    "KeyedState": "own_key",
    "LangevinAdamState": "langevin",
    "LangevinSgdState": "langevin",
    "keyed": "own_key",
    "langevin_adam": "langevin",
    "langevin_sgd": "langevin",
    "polynomial_decay": "schedules",
}

__all__ = [
    "KeyedState",
    "LangevinAdamState",
    "LangevinSgdState",
    "keyed",
    "langevin_adam",
    "langevin_sgd",
    "polynomial_decay",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
