"""What worker processes and Ray's tasks do: run a job and send back its outcome.

They write no files but the checkpoints and logs of their own run, so they may be killed at any time. Importing this
starts no JAX, because the settings of JAX must be made before it starts.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from langevin_dqn import machine, stopping
from langevin_dqn.errors import UserError
from langevin_dqn.runs.runners.job import Job, attempt

if TYPE_CHECKING:
    from langevin_dqn.runs.result import Result

READY, PROGRESS, OUTCOME = "ready", "progress", "outcome"

#: Seconds between two messages about a run.
_PERIOD = 1.0


def serve(connection: "Connection[Any, Any]", reports: bool) -> None:
    """Say READY; then answer each job with ``(PROGRESS, result)`` now and then, and one ``(OUTCOME, …)``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    signal.signal(signal.SIGTERM, lambda number, frame: stopping.request(number))  # by which it asks to save and stop
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    machine.prepare()
    with contextlib.suppress(OSError, EOFError):  # the parent has closed the pipe
        connection.send((READY, None))
        while True:
            connection.send((OUTCOME, _attempt(connection, connection.recv(), reports)))


def _attempt(connection: "Connection[Any, Any]", job: Job, reports: bool) -> Any:
    sent = time.monotonic()

    def report(result: "Result") -> None:
        nonlocal sent
        if time.monotonic() - sent >= _PERIOD:
            connection.send((PROGRESS, replace(result, lengths=result.lengths[:0], measures={})))
            sent = time.monotonic()

    try:
        return attempt(job, report if reports else None)
    except stopping.Stopped as stopped:
        return stopped


def _leave_with_parent() -> None:
    """A parent killed outright cannot end its workers; the pipe it held open closes then."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def task(job: Job, version: int) -> Any:
    """Run a job that came from another machine, where the algorithm had this version."""
    machine.prepare()
    from langevin_dqn.version import ALGORITHM_VERSION

    if version != ALGORITHM_VERSION:
        return UserError(
            f"a node runs version {ALGORITHM_VERSION} of the algorithm, its caller runs version {version}",
            "install the same version of langevin-dqn on every node",
        )
    return attempt(job)
