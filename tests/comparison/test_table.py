"""A row per run, and what its columns say."""

import numpy as np
import polars as pl
import pytest
from made_up import entry, result

from langevin_dqn.comparison.table import final_episodes, table_of
from langevin_dqn.runs.runners import Failure


def test_the_end_of_a_run_is_a_tenth_of_it():
    assert [final_episodes(n) for n in (0, 3, 10, 50, 100, 101, 1000)] == [0, 3, 10, 10, 10, 11, 100]


def test_columns():
    one = entry(changes={"members": 2, "epsilon": 0.5}, crossed={"epsilon": 0.5}, label="mine")
    done = result(one, np.arange(30), max_return=29.0, learned_regret=20.0, lengths=np.full(30, 2))
    row = table_of([one], [done]).row(0, named=True)
    assert (row["agent"], row["name"], row["preset"], row["env"], row["seed"]) == (
        "mine",
        "dqn",
        "paper",
        "deep_sea",
        0,
    )
    assert row["settings"] == '{"members": 2, "epsilon": 0.5}'
    assert row["epsilon"] == 0.5
    assert (row["episodes"], row["steps"], row["updates"], row["seconds"]) == (30, 60, 3, 1.5)
    assert row["final_return"] == np.arange(20, 30).mean()
    assert row["mean_return"] == np.arange(30).mean()
    assert (row["best_return"], row["max_return"]) == (29.0, 29.0)
    assert row["regret"] == 29 * 30 / 2
    assert row["learned"] is True
    assert row["learning_time"] == 20  # the regret of 20 episodes is 390, below 400
    assert row["returns"] == list(range(30))
    assert row["lengths"] == [2] * 30
    assert row["diverged"] is row["failed"] is None


def test_what_is_unknown_is_null():
    one, two, three = entry(seed=0), entry(seed=1), entry(seed=2)
    silent, failed, missing = result(one, []), Failure(two.job, "lost"), None
    found = table_of([one, two, three], [silent, failed, missing])
    assert found["seed"].to_list() == [0, 1]
    assert found["failed"].to_list() == [None, "lost"]
    assert found["final_return"].null_count() == 2
    assert found["episodes"].to_list() == [0, None]
    assert found["learned"].null_count() == 2
    assert found.schema["final_return"] == pl.Float64
    assert table_of([], []).schema["returns"] == pl.List(pl.Float32)


def test_settings_of_a_grid_are_columns():
    entries = [
        entry("dqn", crossed={"hidden": (5, 5), "epsilon": 0.5}),
        entry("python:a:B", crossed={"epsilon": 1, "name": "x"}),
        entry("boot_dqn"),
    ]
    found = table_of(entries, [result(one, [1.0]) for one in entries])
    assert found["hidden"].to_list() == ["5,5", None, None]
    assert found["epsilon"].to_list() == ["0.5", "1", None]  # of two types: as text
    assert found["grid_name"].to_list() == [None, "x", None]  # there is a column name already
    assert found["name"].to_list() == ["dqn", "python:a:B", "boot_dqn"]


def test_to_pandas():
    pytest.importorskip("pyarrow")
    one = entry(crossed={"epsilon": 0.5})
    frame = table_of([one], [result(one, [1.0, 2.0])]).to_pandas()
    assert frame.loc[0, "mean_return"] == 1.5
    assert list(frame.loc[0, "returns"]) == [1.0, 2.0]
