"""The table of learning times, where a sweep is half finished."""

import math

import polars as pl

from langevin_dqn.analysis import learning_times


def test_seeds_that_lack_depths_do_not_count_beside_those_that_have_all():
    runs = [("a", 0, 10, 50.0), ("a", 0, 20, math.inf), ("a", 1, 20, math.inf), ("b", 0, 10, 9.0), ("b", 0, 20, 9.0)]
    times = pl.DataFrame(runs, schema=["agent", "seed", "depth", "time"], orient="row")
    found = learning_times.scores(times, ("agent",))
    assert found.select("agent", "seed", "score").rows() == [("a", 0, 0.5), ("b", 0, 1.0)]
