"""Runs of Deep Sea as a table: which learned, and when."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from langevin_dqn.errors import UserError
from langevin_dqn.ids import refuse_import
from langevin_dqn.runs.result import Result

if TYPE_CHECKING:
    import polars as pl


def depth_of(env: str) -> int:
    """The depth of the Deep Sea environment that an id names.

    The id may come from a file, so it imports nothing.

    Examples:
        >>> depth_of("deep_sea/3")
        16
    """
    from langevin_dqn.environments import make_env  # here, because they load JAX
    from langevin_dqn.environments.bsuite.deep_sea import DeepSea

    refuse_import(env, "a stored run", "only runs of Deep Sea have a depth")
    environment = make_env(env)
    if not isinstance(environment, DeepSea):
        raise UserError(f"{env} is not Deep Sea", "only runs of Deep Sea have a depth")
    return environment.depth


def table(results: Iterable[Result]) -> "pl.DataFrame":
    """A row per run: what was run, and ``time``, its learning time; infinity if it did not learn."""
    import polars as pl

    depths: dict[str, int] = {}
    rows = []
    for result in results:
        if result.env not in depths:
            depths[result.env] = depth_of(result.env)
        time = result.learning_time
        rows.append(
            {
                "agent": result.agent,
                "preset": result.preset,
                "members": result.setting("members", 1),
                "updates": result.setting("updates_per_step", 1),
                "depth": depths[result.env],
                "seed": result.seed,
                "time": np.inf if time is None else float(time),
            }
        )
    kinds = {"agent": pl.String, "preset": pl.String} | dict.fromkeys(("members", "updates", "depth", "seed"), pl.Int64)
    return pl.DataFrame(rows, schema=kinds | {"time": pl.Float64})


def least_budget(results: Iterable[Result]) -> float:
    """How many episodes a run that did not learn made, at least; infinity if all learned."""
    return min((float(result.episodes) for result in results if result.learning_time is None), default=np.inf)


def format_learning_time(time: float) -> str:
    """A learning time as text."""
    return f"{time:g}" if np.isfinite(time) else "none within the budget"


def paired(first: "pl.DataFrame", second: "pl.DataFrame", on: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Learning times of runs that agree on the columns ``on``, side by side."""
    both = first.join(second, on=list(on), suffix="_second").sort(*on)
    return both["time"].to_numpy(), both["time_second"].to_numpy()


def scores(times: "pl.DataFrame", by: Sequence[str]) -> "pl.DataFrame":
    """The share of depths that each seed solved, and of its depths how many were run.

    Only depths that all groups share count, and of each group the seeds that ran the most of them, so that a
    half-finished sweep compares like with like.
    """
    import polars as pl

    solved = pl.col("time").is_finite()
    return (
        times.filter(pl.col("depth").is_in(common_depths(times, by)))
        .group_by(*by, "seed")
        .agg(score=solved.mean(), depths=pl.col("depth").n_unique())
        .filter(pl.col("depths") == pl.col("depths").max().over(by))
        .sort(*by, "seed")
    )


def common_depths(times: "pl.DataFrame", by: Sequence[str]) -> list[int]:
    """The depths that all groups share."""
    import polars as pl

    groups = times.select(by).n_unique()
    counts = times.unique([*by, "depth"]).group_by("depth").len()
    return sorted(counts.filter(pl.col("len") == groups)["depth"])


def with_seeds(times: "pl.DataFrame", by: Sequence[str], seeds: int) -> "pl.DataFrame":
    """The runs of those groups that have at least so many seeds: what a half-finished sweep can be judged by."""
    import polars as pl

    return times.filter(pl.col("seed").n_unique().over(list(by)) >= seeds)
