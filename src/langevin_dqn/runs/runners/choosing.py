"""The runner that a user names."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from langevin_dqn.errors import UserError, whole_number
from langevin_dqn.runs import runners

#: Takes jobs and ``progress``, and yields what each gave; see ``langevin_dqn.runs.runners``.
Runner = Callable[..., Iterator[tuple[int, Any]]]

#: Runners by name, beside Ray.
NAMES = ("threads", "processes")


def runner_of(where: str, ray: str | None, workers: int | None) -> Runner:
    """A function of jobs and ``progress`` that runs them.

    Args:
        where: ``threads`` or ``processes``.
        ray: the address of a Ray cluster to use instead.
        workers: runs at a time; the number of cores by default.
    """
    if workers is not None:
        whole_number("workers", workers, least=1)
    if where not in NAMES:
        raise UserError(f"unknown runner {where!r}", f"choose one of {', '.join(NAMES)}, or --ray ADDRESS")
    if ray is not None:
        return lambda jobs, progress: runners.run_on_ray(jobs, workers=workers, progress=progress, address=ray)
    run: Any = partial(runners.run_jobs, faults=True) if where == "threads" else runners.run_in_processes
    return lambda jobs, progress: run(jobs, workers=workers, progress=progress)
