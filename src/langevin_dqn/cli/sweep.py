"""Run what a store lacks, store it, and show progress."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from langevin_dqn.cli.progress import state_of
from langevin_dqn.cli.run import check_workers
from langevin_dqn.errors import UserError
from langevin_dqn.report.durations import format_duration
from langevin_dqn.runs import progress_file
from langevin_dqn.runs.progress_file import Progress, Running
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Failure, Job
from langevin_dqn.runs.store import Store, key_of

#: Takes jobs and yields what each gave; see ``langevin_dqn.runs.runners``.
Runner = Callable[..., Iterator[tuple[int, Result | Failure]]]

#: Lines of runs under way, and of runs that ended last, on the board.
_ROWS = 8


def runner_of(where: str, ray: str | None, workers: int | None) -> Runner:
    """The runner that ``--runner`` and ``--ray`` name."""
    from langevin_dqn.runs import runners

    check_workers(workers)
    if ray is not None:
        return lambda jobs, progress: runners.run_on_ray(jobs, workers=workers, progress=progress, address=ray)
    choices: dict[str, Runner] = {"threads": runners.run_jobs, "processes": runners.run_in_processes}
    if where not in choices:
        raise UserError(f"unknown runner {where!r}", f"choose one of {', '.join(choices)}, or --ray ADDRESS")
    return lambda jobs, progress: choices[where](jobs, workers=workers, progress=progress)


def run_missing(
    what: str,
    store: Store,
    missing: Sequence[Job],
    seconds: dict[str, float],
    run: Runner,
    *,
    stream: TextIO | None = None,
) -> list[Failure]:
    """Run ``missing`` and store each result as it comes; what failed is returned. ``stream`` is stderr by default."""
    failures = []
    with Board(what, missing, seconds, store, stream or sys.stderr) as board:
        for index, outcome in run(missing, board.update):
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                store.put(missing[index], outcome)
            board.finish(index, outcome)
    return failures


class Board:
    """Progress of a sweep: runs done, running and failed, the time left, and learning times.

    On a terminal it is updated in place; elsewhere there is one line per run that ends. The same is written to
    the store, for ``langevin-dqn status``.
    """

    def __init__(self, what: str, jobs: Sequence[Job], seconds: dict[str, float], store: Store, stream: TextIO):
        self._what, self._jobs, self._store = what, jobs, store
        self._seconds = [seconds[key_of(job)] for job in jobs]
        self._running: dict[int, Result | None] = {}
        self._ended: dict[int, Result | Failure] = {}
        self._started = self._written = time.monotonic()
        self._lock = threading.Lock()
        self._console = Console(file=stream, highlight=False)
        self._live = (
            Live(console=self._console, auto_refresh=False, transient=True) if self._console.is_terminal else None
        )

    def __enter__(self) -> "Board":
        if self._live:
            self._live.start()
        self._write(force=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()
        self._write(force=True, ended=True)

    def update(self, index: int, result: Result) -> None:
        """Take a run's result so far."""
        with self._lock:
            if index not in self._ended:
                self._running[index] = result
            self._show()

    def finish(self, index: int, outcome: Result | Failure) -> None:
        """Take what a run gave."""
        with self._lock:
            self._running.pop(index, None)
            self._ended[index] = outcome
            if not self._live:
                self._console.print(
                    f"[{len(self._ended)}/{len(self._jobs)}] {_summary(outcome)}", soft_wrap=True, markup=False
                )
            self._show()

    def progress(self, *, ended: bool = False) -> Progress:
        """The sweep as it is now."""
        running = [
            Running(str(self._jobs[i]), result.episodes if result else 0, self._jobs[i].episodes)
            for i, result in self._running.items()
        ]
        failed = sum(isinstance(outcome, Failure) for outcome in self._ended.values())
        elapsed = time.monotonic() - self._started
        return Progress(
            self._what,
            total=len(self._jobs),
            done=len(self._ended) - failed,
            failed=failed,
            seconds=elapsed,
            seconds_left=self._left(elapsed),
            running=tuple(running),
            ended=ended,
        )

    def _left(self, elapsed: float) -> float | None:
        """Estimated seconds left: runs end sooner than planned, by the ratio seen in those that have ended."""
        if not self._ended:
            return None
        spent = sum(self._seconds[i] for i in self._ended)
        for i, result in self._running.items():
            budget = self._jobs[i].episodes
            spent += self._seconds[i] * (result.episodes / budget if result and budget else 0.0)
        return (sum(self._seconds) - spent) * elapsed / max(spent, 1e-9)

    def _show(self) -> None:
        self._write()
        if self._live:
            self._live.update(self._picture(), refresh=True)

    def _write(self, *, force: bool = False, ended: bool = False) -> None:
        now = time.monotonic()
        if force or now - self._written > 2:
            progress_file.write(self._store.folder, self.progress(ended=ended))
            self._written = now

    def _picture(self) -> Group:
        now = self.progress()
        table = Table.grid(padding=(0, 2))
        for i, result in list(self._running.items())[:_ROWS]:
            job = self._jobs[i]
            table.add_row("running", name_of(job), f"{result.episodes if result else 0:,} of {job.episodes:,} episodes")
        for i, outcome in list(self._ended.items())[-_ROWS:]:
            table.add_row("ended", name_of(self._jobs[i]), _ended(outcome))
        return Group(headline(now), ProgressBar(now.total, now.done + now.failed, width=60), table)


def headline(now: Progress) -> str:
    """A sweep in a line."""
    failed = f", {now.failed} failed" if now.failed else ""
    left = "" if now.seconds_left is None else f", about {format_duration(now.seconds_left)} left"
    return f"{now.what}: {now.done} of {now.total} runs done{failed}, {format_duration(now.seconds)} so far{left}"


def name_of(job: Job) -> str:
    """A run in a few words."""
    return _name(job.agent, job.changes.get("members"), job.env, job.changes.get("updates_per_step", 1), job.seed)


def _name(agent: str, members: int | None, env: str, updates: int | None, seed: int) -> str:
    agent = agent if members is None else f"{agent}({members})"
    return " ".join([agent, env, *([] if updates is None else [f"U={updates}"]), f"seed {seed}"])


def _summary(outcome: Result | Failure) -> str:
    """A run that has ended, in a line."""
    if isinstance(outcome, Failure):
        return f"{name_of(outcome.job)}: {_ended(outcome)}"
    members, updates = (outcome.setting(name) for name in ("members", "updates_per_step"))
    name = _name(outcome.agent, members, outcome.env, updates, outcome.seed)
    return f"{name}: {_ended(outcome)}, {outcome.seconds:.1f} s"


def _ended(outcome: Result | Failure) -> str:
    return f"failed: {outcome.reason}" if isinstance(outcome, Failure) else state_of(outcome)
