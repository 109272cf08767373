"""What a worker process does: take a job, run it, send back what came of it, again.

It writes no files, so it may be killed at any time. When its parent is gone, so is it.
"""

import multiprocessing
import os
import signal
import threading
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from langevin_dqn import machine
from langevin_dqn.runners.job import Job, attempt

if TYPE_CHECKING:
    from langevin_dqn.results import Result

READY, PROGRESS, OUTCOME = "ready", "progress", "outcome"

#: Seconds between two words about a run.
_PERIOD = 1.0


def serve(connection: "Connection[Any, Any]", talkative: bool) -> None:
    """Say READY; then answer each job with ``(PROGRESS, result)`` now and then, and one ``(OUTCOME, …)``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    machine.prepare()
    connection.send((READY, None))
    while True:
        connection.send((OUTCOME, _attempt(connection, connection.recv(), talkative)))


def _attempt(connection: "Connection[Any, Any]", job: Job, talkative: bool) -> Any:
    said = time.monotonic()

    def report(result: "Result") -> None:
        nonlocal said
        if time.monotonic() - said >= _PERIOD:
            connection.send((PROGRESS, replace(result, lengths=result.lengths[:0], measures={})))
            said = time.monotonic()

    return attempt(job, report if talkative else None)


def _leave_with_parent() -> None:
    """A parent killed outright cannot end its workers; the pipe it held open closes then."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
