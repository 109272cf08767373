"""Several runs in this process, one thread each.

A compiled program holds no lock while it runs, so threads fill the cores, share one
compilation, and need nothing pickled.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from langevin_dqn.training import Result, train


@dataclass(frozen=True)
class Job:
    """One run: the arguments of :func:`langevin_dqn.train`."""

    agent: str
    env: str
    seed: int
    episodes: int | None = None
    preset: str = "paper"
    stop_when_solved: bool = False
    changes: dict[str, Any] = field(default_factory=dict)
    steps: int | None = None
    record: str | None = None

    def run(self, progress: Callable[[Result], None] | None = None) -> Result:
        return train(
            self.agent,
            self.env,
            seed=self.seed,
            episodes=self.episodes,
            steps=self.steps,
            preset=self.preset,
            stop_when_solved=self.stop_when_solved,
            record=self.record,
            progress=progress,
            **self.changes,
        )


def available_cores() -> int:
    """Cores this process may use, which a container or ``taskset`` can limit."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    progress: Callable[[int, Result], None] | None = None,
) -> Iterator[tuple[int, Result]]:
    """Run ``jobs`` side by side and yield ``(index, result)`` as each one ends.

    When the caller stops listening (or is interrupted), runs end at their next chunk of episodes.

    Args:
        jobs: what to run.
        workers: runs at a time; the number of cores by default.
        progress: called with a job's index and its result so far.
    """
    stopping = threading.Event()

    def work(index: int) -> tuple[int, Result]:
        def report(result: Result) -> None:
            if stopping.is_set():
                raise CancelledError
            if progress is not None:
                progress(index, result)

        return index, jobs[index].run(report)

    with ThreadPoolExecutor(workers or available_cores()) as pool:
        futures = [pool.submit(work, i) for i in range(len(jobs))]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            stopping.set()
            for future in futures:
                future.cancel()
