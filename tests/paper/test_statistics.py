"""Tests of tests: known values, and error rates by simulation."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from langevin_dqn.paper import statistics


def test_wilson_interval():
    """By hand: centre (k + z²/2)/(n + z²), z = 1.96."""
    z = 1.959964
    centre = (3 + z * z / 2) / (10 + z * z)
    half = z * math.sqrt(3 * 7 / 10 + z * z / 4) / (10 + z * z)
    assert statistics.share_interval(3, 10) == pytest.approx((centre - half, centre + half), abs=1e-5)


def test_mean_interval_covers():
    """At 90%, 2,000 samples of 5: the count of misses stays within the binomial's 1e-6 tails."""
    draws = np.random.default_rng(0).normal(3.0, 2.0, (2000, 5))
    ends = [statistics.mean_interval(row, 0.9) for row in draws]
    missed = sum(not low < 3.0 < high for low, high in ends)
    assert binom.ppf(1e-6, 2000, 0.1) <= missed <= binom.isf(1e-6, 2000, 0.1)


def test_mean_interval_of_one_value_says_nothing():
    assert statistics.mean_interval([1.0]) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        ([1, 2, 3], [4, 5, 6], 1 / 8),
        ([4, 5, 6], [1, 2, 3], 1.0),
        ([1, math.inf, 7], [2, math.inf, 7], 1 / 2),  # ties say nothing
        ([math.inf], [math.inf], 1.0),
        ([1, 1, 1, 9], [2, 2, 2, 3], 5 / 16),
    ],
)
def test_sign_test(first, second, p):
    assert statistics.sign_test(first, second) == pytest.approx(p)


def test_sign_test_keeps_its_level():
    """Two samples of one law, 4,000 times: at most 5% (plus the binomial's 1e-6 tail) are called different."""
    draws = np.random.default_rng(1).exponential(size=(2, 4000, 8))
    called = sum(statistics.sign_test(a, b) <= 0.05 for a, b in zip(*draws, strict=True))
    assert called <= binom.isf(1e-6, 4000, 0.05)


def test_falling_trend():
    x = [1, 1, 5, 5, 25, 25]
    assert statistics.falling_trend(x, [math.inf, 900, 400, 300, 90, 80]) < 0.05
    assert statistics.falling_trend(x, [80, 90, 300, 400, 900, math.inf]) > 0.95
    assert statistics.falling_trend(x, [math.inf] * 6) == 1.0


def test_median_below():
    assert statistics.median_below([10, 20, 30, 40, 50], 60) == pytest.approx(1 / 32)
    assert statistics.median_below([10, math.inf], 60) == pytest.approx(3 / 4)
