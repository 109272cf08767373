"""Saves a run at intervals, and before it stops."""

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from langevin_dqn import stopping
from langevin_dqn.loops.snapshot import Snapshot
from langevin_dqn.runs.checkpoint import Checkpoints

#: Writing takes at most this share of the time, however short the time between two checkpoints.
_MOST_SHARE = 0.05


class Saver:
    """Called with each snapshot of a run: saves it if a checkpoint is due, and stops the run if a signal requests it.

    Args:
        where: the run's checkpoints; None if it is not to be saved.
    """

    def __init__(self, where: Checkpoints | None):
        self._where = where
        self._every = None if where is None else where.every
        self._due = time.monotonic() + (self._every or 0)
        self._warned = False

    def after(self, now: Snapshot, about: Callable[[], Mapping[str, Any]]) -> None:
        """Take a snapshot to which all else has been done; ``about`` gives the line of JSON about the run."""
        number = stopping.requested()
        if number is not None:
            raise self._stopped(number, now, about())
        if self._every is not None and time.monotonic() >= self._due:
            began = time.monotonic()
            self._save_or_warn(now, about())
            ended = time.monotonic()
            self._due = ended + max(self._every, (ended - began) / _MOST_SHARE)

    def end(self, now: Snapshot, about: Mapping[str, Any]) -> None:
        """Take the last snapshot."""
        if self._where is not None and self._where.at_end:
            self._save_or_warn(now, about)

    def _save(self, now: Snapshot, about: Mapping[str, Any]) -> None:
        assert self._where is not None
        self._where.save(about, now.to_save(), now.steps)

    def _save_or_warn(self, now: Snapshot, about: Mapping[str, Any]) -> None:
        """Save, or warn and continue training if that fails, for example because the disk is full."""
        try:
            self._save(now, about)
        except OSError as error:
            if not self._warned:
                self._warned = True
                reason = error.strerror or error
                warnings.warn(f"cannot save the run: {reason}; training continues", RuntimeWarning, stacklevel=2)

    def _stopped(self, number: int, now: Snapshot, about: Mapping[str, Any]) -> stopping.Stopped:
        if self._where is None:
            return stopping.Stopped(number)
        try:
            self._save(now, about)
        except OSError as error:
            reason = f"cannot write to {self._where.folder}: {error.strerror or error}"
            return stopping.Stopped(number, failed=(reason,))
        return stopping.Stopped(number, (str(self._where.folder),))
