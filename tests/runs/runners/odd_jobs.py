"""Jobs that do to their workers what the world may do. Importing this starts no JAX."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from langevin_dqn.errors import UserError
from langevin_dqn.runs.runners.job import Job


def made_up(job, **changes):
    """A result without a run."""
    import numpy as np

    from langevin_dqn.presets import preset
    from langevin_dqn.runs.result import Result

    return Result(
        job.agent, job.env, job.seed, job.preset, preset(job.agent), 1.0, np.float32([job.seed]), 0, 0.0, **changes
    )


class Quick(Job):
    def run(self, progress=None):
        return made_up(self)


class Raises(Job):
    def run(self, progress=None):
        raise RuntimeError("no luck")


class Mistaken(Job):
    def run(self, progress=None):
        raise UserError("wrong", "do it right")


class Deadly(Job):
    """Kills whoever runs it."""

    def run(self, progress=None):
        os.kill(os.getpid(), signal.SIGKILL)


class Talkative(Job):
    """Reports a hundred times a second for more than two."""

    def run(self, progress=None):
        result, until = made_up(self), time.monotonic() + 2.5
        while time.monotonic() < until:
            progress(result)
            time.sleep(0.01)
        return result


class Looks(Job):
    """Tells the worker's settings. JAX knows the folder only if it was named before JAX started."""

    def run(self, progress=None):
        import jax

        seen = [os.environ["OMP_NUM_THREADS"], os.environ["XLA_FLAGS"], jax.config.jax_compilation_cache_dir]
        return made_up(self, diverged=" ".join(map(str, seen)))


@dataclass(frozen=True)
class Waits(Job):
    """Leaves the id of its process in a folder, and stays."""

    folder: str = ""

    def run(self, progress=None):
        (Path(self.folder) / str(os.getpid())).touch()
        time.sleep(600)


@dataclass(frozen=True)
class DiesOnce(Job):
    """Kills its worker in the middle of its first run."""

    mark: str = ""

    def run(self, progress=None):
        def report(_):
            if not Path(self.mark).exists():
                Path(self.mark).touch()
                os.kill(os.getpid(), signal.SIGKILL)

        return super().run(report)


@dataclass(frozen=True)
class DiesAtFirst(Job):
    """Kills its first worker, and gives its second one a result without a run."""

    mark: str = ""

    def run(self, progress=None):
        if not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return made_up(self)


@dataclass(frozen=True)
class StallsOnNode(Job):
    """On one of Ray's nodes, stops half way and waits for its end."""

    node: str = ""
    mark: str = ""

    def run(self, progress=None):
        def report(_):
            import ray

            if ray.get_runtime_context().get_node_id() == self.node:
                Path(self.mark).touch()
                time.sleep(600)

        return super().run(report)
