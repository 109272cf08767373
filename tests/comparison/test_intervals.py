"""Interquartile means and bootstrap intervals, against enumeration, and against rliable's own numbers."""

import itertools

import numpy as np
import pytest

from langevin_dqn.comparison.intervals import interquartile_mean, interval


def test_a_quarter_is_cut_off_at_each_end():
    assert interquartile_mean([1.0, 2.0, 3.0, 4.0, 100.0]) == 3.0
    assert interquartile_mean([0.0, 1.0, 2.0, 100.0]) == 1.5
    assert interquartile_mean([0.0, 1.0, 5.0]) == 2.0  # too few to cut
    assert interquartile_mean(np.arange(12.0).reshape(4, 3), axis=0).tolist() == [4.5, 5.5, 6.5]


def test_three_seeds_by_enumeration():
    """All 27 samples of three scores: the interval is between the quantiles of their means, up to resampling."""
    scores = np.array([0.0, 1.0, 10.0])
    means = [np.mean(sample) for sample in itertools.product(scores, repeat=3)]
    low, high = interval([scores], level=0.8, resamples=50_000)
    assert (low, high) == pytest.approx(np.quantile(means, [0.1, 0.9], method="inverted_cdf"), abs=1e-9)


def test_strata_are_resampled_apart():
    """Scores of 0 in one environment and 1 in another: resampled together they would give some width."""
    low, high = interval([np.zeros(5), np.ones(5)])
    assert low == high == 0.5


def test_as_rliable_computes_it():
    """Points and intervals of rliable 1.2.0 (200,000 resamples) for the same scores, up to resampling."""
    rng = np.random.default_rng(0)
    five, ten = rng.normal(size=(5, 3)), rng.normal(size=(10, 4)) + 1
    for scores, point, ends in [
        (five, -0.17555825, (-0.65893459, 0.26219689)),
        (ten, 1.16564357, (0.85216211, 1.51773702)),
    ]:
        assert interquartile_mean(scores.ravel()) == pytest.approx(point, abs=1e-8)
        assert interval(list(scores.T), resamples=100_000) == pytest.approx(ends, abs=0.006)


def test_below_three_seeds_there_is_none():
    assert interval([np.zeros(2)]) is None
    assert interval([np.zeros(5), np.zeros(2)]) is None
    assert interval([]) is None
    assert interval([np.zeros(3)]) is not None


def test_curves_have_a_band():
    curves = np.stack([np.linspace(0, scale, 7) for scale in (1.0, 2.0, 3.0, 4.0)])
    low, high = interval([curves], resamples=500)
    assert low.shape == high.shape == (7,)
    assert low[0] == high[0] == 0
    assert 1 <= low[-1] < 2.5 < high[-1] <= 4


def test_the_same_scores_give_the_same_interval():
    scores = np.random.default_rng(1).normal(size=6)
    assert interval([scores]) == interval([scores])
    assert interval([scores], level=0.5)[0] > interval([scores], level=0.95)[0]
