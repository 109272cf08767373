"""Several runs on a Ray cluster, one task and one core each.

A task writes nothing and sends its result to the caller, so nodes need no common disk. What
dies with a node, Ray begins again on another.
"""

import os
import signal
import socket
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

from langevin_dqn import stopping
from langevin_dqn.environments.bsuite.mnist_files import VARIABLE
from langevin_dqn.errors import UserError
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import worker
from langevin_dqn.runs.runners.job import Failure, Job, available_cores
from langevin_dqn.runs.runners.outputs import Outputs
from langevin_dqn.version import ALGORITHM_VERSION

_REACH_SECONDS = 5.0
#: Seconds between two looks for a signal that asks to stop.
_LOOK_AGAIN = 0.5


def run_on_ray(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    progress: Callable[[int, Result], None] | None = None,
    address: str = "local",
    retries: int = 3,
) -> Iterator[tuple[int, Result | Failure]]:
    """Run ``jobs`` as Ray tasks and yield ``(index, result)`` as each one ends.

    Every node needs this package. A job that raises, or whose nodes keep dying, yields a
    ``Failure``; the others continue. A mistake of the user (``UserError``) is raised. Nodes have
    no disk in common, so a run here leaves nothing but its result: no checkpoint, no log. A
    program that has called ``ray.init`` itself keeps its cluster.

    Args:
        jobs: what to run.
        workers: runs at a time at most; by default as many as the cluster has cores.
        progress: called with a job's index and its result when it has ended.
        address: ``local`` starts Ray on this machine; ``auto`` finds the one that runs here;
            ``host:port`` is a cluster's.
        retries: how often a job is restarted after its process or node died.
    """
    with _cluster(address, workers) as ray:
        task = ray.remote(num_cpus=1, max_retries=retries, runtime_env={"env_vars": _environment()})(worker.task)
        waiting = iter(range(len(jobs)))
        running: dict[Any, int] = {}
        try:
            while True:
                if (number := stopping.requested()) is not None:
                    raise stopping.Stopped(number)
                while workers is None or len(running) < workers:
                    if (index := next(waiting, None)) is None:
                        break
                    running[task.remote(replace(jobs[index], outputs=Outputs()), ALGORITHM_VERSION)] = index
                if not running:
                    return
                ended, _ = ray.wait(list(running), num_returns=1, timeout=_LOOK_AGAIN)
                if not ended:
                    continue
                done = ended[0]
                index = running.pop(done)
                outcome = _outcome(ray, done, jobs[index])
                if progress is not None and isinstance(outcome, Result):
                    progress(index, outcome)
                yield index, outcome
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


def _outcome(ray: ModuleType, reference: Any, job: Job) -> Result | Failure:
    try:
        outcome = ray.get(reference)
    except ray.exceptions.RayError as error:
        return Failure(job, f"{type(error).__name__} after all retries", str(error))
    if isinstance(outcome, UserError):
        raise outcome
    return outcome


def _environment() -> dict[str, str]:
    """What a task needs before Python starts, and the folder that the caller named."""
    digits = {VARIABLE: os.environ[VARIABLE]} if VARIABLE in os.environ else {}
    return {"OMP_NUM_THREADS": "1", **digits}


@contextmanager
def _cluster(address: str, workers: int | None) -> Iterator[ModuleType]:
    try:
        import ray
    except ImportError:
        raise UserError("Ray is not installed", "pip install 'langevin-dqn[ray]'") from None
    if ray.is_initialized():
        yield ray
        return
    settings: dict[str, Any] = {"address": address, "log_to_driver": False, "logging_level": "error"}
    if address == "local":
        cores = workers or available_cores()
        settings |= {"num_cpus": cores, "include_dashboard": False, "object_store_memory": 100 * 2**20}
    elif address != "auto":
        _reach(address)
    handlers = {number: signal.getsignal(number) for number in stopping.SIGNALS}
    try:
        with warnings.catch_warnings():  # Ray forks only to start other programs, which JAX does not know
            warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called", category=RuntimeWarning)
            ray.init(**settings)
    except (ConnectionError, RuntimeError) as error:
        first = str(error).strip().splitlines()[0].partition(" Please specify")[0]  # options of Ray's own commands
        raise UserError(f"cannot use a Ray cluster at {address}: {first}", _HINT) from None
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            signal.signal(number, handler)  # Ray sets one of its own, which would end the process
    try:
        yield ray
    finally:
        ray.shutdown()


_HINT = "start one with ray start --head, pass its host:port, or use the address local"


def _reach(address: str) -> None:
    """Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise UserError(f"{address!r} is not the address of a Ray cluster", _HINT)
    try:
        socket.create_connection((host, int(port)), _REACH_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UserError(f"there is no Ray cluster at {address}: {error}", _HINT) from None
