"""Intervals and tests over seeds, as pure functions of numbers; SciPy does the work.

Learning times are right-censored: a run that did not learn within its budget has time
infinity. Everything here uses only the order of times, so infinity is a value like any other.
"""

import math

import numpy as np
from numpy.typing import ArrayLike


def share_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a probability.

    Examples:
        >>> [round(end, 2) for end in share_interval(5, 5)]
        [0.57, 1.0]
    """
    from scipy.stats import binomtest

    interval = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Student's interval for a mean; infinitely wide for fewer than two values."""
    from scipy.stats import t

    data = np.asarray(values, np.float64)
    if data.size < 2:
        return -math.inf, math.inf
    half = t.ppf(0.5 + confidence / 2, data.size - 1) * data.std(ddof=1) / math.sqrt(data.size)
    return float(data.mean() - half), float(data.mean() + half)


def sign_test(first: ArrayLike, second: ArrayLike) -> float:
    """One-sided p-value of "``first`` is smaller than ``second``", for pairs; ties say nothing.

    Examples:
        >>> sign_test([1, 2, 3, 4, 5], [math.inf] * 5)
        0.03125
    """
    from scipy.stats import binomtest

    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    wins, losses = int(np.sum(a < b)), int(np.sum(a > b))
    return float(binomtest(wins, wins + losses, alternative="greater").pvalue) if wins + losses else 1.0


def falling_trend(x: ArrayLike, y: ArrayLike) -> float:
    """One-sided p-value of "y falls as x grows", by Kendall's rank correlation."""
    from scipy.stats import kendalltau

    ranks = np.unique(np.asarray(y, np.float64), return_inverse=True)[1]
    p_value = kendalltau(np.asarray(x, np.float64), ranks, alternative="less").pvalue
    return 1.0 if math.isnan(p_value) else float(p_value)


def median_below(values: ArrayLike, bound: float) -> float:
    """One-sided p-value of "the median is below ``bound``", by the sign test."""
    return sign_test(values, np.full(np.shape(values), bound))
