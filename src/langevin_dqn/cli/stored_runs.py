"""The seeds of ``langevin-dqn run``: read from a store where it has them, else run, by any runner, and stored."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from langevin_dqn.cli.terminal import say
from langevin_dqn.errors import UserError, counted
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Failure, Job
from langevin_dqn.runs.runners.choosing import runner_of
from langevin_dqn.runs.store import Store


class StoredRuns:
    """Runs jobs, with a store or without one; what cannot work is refused here, before anything runs.

    Args:
        store: the folder of the store, or None.
        runner: ``threads`` or ``processes``.
        ray: the address of a Ray cluster to use instead.
        workers: runs at a time.
        keep_agents: every job must leave its trained agent, which no store has: all of them are run.
    """

    def __init__(self, store: str | None, runner: str, ray: str | None, workers: int | None, *, keep_agents: bool):
        self._run = runner_of(runner, ray, workers)
        if keep_agents and (ray is not None or runner != "threads"):
            raise UserError("--save works only with --runner threads", "leave out --ray, and use --runner threads")
        self._keep_agents = keep_agents
        self._store = None if store is None else Store(store)
        if self._store is not None:
            self._store.prepare()

    def run(
        self, jobs: Sequence[Job], progress: Callable[[int, Result], None]
    ) -> Iterator[tuple[int, Result | Failure]]:
        """Yield ``(index, result)``: first what is stored, then every other job as it ends."""
        found: dict[int, Result] = {}
        if self._store is not None and not self._keep_agents:
            read = enumerate(self._store.get_all(jobs))
            found = {i: result for i, result in read if result is not None}
            for path in self._store.damaged:
                say(f"unreadable file, not used: {path}")
            say(f"{counted(len(jobs), 'run')}, {len(found)} of them in {self._store.folder}")
        yield from found.items()
        missing = [i for i in range(len(jobs)) if i not in found]
        if not missing:
            return
        for place, outcome in self._run([jobs[i] for i in missing], lambda i, result: progress(missing[i], result)):
            index = missing[place]
            if self._store is not None and isinstance(outcome, Result):
                self._store.put(replace(jobs[index], keep_agent=None), outcome)  # an agent that is kept changes nothing
            yield index, outcome

    def without_failures(self, outcomes: Sequence[Result | Failure]) -> list[Result]:
        """The results; failures are reported on stderr."""
        failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
        for failure in failures:
            say(f"failed: {failure}")
            if failure.hint:
                say(f"hint: {failure.hint}")
        if failures:
            again = "; repeat the command to try again" if self._store is not None else ""
            say(f"{counted(len(failures), 'run')} failed{again}")
        return [outcome for outcome in outcomes if isinstance(outcome, Result)]
