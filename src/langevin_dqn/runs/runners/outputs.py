"""What a run leaves beside its result: checkpoints and a log of metrics, as data that can be sent to a worker.

Importing this starts no JAX.
"""

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langevin_dqn.runs.metric_log import DEFAULT_WRITERS, METRICS_EVERY, MetricLog

if TYPE_CHECKING:
    from langevin_dqn.runs.result import Result


@dataclass(frozen=True)
class Outputs:
    """Where a run saves itself and writes its metrics. A run is resumed if there is a checkpoint.

    Attributes:
        checkpoint: folder of its checkpoints; None for none.
        checkpoint_every: seconds between two; None to save only when the run is stopped.
        checkpoint_at_end: save when the run has ended, too.
        replaceable: a checkpoint that cannot be used is removed, and the run starts again, instead of an error.
        log: folder of its metrics; None for none.
        log_to: names of writers.
        metrics_every: environment steps between two rows.
    """

    checkpoint: str | None = None
    checkpoint_every: float | None = 60.0
    checkpoint_at_end: bool = True
    replaceable: bool = False
    log: str | None = None
    log_to: tuple[str, ...] = DEFAULT_WRITERS
    metrics_every: int = METRICS_EVERY

    def train(self, train: "Callable[..., Result]", about: dict[str, Any], **arguments: Any) -> "Result":
        """``train(**arguments)`` with these outputs; ``about`` defines the run in its log."""
        try:
            return self._train(train, about, arguments)
        except _checkpoint_error():
            if not self.replaceable or self.checkpoint is None:
                raise
            shutil.rmtree(self.checkpoint, ignore_errors=True)
            return self._train(train, about, arguments)

    def _train(self, train: "Callable[..., Result]", about: dict[str, Any], arguments: dict[str, Any]) -> "Result":
        from langevin_dqn.runs.checkpoint import Checkpoints

        steps, saved = None, {}
        if self.checkpoint is not None:
            where = Checkpoints(Path(self.checkpoint), self.checkpoint_every, self.checkpoint_at_end)
            steps, saved = where.steps, {"checkpoint": where, "resume": where.folder}
        with contextlib.ExitStack() as stack:
            watched: dict[str, Any] = {}
            if self.log is not None:
                log = stack.enter_context(MetricLog(self.log, self.log_to, steps=steps, about=about))
                watched = {"on_metrics": log.write, "metrics_every": self.metrics_every}
            return train(**arguments, **saved, **watched)


def _checkpoint_error() -> type[Exception]:
    from langevin_dqn.runs.checkpoint import CheckpointError

    return CheckpointError
