"""Interquartile means and their bootstrap intervals, as Agarwal et al. (2021) recommend and ``rliable`` computes them.

The bootstrap is SciPy's. Runs are resampled within each environment, independently of the others (*stratified*), and
the interval is between quantiles of the resampled means (*percentile*).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

LEVEL = 0.95
RESAMPLES = 10_000
#: Seeds below which an interval would say nothing.
LEAST_SEEDS = 3


def interquartile_mean(values: ArrayLike, axis: int = -1) -> np.ndarray:
    """The mean of the values without the lowest and the highest quarter (rounded down).

    Examples:
        >>> float(interquartile_mean([1.0, 2.0, 3.0, 4.0, 100.0]))
        3.0
    """
    from scipy.stats import trim_mean

    return trim_mean(np.asarray(values, np.float64), 0.25, axis=axis)


def interval(
    strata: Sequence[ArrayLike], *, level: float = LEVEL, resamples: int = RESAMPLES
) -> tuple[np.ndarray, np.ndarray] | None:
    """The interval of the interquartile mean over all strata; None if one has fewer than three runs.

    Args:
        strata: the scores of each environment, runs first; curves may have further axes.
        level: the probability that the interval is made for.
        resamples: how many bootstrap samples are drawn. The draw is the same every time.
    """
    from scipy.stats import bootstrap

    scores = [np.asarray(values, np.float64) for values in strata]
    if not scores or min(len(values) for values in scores) < LEAST_SEEDS:
        return None

    def pooled(*samples: np.ndarray, axis: int) -> np.ndarray:
        return interquartile_mean(np.concatenate(samples, axis=axis), axis)

    found = bootstrap(
        scores,
        pooled,
        axis=0,
        vectorized=True,
        confidence_level=level,
        n_resamples=resamples,
        batch=1000,
        method="percentile",
        random_state=np.random.default_rng(0),
    ).confidence_interval
    return found.low, found.high
