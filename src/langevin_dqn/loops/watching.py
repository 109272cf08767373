"""Rows of metrics: numbers to monitor during a run, read between chunks of episodes.

The agent's part is a program of its own, with a key of its own, that only reads the agent's state: a run with metrics
is the run without them, to the bit.
"""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import compile_time, keys
from langevin_dqn.loops.snapshot import Snapshot
from langevin_dqn.pytrees import Program
from langevin_dqn.runs.result import Result

#: The order of columns that the agents here have; those of others come after them.
_ORDER = ("loss", "td_error", "gradient_norm", "q_mean", "q_spread", "epsilon", "replay_size")


class Watch:
    """Makes the rows of metrics of one run, and passes them to a callback.

    Args:
        agent: the agent.
        key: the run's.
        every: steps between two rows.
        on_metrics: called with each row; None for no metrics.
        has_last_row: the run is resumed from its end, for which a row was written.
    """

    def __init__(
        self,
        agent: Any,
        key: jax.Array,
        every: int,
        on_metrics: Callable[[dict[str, Any]], None] | None,
        has_last_row: bool = False,
    ):
        self._agent, self._key, self._every, self._on_metrics = agent, key, every, on_metrics
        self._shown = self._known = 0  # episodes in rows, and in the last row of a run that had ended
        self._has_last_row = has_last_row
        self._last = (time.perf_counter(), 0, 0)
        self._program = _METRICS.compiled_for(agent)

    def take(self, now: Snapshot, result: Result) -> None:
        """Make a row if one is due."""
        if self._on_metrics is None:
            return
        if now.resumed:
            ends = np.cumsum(result.lengths, dtype=np.int64) // self._every
            in_rows = np.flatnonzero(np.diff(ends, prepend=0))
            self._shown = int(in_rows[-1]) + 1 if in_rows.size else 0
            self._known = result.episodes if self._has_last_row else self._shown
            self._last = (time.perf_counter(), result.steps, result.updates)
        elif now.metrics:
            self._on_metrics(self.row(now, result))

    def end(self, now: Snapshot, result: Result) -> None:
        """Make a row of the episodes since the last one."""
        if self._on_metrics is not None and result.episodes > max(self._shown, self._known):
            self._on_metrics(self.row(now, result))

    def row(self, now: Snapshot, result: Result) -> dict[str, Any]:
        """The metrics as of now; what is not known or not finite is None."""
        own = self._of_agent(now.state, result.episodes)
        returns, lengths = result.returns[self._shown :], result.lengths[self._shown :]
        before, steps, updates = self._last
        self._shown, self._last = result.episodes, (time.perf_counter(), result.steps, result.updates)
        elapsed = max(self._last[0] - before, 1e-9)
        row = {
            "episode": result.episodes,
            "steps": result.steps,
            "updates": result.updates,
            "seconds": result.seconds,
            "return": float(np.mean(returns, dtype=np.float64)) if returns.size else None,
            "length": float(np.mean(lengths, dtype=np.float64)) if lengths.size else None,
            "regret": result.regret,
            **own,
            "steps_per_second": (result.steps - steps) / elapsed,
            "updates_per_second": (result.updates - updates) / elapsed,
        }
        return {name: value if value is not None and np.isfinite(value) else None for name, value in row.items()}

    def _of_agent(self, state: Any, episodes: int) -> dict[str, float]:
        """The agent's own metrics, by name."""
        values, names = compile_time.call(self._program, self._agent, self._key, np.int32(episodes), state)
        own = dict(zip(names, np.asarray(values).tolist(), strict=True))
        return {name: own[name] for name in sorted(own, key=_place)}


def _place(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def _metrics(agent: Any, key: jax.Array, episodes: jax.Array, state: Any) -> tuple[jax.Array, dict[str, None]]:
    """Those of the agent's metrics that are numbers, in one array, which is read at once, and their names.

    A dict without leaves is part of a result's structure: the names cost nothing.
    """
    values = agent.metrics(keys.metrics_key(key, episodes), state)
    names = sorted(name for name, value in values.items() if jnp.shape(value) == () and name != "updates")
    return jnp.array([values[name] for name in names], jnp.float32), dict.fromkeys(names)


_METRICS = Program(_metrics)
