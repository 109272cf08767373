"""Which of a store's runs are repeated: some of every kind, short ones first."""

from collections import Counter
from pathlib import Path

import pytest

from langevin_dqn import presets
from langevin_dqn.presets import preset
from langevin_dqn.runs import stored_jobs
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store, key_of
from langevin_dqn.runs.stored_jobs import job_of, learner_of, sample, stratum_of

RESULTS = Path(__file__).parents[2] / "results"


def row(agent="dqn", env="deep_sea:depth=4", seconds=1.0, reading="paper", **changes):
    about = {"agent": agent, "env": env, "preset": reading, "seconds": seconds}
    return about | preset(agent, reading, **changes).to_dict()


@pytest.mark.parametrize(
    ("stored", "learner"),
    [
        (row(env="deep_sea:depth=24"), "dense"),  # 576 states
        (row(env="deep_sea:depth=25"), "lazy"),  # 625 states
        (row(env="deep_sea/10"), "lazy"),  # depth 30
        (row(env="deep_sea:depth=25", row_updates="dense"), "dense"),
        (row(env="deep_sea:depth=4", row_updates="sleeping"), "lazy"),
        (row(env="deep_sea:depth=25", optimizer="sgd"), "dense"),
        (row("langevin_dqn", env="deep_sea:depth=25"), "dense"),  # it has a regularizer
        (row("langevin_dqn", env="deep_sea:depth=25", regularizer=0), "lazy"),
        (row("ensemble_langevin_dqn", env="deep_sea:depth=25"), "lazy"),
        (row("ensemble_langevin_dqn", env="deep_sea:depth=25", reading="released"), "dense"),  # the prior has noise
        (row(env="cartpole/0"), "dense"),
        (row(env="gym:CartPole-v1"), "dense"),
        (row(env="no_such_environment"), "dense"),
    ],
)
def test_learner_of_a_row(stored, learner):
    assert learner_of(stored) == learner


@pytest.mark.parametrize("env", ["gym:CartPole-v1", "gym:sys:Lake-v1", "dm:sys:exit", "python:sys:exit"])
def test_what_an_id_names_is_not_imported_to_learn_the_kind_of_a_row(env, monkeypatch):
    monkeypatch.setattr(stored_jobs, "_learner", lambda *_: pytest.fail("the environment is made"))
    assert learner_of(row(env=env)) == "dense"


def test_a_row_from_before_a_setting_existed_has_its_default():
    stored = row(env="deep_sea:depth=25") | {"optimizer": None, "update_timing": None}
    assert stratum_of(stored) == ("lazy", "dqn", "paper", "between", "deep_sea")


def test_a_sample_has_every_kind_before_it_has_one_twice():
    many = [row(seconds=second) for second in range(1, 50)]
    few = [
        row(env="deep_sea:depth=25", seconds=500),
        row(env="deep_sea:depth=25", seconds=400),
        row("boot_dqn", seconds=300),
        row(reading="released", seconds=200),
        row(env="bandit/0", seconds=100),
        row(update_timing="within", seconds=90),
    ]
    chosen = sample(many + few, 6)
    assert len({stratum_of(stored) for stored in chosen}) >= 5
    assert Counter(learner_of(stored) for stored in chosen) == {"dense": 4, "lazy": 2}
    assert [stored["seconds"] for stored in chosen if learner_of(stored) == "lazy"] == [400, 500]
    assert chosen[0]["seconds"] == 1


def test_learners_take_turns_before_agents_do():
    """One agent with lazy rows, four without: two of four runs have them."""
    lazy = [row(env="deep_sea:depth=25", seconds=second) for second in (1, 2, 3)]
    dense = [row(agent, seconds=10) for agent in ("dqn", "boot_dqn", "langevin_dqn", "ensemble_langevin_dqn")]
    assert Counter(learner_of(stored) for stored in sample(lazy + dense, 4)) == {"lazy": 2, "dense": 2}


def test_a_sample_is_never_larger_than_what_there_is():
    rows = [row(seconds=2), row(seconds=1), row("boot_dqn")]
    assert len(sample(rows, 9)) == 3
    assert sample(rows, 0) == sample([], 3) == []


def test_forty_committed_runs_are_of_many_kinds():
    chosen = sample(Store(RESULTS).load().to_dicts(), 40)
    assert sum(learner_of(stored) == "lazy" for stored in chosen) >= 8
    strata = [stratum_of(stored) for stored in chosen]
    assert {stratum.agent for stratum in strata} == {"dqn", "langevin_dqn", "boot_dqn", "ensemble_langevin_dqn"}
    assert {stratum.preset for stratum in strata} == {"recommended", "paper", "released"}
    assert len({stratum.family for stratum in strata}) >= 12


def test_a_run_of_a_preset_that_has_changed_since(tmp_path, monkeypatch):
    """Its key and its settings stay; the job says what the preset no longer does."""
    job = Job("dqn", "bandit/0", 0, 3, changes={"batch_size": 16})
    store = Store(tmp_path)
    store.put(job, job.run())
    before = preset("dqn")
    (stored,) = store.load().to_dicts()
    assert job_of(stored) == job
    monkeypatch.setitem(presets.RECOMMENDED, "dqn", presets.RECOMMENDED["dqn"] | {"learning_rate": 0.5})
    assert not store.has(job)
    (stored,) = store.load().to_dicts()
    found = job_of(stored)
    assert found.changes == {"batch_size": 16, "learning_rate": before.learning_rate}
    assert key_of(found) == stored["key"]
    assert store.has(found)
    assert job_of(stored | {"learning_rate": 0.25}) is None


@pytest.mark.parametrize("stops", [False, True])
def test_a_row_older_than_its_column_of_the_job(tmp_path, stops):
    """Its key says whether the run was to stop once it had learned."""
    job = Job("dqn", "deep_sea:depth=4", 0, 3, "paper", stop_when_solved=stops, changes={"batch_size": 16})
    store = Store(tmp_path)
    store.put(job, job.run())
    (stored,) = store.load().to_dicts()
    assert job_of(stored | {"job": None}) == job


@pytest.mark.parametrize(
    ("column", "other"),
    [("agent", "boot_dqn"), ("env", "bandit/1"), ("seed", 1), ("preset", "released"), ("asked_episodes", 4)],
)
def test_a_row_whose_columns_contradict_its_job_is_of_no_job(tmp_path, column, other):
    job = Job("dqn", "bandit/0", 0, 3, "paper")
    store = Store(tmp_path)
    store.put(job, job.run())
    (stored,) = store.load().to_dicts()
    assert job_of(stored) == job
    assert job_of(stored | {column: other}) is None
