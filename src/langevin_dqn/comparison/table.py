"""The runs of a comparison as one table, a row each."""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from langevin_dqn.comparison.contenders import Entry, shown
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Failure

if TYPE_CHECKING:
    import polars as pl

#: The least number of episodes over which the end of a run is measured.
LEAST_FINAL = 10


def final_episodes(episodes: int) -> int:
    """How many episodes count as the end of a run: a tenth, at least 10, or all if there are fewer."""
    return min(episodes, max(LEAST_FINAL, -(-episodes // 10)))


def table_of(entries: Sequence[Entry], outcomes: Iterable[Result | Failure | None]) -> "pl.DataFrame":
    """One row per run that has an outcome, in the order of ``entries``; ``langevin_dqn.sweep`` describes it."""
    import polars as pl

    types = _types()
    crossed = dict.fromkeys(name for entry in entries for name in entry.contender.crossed)
    rows = []
    for entry, outcome in zip(entries, outcomes, strict=True):
        if outcome is None:
            continue
        grid = {_column(name): entry.contender.crossed.get(name) for name in crossed}
        rows.append(_asked(entry) | grid | (_failed(outcome) if isinstance(outcome, Failure) else _measured(outcome)))
    for name in map(_column, crossed):
        values = [row[name] for row in rows]
        if len({type(value) for value in values if value is not None}) > 1 or any(
            isinstance(value, tuple | list) for value in values
        ):
            for row in rows:
                row[name] = None if row[name] is None else shown(row[name])
    order = [*_ASKED, *map(_column, crossed), *(name for name in types if name not in _ASKED)]
    table = pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None) if rows else pl.DataFrame(schema=types)
    return table.select(name for name in order if name in table.columns)


def _column(setting: str) -> str:
    """The column of a setting of the grid; ``grid_…`` where another column has its name."""
    return f"grid_{setting}" if setting in _types() else setting


_ASKED = ("agent", "name", "preset", "settings", "env", "seed")


def _types() -> dict[str, Any]:
    """The columns beside those of the grid, in order."""
    import polars as pl

    texts, numbers = dict.fromkeys(("agent", "name", "preset", "settings", "env"), pl.String), pl.Float64
    return texts | {
        "seed": pl.Int64,
        "episodes": pl.Int64,
        "steps": pl.Int64,
        "updates": pl.Int64,
        "final_return": numbers,
        "mean_return": numbers,
        "best_return": numbers,
        "max_return": numbers,
        "regret": numbers,
        "learned": pl.Boolean,
        "learning_time": pl.Int64,
        "first_success": pl.Int64,
        "seconds": numbers,
        "diverged": pl.String,
        "failed": pl.String,
        "returns": pl.List(pl.Float32),
        "lengths": pl.List(pl.Int32),
    }


def _asked(entry: Entry) -> dict[str, Any]:
    one = entry.contender
    settings = json.dumps(one.changes, default=lambda value: value.item())
    return {
        "agent": one.label,
        "name": one.agent,
        "preset": one.preset,
        "settings": settings,
        "env": entry.job.env,
        "seed": entry.job.seed,
    }


def _failed(failure: Failure) -> dict[str, Any]:
    return {name: None for name in _types() if name not in _ASKED} | {"failed": failure.reason}


def _measured(result: Result) -> dict[str, Any]:
    returns = np.asarray(result.returns, np.float64)
    some = bool(result.episodes)
    return {
        "episodes": result.episodes,
        "steps": result.steps,
        "updates": result.updates,
        "final_return": float(returns[-final_episodes(len(returns)) :].mean()) if some else None,
        "mean_return": float(returns.mean()) if some else None,
        "best_return": float(returns.max()) if some else None,
        "max_return": result.max_return,
        "regret": result.regret,
        "learned": None if result.learned_regret is None else result.solved,
        "learning_time": result.learning_time,
        "first_success": result.first_success,
        "seconds": result.seconds,
        "diverged": result.diverged,
        "failed": None,
        "returns": np.asarray(result.returns, np.float32).tolist(),
        "lengths": np.asarray(result.lengths, np.int32).tolist(),
    }
