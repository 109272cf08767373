"""Range checks for the settings of environments, made when an environment is made."""

import math

from langevin_dqn.errors import MOST_FLOAT, UserError

#: Seeds that ``np.random.RandomState`` takes.
MAX_SEED = 2**32 - 1


def in_range(name: str, value: float, low: float, high: float = math.inf) -> None:
    """Refuse a setting that is outside [low, high], too large for any program, or not finite."""
    if not (low <= value <= min(high, MOST_FLOAT)):
        limits = f"of at least {low:g}" if high == math.inf and value < low else f"from {low:g} to {_most(high)}"
        raise UserError(f"{name}={value:g} is out of range", f"use a value {limits}")


def positive(name: str, value: float) -> None:
    """Refuse a setting that is not a finite number above zero, or too large for any program."""
    if not 0 < value <= MOST_FLOAT:
        limits = f"of at most {MOST_FLOAT:g}" if value > 0 else "above 0"
        raise UserError(f"{name}={value:g} is out of range", f"use a value {limits}")


def _most(high: float) -> str:
    return f"{min(high, MOST_FLOAT):g}"
