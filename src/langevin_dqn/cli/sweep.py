"""Run what a store lacks, store it, and show progress."""

import contextlib
import shutil
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from langevin_dqn.cli import terminal
from langevin_dqn.cli.progress import Lines, state_of
from langevin_dqn.cli.stops import saved_first
from langevin_dqn.comparison.contenders import shown
from langevin_dqn.errors import counted
from langevin_dqn.report.durations import format_duration
from langevin_dqn.runs import progress_file
from langevin_dqn.runs.progress_file import Progress, Running
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Failure, Job, Outputs
from langevin_dqn.runs.runners.choosing import Runner, runner_of
from langevin_dqn.runs.store import Store, key_of

__all__ = ["Board", "Runner", "headline", "name_of", "run_missing", "runner_of"]

#: Seconds between two checkpoints of a run.
_CHECKPOINT_SECONDS = 600.0

#: Lines of runs under way, and of runs that ended last, on the board.
_ROWS = 8
#: Runs that have to end before the time left is estimated, unless these are more than one in twenty.
_FIRST_ESTIMATE = 10


def run_missing(
    what: str,
    store: Store,
    missing: Sequence[Job],
    seconds: dict[str, float],
    run: Runner,
    *,
    ray: bool = False,
    stream: TextIO | None = None,
) -> list[Failure]:
    """Run ``missing`` and store each result as it comes; what failed is returned. ``stream`` is stderr by default.

    Runs are saved in the store when a signal stops them, and every ten minutes; repeating the command resumes them.
    On Ray (``ray``) they have no checkpoints, and start again.
    """
    failures = []
    stream = stream or sys.stderr
    saved = [store.folder / "checkpoints" / key_of(job) for job in missing]
    jobs = [replace(job, outputs=_outputs(folder)) for job, folder in zip(missing, saved, strict=True)]
    if begun := 0 if ray else sum(folder.is_dir() for folder in saved):
        print(f"resuming {counted(begun, 'run')} from a checkpoint", file=stream, flush=True)
    with saved_first() as stop, Board(what, missing, seconds, store, stream) as board:
        for index, outcome in run(jobs, board.update):
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                store.put(missing[index], outcome)
                shutil.rmtree(saved[index], ignore_errors=True)
            board.finish(index, outcome)
    if stop.stopped is not None:
        for reason in stop.stopped.failed:
            print(f"a run could not be saved: {reason}", file=stream)
        saved_runs = counted(len(stop.stopped.saved), "unfinished run")
        print(f"stopped; saved {saved_runs} in {store.folder}; finished runs are stored", file=stream)
        print("hint: repeat the command to continue", file=stream, flush=True)
        raise stop.stopped
    with contextlib.suppress(OSError):  # there, and empty
        (store.folder / "checkpoints").rmdir()
    return failures


def _outputs(folder: Path) -> Outputs:
    every = _CHECKPOINT_SECONDS
    return Outputs(checkpoint=str(folder), checkpoint_every=every, checkpoint_at_end=False, replaceable=True)


class Board:
    """Progress of a sweep: runs done, running and failed, the time left, and learning times.

    On a terminal it is updated in place; elsewhere there is one line per run that ends, and one from time to time.
    The same is written to the store, for ``langevin-dqn status``.
    """

    def __init__(self, what: str, jobs: Sequence[Job], seconds: dict[str, float], store: Store, stream: TextIO):
        self._what, self._jobs, self._store = what, jobs, store
        self._seconds = [seconds[key_of(job)] for job in jobs]
        self._running: dict[int, Result | None] = {}
        self._ended: set[int] = set()
        self._failed, self._spent, self._all_seconds = 0, 0.0, sum(self._seconds)
        self._last: deque[tuple[int, str]] = deque(maxlen=_ROWS)  # results are stored: none is kept here
        self._started = self._written = time.monotonic()
        self._lock = threading.Lock()
        self._lines = Lines()
        self._console = terminal.console(file=stream)
        self._live = (
            Live(console=self._console, auto_refresh=False, transient=True) if self._console.is_terminal else None
        )
        self._before: Progress | None = None

    def __enter__(self) -> "Board":
        self._before = progress_file.read(self._store.folder)
        if self._live:
            self._live.start()
        self._write(force=True)
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if self._live:
            self._live.stop()
        if error is not None and not self._running and not self._ended:  # refused: there was no sweep
            progress_file.restore(self._store.folder, self._before)
        else:
            self._write(force=True, ended=True)

    def update(self, index: int, result: Result) -> None:
        """Take a run's result so far."""
        with self._lock:
            if index not in self._ended:
                self._running[index] = result
            if not self._live and self._lines.due():
                self._console.print(_in_words(self.progress()), soft_wrap=True, markup=False)
            self._show()

    def finish(self, index: int, outcome: Result | Failure) -> None:
        """Take what a run gave."""
        with self._lock:
            self._running.pop(index, None)
            self._ended.add(index)
            self._failed += isinstance(outcome, Failure)
            self._spent += self._seconds[index]
            self._last.append((index, _ended(outcome)))
            if not self._live:
                words = f"{name_of(self._jobs[index])}: {_ended(outcome)}"
                took = f", {outcome.seconds:.1f} s" if isinstance(outcome, Result) else ""
                self._console.print(
                    f"[{len(self._ended)}/{len(self._jobs)}] {words}{took}", soft_wrap=True, markup=False
                )
            self._show()

    def progress(self, *, ended: bool = False) -> Progress:
        """The sweep as it is now."""
        running = [
            Running(str(self._jobs[i]), result.episodes if result else 0, self._jobs[i].episodes)
            for i, result in self._running.items()
        ]
        elapsed = time.monotonic() - self._started
        return Progress(
            self._what,
            total=len(self._jobs),
            done=len(self._ended) - self._failed,
            failed=self._failed,
            seconds=elapsed,
            seconds_left=self._left(elapsed),
            running=tuple(running),
            ended=ended,
        )

    def _left(self, elapsed: float) -> float | None:
        """Estimated seconds left: runs end sooner than planned, by the ratio seen in those that have ended.

        The longest runs come first, so a few say little of the others.
        """
        if len(self._ended) < min(_FIRST_ESTIMATE, len(self._jobs) / 20):
            return None
        spent = self._spent
        for i, result in self._running.items():
            done, budget, _ = _done(self._jobs[i], result)
            spent += self._seconds[i] * min(done / budget, 1.0)
        return (self._all_seconds - spent) * elapsed / max(spent, 1e-9)

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
            done, budget, unit = _done(self._jobs[i], result)
            table.add_row("running", name_of(self._jobs[i]), f"{done:,} of {budget:,} {unit}")
        for i, words in self._last:
            table.add_row("ended", name_of(self._jobs[i]), words)
        bar = Table.grid()  # a bar by itself does not end its line
        bar.add_row(ProgressBar(now.total, now.done + now.failed, width=60))
        return Group(headline(now), bar, table)


def headline(now: Progress) -> str:
    """A sweep in a line."""
    failed = f", {now.failed} failed" if now.failed else ""
    left = "" if now.seconds_left is None else f", about {format_duration(now.seconds_left)} left"
    return f"{now.what}: {now.done} of {now.total} runs done{failed}, {format_duration(now.seconds)} so far{left}"


def _done(job: Job, result: Result | None) -> tuple[int, int, str]:
    """How much of its budget a run has used, and the unit; steps where it has no number of episodes."""
    unit = "episodes" if job.episodes else "steps"
    return getattr(result, unit) if result else 0, getattr(job, unit), unit


def _in_words(now: Progress) -> str:
    """A sweep in a line, with the runs under way."""
    under_way = [
        f"{run.job} (episode {run.episodes:,}{f' of {run.of:,}' if run.of else ''})" for run in now.running[:2]
    ]
    more = [f"{len(now.running) - 2} more"] if len(now.running) > 2 else []
    return "; running: ".join(filter(None, [headline(now), ", ".join([*under_way, *more])]))


def name_of(job: Job) -> str:
    """A run in a few words."""
    changes = dict(job.changes)
    members, updates = changes.pop("members", None), changes.pop("updates_per_step", None)
    agent = job.agent if members is None else f"{job.agent}({members})"
    settings = [f"{name}={shown(value)}" for name, value in changes.items()]
    return " ".join([agent, job.env, *([] if updates is None else [f"U={updates}"]), *settings, f"seed {job.seed}"])


def _ended(outcome: Result | Failure) -> str:
    return f"failed: {outcome.reason}" if isinstance(outcome, Failure) else state_of(outcome)
