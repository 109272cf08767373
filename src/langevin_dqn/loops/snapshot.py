"""A run as its loop shows it from time to time."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from langevin_dqn.errors import EnvironmentFault
from langevin_dqn.runs.result import UncertaintyMaps


class Snapshot(NamedTuple):
    """A run so far.

    Attributes:
        state: the agent's; valid until the loop continues.
        returns: one entry per episode that has ended, as in ``lengths`` and each of ``measures``.
        lengths: see ``returns``.
        measures: see ``returns``.
        steps: environment steps in all.
        finite: false once the agent has diverged.
        to_save: returns all that the loop needs to resume, as a tree of arrays; valid until the loop continues.
        check: true where ``stop_when`` is to be asked.
        metrics: true where metrics are due.
        resumed: true for the state that a run is resumed from.
        record: what was recorded, if anything.
        fault: what the environment did wrong, which ends the run, and a hint.
    """

    state: Any
    returns: np.ndarray
    lengths: np.ndarray
    measures: dict[str, np.ndarray]
    steps: int
    finite: bool
    to_save: Callable[[], Any]
    check: bool = False
    metrics: bool = False
    resumed: bool = False
    record: UncertaintyMaps | None = None
    fault: EnvironmentFault | None = None


class Milestones:
    """The first ends of an episode after each multiple of so many steps, which do not depend on the clock.

    Args:
        every: steps between two; None for none.
        done: steps that were done when the last episode ended.
    """

    def __init__(self, every: int | None, done: int = 0):
        self._every = every
        self.next = math.inf if every is None else (done // every + 1) * every

    def reached(self, done: int) -> bool:
        """True if the episode that ended after ``done`` steps is one; the next is then looked for."""
        if self._every is None or done < self.next:
            return False
        self.next = (done // self._every + 1) * self._every
        return True
