"""The table bsuite's own logger would have written, from a result.

bsuite logs a run at episodes spaced by about a tenth in the logarithm, and keeps what
happened so far: returns and most other columns as sums, ``best_episode`` as a maximum.
Its CSV files are named ``bsuite_id_-_deep_sea-0.csv``, one per id in a folder per agent.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from langevin_dqn import files
from langevin_dqn.environments.bsuite.sweeps import SWEEPS, logged_episodes, split_id
from langevin_dqn.runs.result import Result

if TYPE_CHECKING:
    import polars as pl

_COUNTS = ("total_bad_episodes", "denoised_return", "total_perfect")


def log_of(result: Result) -> "pl.DataFrame":
    """One row per logged episode, with bsuite's columns.

    ``steps, episode, total_return, episode_len, episode_return``, then those of the
    environment's ``measure``. The first three and the environment's add up over episodes.
    """
    import polars as pl

    episode = logged_episodes(result.episodes)
    rows = episode - 1
    returns, lengths = result.returns.astype(np.float64), result.lengths.astype(np.int64)
    own = {name: _so_far(name, np.asarray(values, np.float64))[rows] for name, values in result.measures.items()}
    return pl.DataFrame(
        {
            "steps": np.cumsum(lengths)[rows],
            "episode": episode,
            "total_return": np.cumsum(returns)[rows],
            "episode_len": lengths[rows],
            "episode_return": returns[rows],
            **{name: values.astype(np.int64) if name in _COUNTS else values for name, values in own.items()},
        }
    )


def _so_far(name: str, values: np.ndarray) -> np.ndarray:
    return np.maximum.accumulate(np.maximum(values, 0)) if name == "best_episode" else np.cumsum(values)


def logs_of(results: Iterable[Result]) -> "pl.DataFrame":
    """The logs of several runs, each row with its ``bsuite_id``, experiment (``bsuite_env``) and setting."""
    import polars as pl

    tables = [log_of(result).with_columns(bsuite_id=pl.lit(result.env)) for result in results]
    return with_settings(pl.concat(tables, how="diagonal"))


def with_settings(logs: "pl.DataFrame") -> "pl.DataFrame":
    """Add what each ``bsuite_id`` stands for: its experiment and, by bsuite's names, its setting."""
    import polars as pl

    settings = []
    for bsuite_id in logs["bsuite_id"].unique(maintain_order=True):
        name, number = split_id(bsuite_id)
        setting = {key: value for key, value in SWEEPS[name].settings[number].items() if value is not None}
        settings.append({"bsuite_id": bsuite_id, "bsuite_env": name, **setting})
    known = pl.DataFrame(settings, infer_schema_length=None)
    return logs.join(known, on="bsuite_id", how="left", maintain_order="left")


def csv_path(folder: str | Path, bsuite_id: str) -> Path:
    """The file in which bsuite looks for an id's log."""
    name, number = split_id(bsuite_id)
    return Path(folder) / f"bsuite_id_-_{name}-{number}.csv"


def write_csv(result: Result, folder: str | Path) -> Path:
    """Write ``result`` as bsuite would have, for its ``csv_load`` to read."""
    path = csv_path(folder, result.env)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(path, log_of(result).write_csv())
    return path
