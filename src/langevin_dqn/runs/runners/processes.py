"""Several runs in worker processes, one thread each.

The standard pools give up altogether when a worker is killed. Here each worker has a pipe of
its own: one that closes early names the job that was lost, which a new worker takes over.
"""

import contextlib
import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from typing import Any

from langevin_dqn import stopping
from langevin_dqn.errors import UserError
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import worker
from langevin_dqn.runs.runners.job import Failure, Job, available_cores
from langevin_dqn.stopping import Stopped

_DIED = "died"
#: Seconds between two looks for a signal that asks to stop.
_LOOK_AGAIN = 0.5


class _Worker:
    """A process and the job it has."""

    def __init__(self, reports: bool, index: int, job: Job):
        spawn = multiprocessing.get_context("spawn")  # a forked JAX may hang
        self.connection, theirs = spawn.Pipe()
        self.process = spawn.Process(target=worker.serve, args=(theirs, reports), daemon=True)
        self.process.start()
        theirs.close()  # so that the pipe closes with the process
        self.ready = False
        self.take(index, job)

    def take(self, index: int, job: Job) -> None:
        """Send it a job."""
        self.index = index
        with contextlib.suppress(OSError):  # it has died, which its next message says
            self.connection.send(job)

    def receive(self) -> tuple[str, int, Any]:
        """Its next message: the kind, the job it is about, and a value. Its last one says that it died, and how."""
        try:
            kind, value = self.connection.recv()
        except (EOFError, OSError):
            return _DIED, self.index, self._cause_of_death()
        self.ready = True
        return kind, self.index, value

    def _cause_of_death(self) -> str:
        self.process.join(5)
        code = self.process.exitcode
        if not self.ready and code == 1:
            raise UserError(
                "a worker process cannot start", 'in a script, call run_in_processes under if __name__ == "__main__":'
            )
        if code is not None and code < 0:
            return f"by {signal.Signals(-code).name}" + (
                ", often for lack of memory: use fewer workers" if code == -9 else ""
            )
        return f"with exit code {code}"

    def end(self) -> None:
        """Kill it, which costs nothing: a worker writes no files."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.connection.close()


def run_in_processes(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    progress: Callable[[int, Result], None] | None = None,
    retries: int = 3,
) -> Iterator[tuple[int, Result | Failure]]:
    """Run ``jobs`` in worker processes and yield ``(index, result)`` as each one ends.

    A job that raises, or whose workers keep dying, yields a ``Failure``; the others continue.
    A mistake of the user (``UserError``) is raised. When the caller stops iterating, is
    interrupted or dies, the workers end at once. Where signals are caught (``langevin_dqn.stopping``), all runs
    save and stop first, and ``Stopped`` is raised.

    As with all of ``multiprocessing``, a script has to call this under
    ``if __name__ == "__main__":``.

    Args:
        jobs: what to run.
        workers: processes at a time; the number of cores by default.
        progress: called about once a second with a job's index and its result so far, without
            ``lengths`` and ``measures``.
        retries: how often a job is restarted after its worker died.
    """
    waiting = deque(range(len(jobs)))
    deaths: Counter[int] = Counter()
    active: dict[Any, _Worker] = {}  # by connection
    stops: list[Stopped] = []
    asked = False

    def start() -> None:
        index = waiting.popleft()
        new = _Worker(progress is not None, index, jobs[index])
        active[new.connection] = new

    try:
        for _ in range(min(workers or available_cores(), len(jobs))):
            start()
        while active:
            if stopping.requested() is not None and not asked:
                asked = True
                waiting.clear()
                for current in active.values():
                    current.process.terminate()
            for connection in wait(list(active), _LOOK_AGAIN):
                current = active[connection]
                kind, index, value = current.receive()
                if kind == worker.PROGRESS and progress is not None:
                    progress(index, value)
                elif kind == worker.OUTCOME:
                    if isinstance(value, UserError):
                        raise value
                    if isinstance(value, Stopped):
                        stops.append(value)
                        active.pop(connection).end()
                        continue
                    if waiting:  # first, so that it works while the caller writes
                        following = waiting.popleft()
                        current.take(following, jobs[following])
                    else:
                        active.pop(connection).end()
                    yield index, value
                elif kind == _DIED:
                    active.pop(connection).end()
                    deaths[index] += 1
                    again = deaths[index] <= retries
                    if asked:
                        continue
                    if again:
                        waiting.appendleft(index)
                    if waiting:
                        start()
                    if not again:
                        yield index, Failure(jobs[index], f"attempt {deaths[index]} of {retries + 1} ended {value}")
    finally:
        for left in active.values():
            left.process.kill()
        for left in active.values():
            left.end()
    if (number := stopping.requested()) is not None and asked:
        raise Stopped.together(number, stops)
