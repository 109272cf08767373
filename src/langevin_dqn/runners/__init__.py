"""Where runs happen."""

from langevin_dqn.runners.local import Job, run_jobs

__all__ = ["Job", "run_jobs"]
