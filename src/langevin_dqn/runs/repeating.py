"""Whether a repeated run came out as it was stored.

On the same kind of processor, with the same JAX, a run is the same byte for byte. Elsewhere a sum may be rounded
differently in its last digit, every update adds to the difference, and the run takes another course as soon as two
actions have nearly equal values. So the episodes before its first few hundred updates still agree, and later ones need
not.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from langevin_dqn import machine
from langevin_dqn.runs.result import Result

Outcome = Literal["the same", "differs in rounding", "different"]

#: What decides how a program rounds; runs of version 0.1 know their JAX only.
_ROUNDING = ("processor", "jax", "jaxlib")
#: Updates before which episodes agree wherever a run is repeated, how many episodes at most, and how nearly.
UPDATES, EPISODES, TOLERANCE = 250, 10, 1e-3


def compare(kept: Result, again: Result, row: Mapping[str, Any]) -> Outcome:
    """A stored run and its repetition on this machine.

    Args:
        kept: the stored one.
        again: the repetition.
        row: the stored run's row, which says what it was made with.
    """
    pairs = [(kept.returns, again.returns), (kept.lengths, again.lengths)]
    if all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs):
        return "the same"
    here = machine.describe()
    if all(row.get(name) == here[name] for name in _ROUNDING):
        return "different"
    count = comparable_episodes(kept)
    first = [(a[:count], b[:count]) for a, b in pairs]
    agree = all(len(a) == len(b) and np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE) for a, b in first)
    return "differs in rounding" if agree else "different"


def comparable_episodes(kept: Result) -> int:
    """The episodes whose actions follow from at most ``UPDATES`` updates: at most ``EPISODES``, and perhaps none."""
    steps = np.cumsum(kept.lengths)
    if kept.setting("update_timing", "between") == "between":
        steps = steps - kept.lengths  # an episode acts on what was learned before it
    return min(int((kept.setting("updates_per_step", 1) * steps <= UPDATES).sum()), EPISODES)


def made_with(row: Mapping[str, Any]) -> str:
    """What decides how a run's programs rounded, in words."""
    return (
        f"{row.get('processor') or 'an unknown processor'}, JAX {row['jax']}, jaxlib {row.get('jaxlib') or 'unknown'}"
    )
