"""Learning curves of a table of runs: the return against episodes or environment steps."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from langevin_dqn.comparison.intervals import LEVEL, interquartile_mean, interval
from langevin_dqn.comparison.table import final_episodes

if TYPE_CHECKING:
    import polars as pl

#: What a curve may be drawn against.
AXES = ("episodes", "steps")
#: Bootstrap samples for each point of a band.
BAND_RESAMPLES = 2_000
_POINTS = 200


class Curve(NamedTuple):
    """An agent's curve in one environment.

    Attributes:
        x: episodes or steps.
        middle: the interquartile mean over seeds.
        low: the lower end of the interval, None with fewer than three seeds.
        high: the upper end.
        seeds: the curve of each seed (seeds, points).
    """

    x: np.ndarray
    middle: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None
    seeds: np.ndarray


def curve_of(runs: "pl.DataFrame", axis: str) -> Curve | None:
    """The curve of runs of one agent in one environment; None if no episode ended.

    A point is the mean return of the episodes before it, as many as ``final_episodes`` counts as the end of a run:
    the last one is the run's final return. A curve begins after a tenth of the episodes and ends where the shortest run
    ends; a run that diverged keeps its last value.
    """
    lines, ends = [], []
    for row in runs.filter(runs["episodes"] > 0).iter_rows(named=True):
        line = smoothed(np.asarray(row["returns"]), np.asarray(row["lengths"]), axis)
        lines.append(line)
        if row["diverged"] is None:
            ends.append(line[0][-1])
    if not lines:
        return None
    first, last = max(x[0] for x, _ in lines), min(ends, default=max(x[-1] for x, _ in lines))
    grid = np.unique(np.linspace(min(first, last), last, _POINTS).round())
    seeds = np.stack([_at(grid, x, y) for x, y in lines])
    band = interval([seeds], level=LEVEL, resamples=BAND_RESAMPLES)
    low, high = (None, None) if band is None else band
    return Curve(grid, interquartile_mean(seeds, axis=0), low, high, seeds)


def smoothed(returns: np.ndarray, lengths: np.ndarray, axis: str) -> tuple[np.ndarray, np.ndarray]:
    """Where the episodes after the first tenth of a run ended, and the mean return of the last ones up to there."""
    count = len(returns)
    x = np.arange(1, count + 1) if axis == "episodes" else np.cumsum(lengths, dtype=np.int64)
    sums = np.concatenate([[0.0], np.cumsum(returns, dtype=np.float64)])
    upto = np.arange(-(-count // 10), count + 1)
    since = np.maximum(upto - final_episodes(count), 0)
    return x[upto - 1], (sums[upto] - sums[since]) / (upto - since)


def _at(grid: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The value of the last episode that had ended; before the first one, its value."""
    return y[np.maximum(np.searchsorted(x, grid, side="right") - 1, 0)]
