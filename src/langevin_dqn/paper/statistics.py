"""Intervals and tests over seeds, as pure functions of numbers; SciPy does the work.

Learning times are right-censored: a run that did not learn within its budget has time
infinity. Tests use only the order of times, so infinity is a value like any other; ratios of times use the budget.
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


def mean_above(values: ArrayLike, bound: float) -> float:
    """One-sided p-value of "the mean is above ``bound``", by Student's test.

    It is at most 5% where the 90% ``mean_interval`` lies above ``bound``. Where all values are equal, Student's test
    has no variance to go by, and the p-value is that of the sign test.

    Examples:
        >>> round(mean_above([0.1, 0.2, 0.3], 0.0), 3)
        0.037
        >>> mean_above([1.0, 1.0, 1.0, 1.0], 0.0)
        0.0625
    """
    from scipy.stats import ttest_1samp

    data = np.asarray(values, np.float64)
    if data.size < 2:
        return 1.0
    if all_equal(data):
        return sign_test(np.full(data.shape, bound), data)
    return float(ttest_1samp(data, bound, alternative="greater").pvalue)


def all_equal(values: ArrayLike) -> bool:
    """Whether values differ by no more than rounding."""
    data = np.asarray(values, np.float64)
    return bool(np.ptp(data) <= 1e-9 * max(np.abs(data).max(), 1.0))


def median_interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """An interval for the median that assumes no distribution: the bounds that the sign test does not reject.

    With too few values for the confidence, it is infinitely wide.

    Examples:
        >>> median_interval([1, 2, 3, 4, 5], 0.9)
        (1.0, 5.0)
        >>> median_interval([1, 2, 3, 4], 0.9)
        (-inf, inf)
    """
    from scipy.stats import binom

    data = np.sort(np.asarray(values, np.float64))
    rank = int(binom.ppf((1 - confidence) / 2, data.size, 0.5)) if data.size else 0
    return (float(data[rank - 1]), float(data[-rank])) if rank else (-math.inf, math.inf)


def ratio_interval(first: ArrayLike, second: ArrayLike, budget: float, confidence: float = 0.9) -> tuple[float, float]:
    """An interval for the median ratio ``first / second`` of positive times, among pairs of which one learned or both.

    It has the ratios r for which the sign test of ``first`` against r times ``second`` is not significant. A time of
    infinity is only known to exceed the budget: the ratio of such a pair has one bound.

    Examples:
        >>> ratio_interval([1, 2, 3, 4, math.inf], [2, 4, 6, 2, 10], 40, 0.9)
        (0.5, inf)
        >>> ratio_interval([10] * 5, [math.inf] * 5, 40, 0.9)
        (0.0, 0.25)
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    known = np.isfinite(a) | np.isfinite(b)
    a, b = a[known], b[known]
    low, _ = median_interval(np.where(np.isinf(a), budget, a) / b, confidence)
    _, high = median_interval(a / np.where(np.isinf(b), budget, b), confidence)
    return max(low, 0.0), high


def holm(p_values: ArrayLike) -> np.ndarray:
    """Holm's adjusted p-values, in the order given: compared with a level, they keep it for all tests together.

    The smallest of m p-values is multiplied by m, the next by m - 1, and so on; none is below one before it. No
    assumption is made about how the tests depend on each other.

    Examples:
        >>> holm([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
    return adjusted
