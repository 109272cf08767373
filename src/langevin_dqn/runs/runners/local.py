"""Several runs in this process, one thread each.

A compiled program holds no lock while it runs, so threads fill the cores, share one
compilation, and need nothing pickled.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from typing import Any

from langevin_dqn import stopping
from langevin_dqn.errors import EnvironmentFault
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners.job import Failure, Job, available_cores
from langevin_dqn.stopping import Stopped


def run_jobs(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    progress: Callable[[int, Result], None] | None = None,
    faults: bool = False,
) -> Iterator[tuple[int, Any]]:
    """Run ``jobs`` side by side and yield ``(index, result)`` as each one ends.

    When the caller stops iterating (or is interrupted), runs end at their next chunk of episodes.
    What a job raises is raised here, and ends the others too. Where signals are caught
    (``langevin_dqn.stopping``), all runs save and stop first, and ``Stopped`` is raised.

    Args:
        jobs: what to run.
        workers: runs at a time; the number of cores by default.
        progress: called with a job's index and its result so far.
        faults: yield a ``Failure`` for a job that its environment has ended, and continue with the others.
    """
    ending = threading.Event()
    stops: list[Stopped] = []

    def work(index: int) -> tuple[int, Result | Failure]:
        def report(result: Result) -> None:
            if ending.is_set() and stopping.requested() is None:  # after a request a run saves itself first
                raise CancelledError
            if progress is not None:
                progress(index, result)

        if (number := stopping.requested()) is not None:
            raise Stopped(number)
        try:
            return index, jobs[index].run(report)
        except EnvironmentFault as fault:
            if not faults:
                raise
            return index, Failure.of_environment(jobs[index], fault)

    with ThreadPoolExecutor(workers or available_cores()) as pool:
        futures = [pool.submit(work, i) for i in range(len(jobs))]
        try:
            for future in as_completed(futures):
                try:
                    done = future.result()
                except Stopped as stopped:
                    stops.append(stopped)
                else:
                    yield done
        finally:
            ending.set()
            for future in futures:
                future.cancel()
    if stops:
        raise Stopped.together(stops[0].number, stops)
