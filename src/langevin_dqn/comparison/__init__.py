"""Comparisons: agents on environments over seeds, as one table of runs, with intervals.

The names below load on first use, so that reading what a user wrote stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langevin_dqn.comparison.running import sweep
    from langevin_dqn.comparison.summary import summarise

_HOME = {"summarise": "summary", "sweep": "running"}

__all__ = ["summarise", "sweep"]


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
