"""What a training loop shows while it runs, until it moves to the loops. Results are in ``runs/result.py``."""

from typing import NamedTuple

import numpy as np

from langevin_dqn.agent import AgentState
from langevin_dqn.runs.result import Result as Result
from langevin_dqn.runs.result import SpreadMaps as SpreadMaps
from langevin_dqn.runs.result import UncertaintyMaps as UncertaintyMaps


class Snapshot(NamedTuple):
    """A run as its loop shows it now and then.

    Attributes:
        state: the agent's; valid until the loop goes on.
        returns: one entry per episode that has ended, as in ``lengths`` and each of ``measures``.
        lengths: see ``returns``.
        measures: see ``returns``.
        steps: environment steps in all.
        finite: false once parameters are not.
        check: true where ``stop_when`` is to be asked.
        record: what was recorded, where that was asked for.
    """

    state: AgentState
    returns: np.ndarray
    lengths: np.ndarray
    measures: dict[str, np.ndarray]
    steps: int
    finite: bool
    check: bool
    record: UncertaintyMaps | None = None
