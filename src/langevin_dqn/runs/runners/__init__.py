"""Parallel execution: runs in threads of this process, in worker processes, or on a Ray cluster.

All three take ``(jobs, *, workers=None, progress=None)``, yield ``(index, result)`` as each run
ends, and give the same returns. In other processes a job may fail alone: it then
yields a ``Failure``, and the others continue.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langevin_dqn.runs.runners.job import Failure, Job
    from langevin_dqn.runs.runners.local import run_jobs
    from langevin_dqn.runs.runners.outputs import Outputs
    from langevin_dqn.runs.runners.processes import run_in_processes
    from langevin_dqn.runs.runners.ray import run_on_ray

_HOME = {
    "Failure": "job",
    "Job": "job",
    "Outputs": "outputs",
    "run_in_processes": "processes",
    "run_jobs": "local",
    "run_on_ray": "ray",
}

__all__ = ["Failure", "Job", "Outputs", "run_in_processes", "run_jobs", "run_on_ray"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
