"""A run as its loop shows it from time to time."""

from typing import Any, NamedTuple

import numpy as np

from langevin_dqn.runs.result import UncertaintyMaps


class Snapshot(NamedTuple):
    """A run so far.

    Attributes:
        state: the agent's; valid until the loop goes on.
        returns: one entry per episode that has ended, as in ``lengths`` and each of ``measures``.
        lengths: see ``returns``.
        measures: see ``returns``.
        steps: environment steps in all.
        finite: false once the agent has diverged.
        check: true where ``stop_when`` is to be asked.
        record: what was recorded, where that was asked for.
    """

    state: Any
    returns: np.ndarray
    lengths: np.ndarray
    measures: dict[str, np.ndarray]
    steps: int
    finite: bool
    check: bool
    record: UncertaintyMaps | None = None
