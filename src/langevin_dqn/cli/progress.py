"""A live line on stderr while seeds run."""

import contextlib
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from langevin_dqn.cli import terminal
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job


class Board:
    """Episodes (or steps) per second and how well it goes, over all jobs.

    That is the share of seeds that learned and the mean regret per episode, or where no best return
    is known the mean return of the last episodes. On a terminal it is one moving line;
    elsewhere, one line per finished run, and one from time to time.
    """

    def __init__(self, jobs: Sequence[Job], stream: TextIO):
        self._jobs = jobs
        self._console = terminal.console(file=stream)
        self._latest: dict[int, Result] = {}
        self._finished: set[int] = set()
        self._lock = threading.Lock()
        self._lines = Lines()
        self._unit = "episodes" if jobs[0].steps is None else "steps"
        self._progress = Progress(  # 80 columns have room for all of it
            BarColumn(bar_width=18),
            TextColumn(f"{{task.completed:,.0f}}/{{task.total:,.0f}} {self._unit}"),
            TextColumn("{task.fields[words]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
            redirect_stdout=False,  # stdout may be a file or a pipe, and is for results
        )
        total = sum(getattr(job, self._unit) for job in jobs)
        self._task = self._progress.add_task("", total=total, words="compiling")

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
            done = sum(getattr(r, self._unit) for r in latest)
            elapsed = self._progress.tasks[0].elapsed or 1e-9
            rates = [f"{done / elapsed:.0f}/s"] if done >= elapsed else []
            known = [r for r in latest if r.learned_regret is not None]
            if known:
                rates.append(f"{sum(r.solved for r in known)} of {len(self._jobs)} learned")
            regrets = [r.regret / r.episodes for r in known if r.regret is not None]
            if regrets:
                rates.append(f"regret {sum(regrets) / len(regrets):.2f}")
            recent = [r.recent_return for r in latest if r.learned_regret is None and r.recent_return is not None]
            if recent:
                rates.append(f"return {sum(recent) / len(recent):.4g}")
            words = " · ".join(rates)
            skipped = sum(
                getattr(self._jobs[i], self._unit) - getattr(self._latest[i], self._unit) for i in self._finished
            )
            self._progress.update(self._task, completed=done + skipped, words=words)
            if not self._console.is_terminal and self._lines.due():
                task = self._progress.tasks[0]
                self._say(", ".join([f"{done + skipped:,} of {task.total:,.0f} {self._unit}", *filter(None, [words])]))

    def finish(self, index: int, result: Result) -> None:
        """Take a job's final result."""
        self._finished.add(index)
        self.update(index, result)
        if not self._console.is_terminal:
            words = f"{state_of(result)}, {result.episodes} episodes, {result.seconds:.1f} s"
            self._say(f"{result.agent} seed {result.seed}: {words}")

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Take the moving line away while something is printed to stdout on the same terminal."""
        shared = self._console.is_terminal and sys.stdout.isatty()
        if shared:
            self._progress.live.transient = True
            self._progress.stop()
        yield
        if shared:
            self._progress.live.transient = False
            self._progress.start()

    def _say(self, words: str) -> None:
        self._console.print(words, soft_wrap=True, highlight=False, markup=False)


class Lines:
    """When a line of progress is due in a file or a pipe: after 10 seconds, then ever more rarely, up to a minute."""

    def __init__(self) -> None:
        self._every = 10.0
        self._last = time.monotonic()

    def due(self) -> bool:
        """True if it is time for a line, which then counts as written."""
        now = time.monotonic()
        if now - self._last < self._every:
            return False
        self._last, self._every = now, min(2 * self._every, 60.0)
        return True


def state_of(result: Result) -> str:
    """How a run ended."""
    if result.diverged:
        return f"diverged ({result.diverged})"
    if not result.episodes:
        return f"no episode ended within {result.steps:,} steps"
    if result.learned_regret is None:
        return f"return {result.recent_return:.4g}"
    return f"learned at episode {result.learning_time}" if result.solved else "not learned"
