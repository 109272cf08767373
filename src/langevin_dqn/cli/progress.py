"""A live line on stderr while seeds run."""

import threading
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from langevin_dqn.runners import Job
from langevin_dqn.training import Result


class Board:
    """Episodes per second, mean regret per episode and share of seeds solved, over all jobs.

    Over several environments, where regrets do not compare, it tells the runs that are done
    instead. On a terminal it is one moving line; elsewhere, one line per finished run.
    """

    def __init__(self, jobs: Sequence[Job], stream: TextIO):
        self._jobs = jobs
        self._console = Console(file=stream)
        self._latest: dict[int, Result] = {}
        self._finished: set[int] = set()
        self._lock = threading.Lock()
        self._one_env = len({job.env for job in jobs}) == 1
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f} episodes"),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        names = ", ".join(dict.fromkeys(job.agent for job in jobs))
        total = sum(job.episodes for job in jobs)
        self._task = self._progress.add_task(names, total=total, words="compiling")

    def __enter__(self) -> "Board":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, index: int, result: Result) -> None:
        """Take a job's result so far."""
        with self._lock:
            self._latest[index] = result
            latest = list(self._latest.values())
            episodes = sum(r.episodes for r in latest)
            elapsed = self._progress.tasks[0].elapsed or 1e-9
            words = f"{episodes / elapsed:.0f}/s · "
            regrets = [r.regret / r.episodes for r in latest if r.regret is not None]
            if self._one_env:
                words += f"{sum(r.solved for r in latest)} of {len(self._jobs)} solved"
            else:
                words += f"{len(self._finished)} of {len(self._jobs)} runs"
            if regrets and self._one_env:
                words += f" · regret {sum(regrets) / len(regrets):.2f} per episode"
            skipped = sum(self._jobs[i].episodes - self._latest[i].episodes for i in self._finished)
            self._progress.update(self._task, completed=episodes + skipped, words=words)

    def finish(self, index: int, result: Result) -> None:
        """Take a job's final result."""
        self._finished.add(index)
        self.update(index, result)
        if not self._console.is_terminal:
            name = f"{result.agent} seed {result.seed}" if self._one_env else f"{result.agent} {result.env}"
            state = f"{_state(result)}, " if self._one_env or result.diverged else ""
            self._console.print(
                f"{name}: {state}{result.episodes} episodes, {result.seconds:.1f} s",
                soft_wrap=True,
                highlight=False,
            )


def _state(result: Result) -> str:
    if result.diverged:
        return f"diverged ({result.diverged})"
    return f"learned at episode {result.learning_time}" if result.solved else "not learned"
