"""Dithering's law against simulation, and times with runs that were cut off."""

import math

import numpy as np
import pytest
from scipy import stats

from langevin_dqn import UserError
from langevin_dqn.insight import deep_exploration
from langevin_dqn.insight.deep_exploration import Times, geometric_median, geometric_quantile, measure


@pytest.mark.parametrize("depth", [1, 4, 10, 20])
def test_the_median_is_that_of_the_geometric_law(depth):
    assert geometric_median(depth) == stats.geom(2.0**-depth).median()
    for share in (0.25, 0.75, 0.9):
        assert geometric_quantile(depth, share) == stats.geom(2.0**-depth).ppf(share)


def test_the_median_is_not_two_to_the_depth():
    assert geometric_median(20) / 2**20 == pytest.approx(math.log(2), rel=1e-5)
    by_the_mean = stats.geom(2.0**-20).cdf(2**20)
    assert by_the_mean == pytest.approx(1 - math.exp(-1), rel=1e-5)


def test_random_actions_are_measured_by_first_success(quick_compilation):
    (times,) = measure("uniform", depths=[2], seeds=2, budget=60)
    assert (times.depth, times.budget, times.done) == (2, 60, 2)


@pytest.mark.slow
def test_random_actions_follow_the_law():
    """40 seeds of one run each at depth 3, by the package's own loop: chi-square on quartiles. Level 1e-3."""
    (times,) = measure("uniform", depths=[3], seeds=40, budget=200)
    assert times.done == 40
    law = stats.geom(2.0**-3)
    edges = [0, 2, 5, 10, np.inf]
    observed = np.histogram(np.array(times.times, float), bins=np.array(edges) + 0.5)[0]
    expected = 40 * np.diff(law.cdf(edges))
    assert observed.sum() == 40
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_quantiles_of_runs_that_were_cut_off():
    times = Times(10, 500, (None, 90, 300, None, 120))
    assert times.done == 3
    assert [times.quantile(q) for q in (0.0, 0.2, 0.25, 0.5, 0.6, 0.75)] == [90, 90, 120, 300, 300, None]
    assert Times(10, 500, (None,)).quantile(0.5) is None


def test_rlsvi_is_measured_by_learning_time():
    (times,) = measure("rlsvi", depths=[6], seeds=5, budget=100)
    assert times.depth == 6
    assert times.done == 5
    assert max(times.times) < 60


def test_a_decay_runs_over_the_budget():
    (job,) = deep_exploration.SERIES["dqn_decay"].jobs(4, 1, 77)
    assert job.changes["epsilon_decay_episodes"] == job.episodes == 77
    (plain,) = deep_exploration.SERIES["dqn"].jobs(4, 1, 77)
    assert plain.changes == {}


def test_unknown_series_are_named():
    with pytest.raises(UserError, match="unknown series"):
        measure("rlsv")
