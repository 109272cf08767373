"""Interquartile means, intervals and normalised scores of a table of runs."""

import pytest
from made_up import entry, result, table

from langevin_dqn import UserError
from langevin_dqn.comparison.summary import summarise
from langevin_dqn.comparison.table import table_of
from langevin_dqn.runs.runners import Failure


def rows(runs, **options):
    return {(row["env"], row["agent"]): row for row in summarise(runs, **options).iter_rows(named=True)}


def test_one_environment():
    found = rows(table({"a": {"dqn": [0, 1, 2, 3, 10], "boot_dqn": [5, 5, 5, 5, 5]}}))
    assert list(found) == [("a", "dqn"), ("a", "boot_dqn")]  # nothing to average over
    first, second = found.values()
    assert first["iqm"] == 2.0
    assert 0 <= first["low"] < 2 < first["high"] <= 10
    assert (second["iqm"], second["low"], second["high"], second["seeds"]) == (5.0, 5.0, 5.0, 5)
    assert (first["level"], first["resamples"], first["score"]) == (0.95, 10_000, "final_return")
    assert first["normalised"] == pytest.approx(0.2)


def test_environments_are_normalised_before_they_are_averaged():
    """Returns of 0 to 500 in one and -1 to 1 in the other: each counts as 0 to 1."""
    found = rows(
        table({"a": {"dqn": [0, 0, 0], "boot_dqn": [500, 500, 500]}, "b": {"dqn": [1, 1, 1], "boot_dqn": [-1, 0, 1]}})
    )
    assert found["all", "dqn"]["iqm"] == 0.5  # three runs at 0, three at 1
    assert found["all", "boot_dqn"]["iqm"] == pytest.approx((0.5 + 1 + 1 + 1) / 4)  # 0, 1/2, 1, 1, 1, 1
    assert found["all", "dqn"]["seeds"] == 6
    assert found["all", "dqn"]["low"] == found["all", "dqn"]["high"] == 0.5


def test_a_reference_sets_other_bounds():
    runs = table({"a": {"dqn": [100] * 3}, "b": {"dqn": [0, 1, 2]}})
    found = rows(runs, reference={"a": (0, 200)})
    assert found["a", "dqn"]["normalised"] == 0.5
    assert found["b", "dqn"]["normalised"] == 0.5
    assert found["all", "dqn"]["iqm"] == 0.5
    for reference, message in ({"c": (0, 1)}, "unknown environment"), ({"a": (1, 0)}, "is not a range"):
        with pytest.raises(UserError, match=message):
            summarise(runs, reference=reference)


def test_an_environment_that_tells_nothing_apart_is_left_out():
    found = rows(table({"a": {"dqn": [1] * 3, "boot_dqn": [1] * 3}, "b": {"dqn": [0] * 3, "boot_dqn": [1] * 3}}))
    assert found["a", "dqn"]["normalised"] is None
    assert (found["all", "dqn"]["iqm"], found["all", "boot_dqn"]["iqm"]) == (0.0, 1.0)
    assert found["all", "dqn"]["seeds"] == 3


def test_an_agent_without_runs_in_one_has_no_average():
    found = rows(table({"a": {"dqn": [0, 1, 2]}, "b": {"dqn": [0, 1, 2], "boot_dqn": [1, 1, 1]}}))
    assert ("all", "dqn") in found
    assert ("all", "boot_dqn") not in found
    assert ("a", "boot_dqn") not in found


def test_few_seeds_have_no_interval():
    found = rows(table({"a": {"dqn": [0, 1], "boot_dqn": [0, 1, 2]}, "b": {"dqn": [0, 1, 2], "boot_dqn": [0, 1, 2]}}))
    assert found["a", "dqn"]["low"] is found["all", "dqn"]["high"] is None
    assert found["a", "dqn"]["iqm"] == 0.5
    assert found["b", "dqn"]["low"] is not None
    assert found["all", "boot_dqn"]["low"] is not None


def test_scores_and_counts():
    entries = [entry(seed=seed) for seed in range(5)]
    half = [0.0] * 50 + [1.0] * 50
    outcomes = [
        result(entries[0], half, max_return=1.0, learned_regret=0.8),
        result(entries[1], [0.0] * 100, max_return=1.0, learned_regret=0.8),
        result(entries[2], half, max_return=1.0, learned_regret=0.8, diverged="not finite"),
        result(entries[3], [], max_return=1.0, learned_regret=0.8),
        Failure(entries[4].job, "lost"),
    ]
    runs = table_of(entries, outcomes)
    final, mean = rows(runs)["deep_sea", "dqn"], rows(runs, score="mean_return")["deep_sea", "dqn"]
    assert final["iqm"] == pytest.approx(2 / 3)
    assert mean["iqm"] == pytest.approx(1 / 3)
    assert (final["seeds"], final["without_score"], final["learned"], final["diverged"]) == (
        3,
        2,
        1,
        1,
    )  # a run that diverged has not learned


@pytest.mark.parametrize(("options", "message"), [({"score": "best"}, "unknown score"), ({"level": 1}, "out of range")])
def test_mistakes(options, message):
    with pytest.raises(UserError, match=message):
        summarise(table({"a": {"dqn": [1]}}), **options)
