"""Tests of tests: known values, and error rates by simulation."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
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


def test_mean_above_agrees_with_the_interval():
    """Significant at 5% exactly where the 90% interval lies above the bound."""
    for row in np.random.default_rng(2).normal(0.4, 0.5, (300, 4)):
        assert (statistics.mean_above(row, 0.0) <= 0.05) == (statistics.mean_interval(row, 0.9)[0] >= 0.0)


def test_equal_values_are_no_proof():
    """Student's test would give 0, whatever their number."""
    assert statistics.mean_above([1.0] * 4, 0.0) == pytest.approx(1 / 16)
    assert statistics.mean_above([0.3 - 0.2, 0.2 - 0.1, 0.1], 0.0) == pytest.approx(1 / 8)  # equal but for rounding
    assert statistics.mean_above([0.0] * 4, 0.0) == 1.0
    assert statistics.mean_above([5.0], 0.0) == 1.0


@pytest.mark.parametrize("size", [5, 8, 20])
def test_median_interval_is_what_the_sign_test_does_not_reject(size):
    values = np.random.default_rng(size).exponential(size=size)
    low, high = statistics.median_interval(values, 0.9)
    for bound in np.linspace(0, values.max() + 1, 400):
        rejected = min(statistics.median_below(values, bound), statistics.median_below(-values, -bound)) <= 0.05
        assert rejected == (not low <= bound <= high)


def test_the_interval_of_a_median_covers_it():
    """Over 2,000 samples of 20 from a skewed law, at the stated 95%: binomial, level 1e-4."""
    rng = np.random.default_rng(1)
    ends = np.array([statistics.median_interval(sample) for sample in rng.exponential(size=(2000, 20))])
    covered = int(((ends[:, 0] <= np.log(2)) & (np.log(2) <= ends[:, 1])).sum())
    assert covered >= binom.ppf(1e-4, 2000, 0.95)


def test_ratio_interval_is_what_the_sign_test_does_not_reject():
    rng = np.random.default_rng(5)
    first, second = rng.exponential(size=(2, 15))
    low, high = statistics.ratio_interval(first, second, math.inf)
    assert 0 < low < high < math.inf
    for ratio in np.geomspace(low / 10, high * 10, 400):
        other = ratio * second
        rejected = min(statistics.sign_test(first, other), statistics.sign_test(other, first)) <= 0.05
        assert rejected == (not low <= ratio <= high)


def test_ratio_interval_of_pairs_that_say_nothing():
    assert statistics.ratio_interval([math.inf] * 9, [math.inf] * 9, 10) == (0.0, math.inf)
    assert statistics.ratio_interval([math.inf] * 9, [1.0] * 9, 10) == (10, math.inf)  # all that is known


@pytest.mark.parametrize("ratio", [0.25, 1.0, 4.0])
def test_ratio_intervals_cover_a_ratio_of_times_that_are_cut_off(ratio):
    """Of 1,000 samples of 20 pairs, of which one time may be beyond the budget: 90% each way, binomial, level 1e-4."""
    rng, covered = np.random.default_rng(7), np.zeros(2)
    for shared in rng.exponential(size=(1000, 20)):
        first, second = np.array([[ratio], [1.0]]) * shared * np.exp(rng.normal(size=(2, 20)))
        budget = second.max()
        first = np.where(first > budget, math.inf, first)
        ends = [statistics.ratio_interval(*pair, budget) for pair in ((first, second), (second, first))]
        covered += [low <= known <= high for (low, high), known in zip(ends, (ratio, 1 / ratio), strict=True)]
    assert covered.min() >= binom.ppf(1e-4, 1000, 0.9)


def step_down(p_values, level):
    """Holm's procedure, literally: reject the smallest p at level/m, the next at level/(m - 1), until one is not."""
    left, rejected = sorted(range(len(p_values)), key=lambda i: p_values[i]), set()
    while left and p_values[left[0]] <= level / len(left):
        rejected.add(left.pop(0))
    return rejected


@given(
    st.lists(st.floats(0, 1), max_size=25),
    st.sampled_from([0.01, 0.05, 0.2]),
)
def test_holm_rejects_what_the_procedure_does(p_values, level):
    adjusted = statistics.holm(p_values)
    edges = [abs(p * (len(p_values) - i) - level) < 1e-12 for i, p in enumerate(sorted(p_values))]
    assume(not any(edges))  # products and quotients round differently there
    assert {i for i, p in enumerate(adjusted) if p <= level} == step_down(p_values, level)
    assert all(p <= q <= min(len(p_values) * p, 1) for p, q in zip(p_values, adjusted, strict=True))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10), st.randoms())
def test_holm_does_not_depend_on_the_order(p_values, random):
    places = list(range(len(p_values)))
    random.shuffle(places)
    shuffled = statistics.holm([p_values[i] for i in places])
    np.testing.assert_array_equal(shuffled, statistics.holm(p_values)[places])


def test_holm_keeps_the_level_for_all_tests_together():
    """20 true hypotheses, 2,000 times: one or more is rejected in at most 5% (plus the binomial's 1e-6 tail)."""
    draws = np.random.default_rng(3).uniform(size=(2000, 20))
    wrong = sum((statistics.holm(row) <= 0.05).any() for row in draws)
    assert wrong <= binom.isf(1e-6, 2000, 0.05)
    assert sum((row <= 0.05).any() for row in draws) > 1000  # without the correction
