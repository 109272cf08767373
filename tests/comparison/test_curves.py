"""Learning curves against episodes and steps."""

import numpy as np
import pytest
from made_up import entry, result

from langevin_dqn.comparison.curves import curve_of, smoothed
from langevin_dqn.comparison.table import table_of


def runs_of(*made):
    entries = [entry(seed=seed) for seed in range(len(made))]
    return table_of(entries, [result(one, *args, **more) for one, (args, more) in zip(entries, made, strict=True)])


def test_a_point_is_the_mean_of_a_tenth_of_the_episodes():
    returns = np.random.default_rng(0).normal(size=200)
    x, y = smoothed(returns, np.full(200, 3), "episodes")
    assert (x[0], x[-1]) == (20, 200)
    assert y[0] == pytest.approx(returns[:20].mean())
    assert y[-1] == pytest.approx(returns[180:].mean())
    assert y[50] == pytest.approx(returns[50:70].mean())
    steps, same = smoothed(returns, np.full(200, 3), "steps")
    assert steps.tolist() == (3 * x).tolist()
    assert same.tolist() == y.tolist()


def test_the_last_point_is_the_final_return():
    runs = runs_of(*[((np.arange(40) * seed,), {}) for seed in range(5)])
    curve = curve_of(runs, "episodes")
    assert curve.seeds[:, -1].tolist() == runs["final_return"].to_list()
    assert curve.middle[-1] == pytest.approx(np.mean(sorted(runs["final_return"])[1:4]))
    assert curve.low is not None
    assert (curve.low <= curve.middle + 1e-9).all()
    assert (curve.middle <= curve.high + 1e-9).all()


def test_it_ends_where_the_shortest_run_ends():
    """Two runs of 30 episodes, one with longer ones; one that diverged early keeps its value."""
    runs = runs_of(
        (([1.0] * 30, [10] * 30), {}),
        (([2.0] * 30, [20] * 30), {}),
        (([3.0] * 3, [10] * 3), {"diverged": "not finite"}),
    )
    curve = curve_of(runs, "steps")
    assert curve.x[-1] == 300
    assert curve.seeds[:, -1].tolist() == [1.0, 2.0, 3.0]
    assert curve_of(runs, "episodes").x[-1] == 30


def test_few_seeds_and_none():
    two = curve_of(runs_of((([1.0] * 9,), {}), (([3.0] * 9,), {})), "episodes")
    assert two.low is two.high is None
    assert set(two.middle) == {2.0}
    assert curve_of(runs_of((([],), {})), "episodes") is None
