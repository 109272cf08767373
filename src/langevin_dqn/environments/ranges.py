"""Range checks for the settings of environments, made when an environment is made."""

import math

from langevin_dqn.errors import UserError

#: Seeds that ``np.random.RandomState`` takes.
MAX_SEED = 2**32 - 1


def in_range(name: str, value: float, low: float, high: float = math.inf) -> None:
    """Refuse a setting that is outside [low, high] or not finite."""
    if not (low <= value <= high and math.isfinite(value)):
        limits = f"of at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        raise UserError(f"{name}={value:g} is out of range", f"use a value {limits}")


def positive(name: str, value: float) -> None:
    """Refuse a setting that is not a finite number above zero."""
    if not (value > 0 and math.isfinite(value)):
        raise UserError(f"{name}={value:g} is out of range", "use a value above 0")
