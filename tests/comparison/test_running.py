"""``sweep``: what it runs, what it keeps, and what it refuses before anything runs."""

import numpy as np
import pytest

import langevin_dqn
from langevin_dqn import UserError, sweep, train
from langevin_dqn.comparison.running import entries_of
from langevin_dqn.runs.runners import Failure, Job
from langevin_dqn.runs.store import Store, load_results

WALK = "python:random_walk:RandomWalk"
ENVS = ["probe_action", "jax:own_environment:lock:digits=2"]

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture
def nothing_runs(monkeypatch):
    """A run that starts is a failure of the test."""
    monkeypatch.setattr(Job, "run", lambda *_: pytest.fail("a run has started"))


def test_a_row_is_what_train_gives(tmp_path):
    runs = sweep([WALK], ENVS, seeds="0-1", episodes=12, store=tmp_path, workers=1)
    assert runs.select("agent", "env", "seed").rows() == [(WALK, env, seed) for env in ENVS for seed in (0, 1)]
    for row in runs.iter_rows(named=True):
        result = train(WALK, row["env"], seed=row["seed"], episodes=12)
        assert row["returns"] == result.returns.tolist()
        assert row["lengths"] == result.lengths.tolist()
        assert (row["episodes"], row["steps"]) == (12, result.steps)
        assert row["mean_return"] == pytest.approx(np.mean(result.returns, dtype=np.float64))


def test_what_is_stored_is_not_run_again(tmp_path, monkeypatch):
    """After an interruption, the same call runs the rest; then it runs nothing and gives the same table."""
    options = {"seeds": range(3), "episodes": 6, "store": tmp_path, "workers": 1}

    def stop_after_one(done, total, outcome):
        assert (done, total, outcome.episodes) == (1, 3, 6)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(WALK, "probe_action", progress=stop_after_one, **options)
    assert 1 <= len(Store(tmp_path).names()) < 3
    ended = []
    runs = sweep(WALK, "probe_action", progress=lambda done, total, outcome: ended.append((done, total)), **options)
    assert ended[-1] == (len(ended), len(ended))
    assert len(ended) < 3
    monkeypatch.setattr(Job, "run", lambda *_: pytest.fail("a stored run was run again"))
    assert sweep(WALK, "probe_action", **options).equals(runs)
    assert load_results(tmp_path).height == 3


def test_the_runs_are_those_of_the_run_command(tmp_path):
    """The store of ``run`` and of ``compare`` is one: same job, same key."""
    (entry,) = entries_of("dqn:epsilon=0.1", "deep_sea/0", seeds=[3], preset="paper")
    assert entry.job == Job("dqn", "deep_sea/0", 3, 10_000, "paper", changes={"epsilon": 0.1})
    (entry,) = entries_of("dqn", "gym:CartPole-v1", seeds=[0])
    assert entry.job.episodes == 1000
    (entry,) = entries_of("dqn", "gym:CartPole-v1", seeds=[0], steps=50)
    assert (entry.job.episodes, entry.job.steps) == (None, 50)


def test_a_failure_is_a_row(monkeypatch):
    def run(jobs, **_):
        yield 1, Failure(jobs[1], "lost")
        yield 0, jobs[0].run()

    monkeypatch.setattr("langevin_dqn.runs.runners.processes.run_in_processes", run)
    runs = sweep(WALK, "probe_action", seeds=range(2), episodes=3, runner="processes")
    assert runs["failed"].to_list() == [None, "lost"]
    assert runs["episodes"].to_list() == [3, None]


@pytest.mark.slow
def test_threads_and_processes_give_the_same_runs():
    by_runner = [
        sweep(WALK, "probe_action", seeds=range(2), episodes=5, runner=runner).drop("seconds")
        for runner in ("threads", "processes")
    ]
    assert by_runner[0].equals(by_runner[1])


@pytest.mark.parametrize(
    ("agents", "envs", "options", "message"),
    [
        ("dqn", "deep_se", {}, "unknown environment 'deep_se'"),
        ("dqn", "gym:CartPol-v1", {}, "Gymnasium has no environment"),
        ("dqn", [], {}, "no environments to run"),
        ("dqn", [object()], {}, "are passed by id"),
        ("dqn", 3, {}, "are passed by id"),
        ("dqn", "catch,catch", {}, "environment 'catch' is named twice"),
        ("dqn,dqn:epsilon=0.05", "catch", {}, "dqn and dqn:epsilon=0.05 are the same agent on catch"),
        ("dqn:row_updates=lazy", "catch", {}, "row_updates=lazy needs observations that are indices"),
        (f"{WALK}:size=3", "catch", {}, "unexpected keyword argument 'size'"),
        (
            "dqn",
            "catch",
            {"seeds": 3},
            r"seeds=3 is ambiguous: one seed, or 3 seeds\nhint: write seeds=range\(3\) or seeds=\[3\]",
        ),
        ("dqn", "catch", {"seeds": []}, "no seeds to run"),
        ("dqn", "catch", {"seeds": "a"}, "seeds 'a' cannot be read"),
        ("dqn", "catch", {"seeds": [-1]}, "seed=-1 is out of range"),
        ("dqn", "catch", {"seeds": None}, "cannot be read"),
        ("dqn", "catch", {"episodes": 0}, "episodes=0 is out of range"),
        ("dqn", "catch", {"runner": "cloud"}, "unknown runner 'cloud'"),
        ("dqn", "catch", {"workers": 0}, "workers=0 is out of range"),
        ("dqn", "catch", {"epsylon": 1}, "unknown field 'epsylon'"),
        ("dqn", "catch", {"store": "/proc/store"}, "cannot write to /proc/store"),
    ],
)
def test_mistakes_are_found_before_anything_runs(nothing_runs, agents, envs, options, message):
    with pytest.raises(UserError, match=message):
        sweep(agents, envs, **options)


def test_a_store_that_is_a_file(tmp_path, nothing_runs):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="is a file\nhint: a store is a folder"):
        sweep("dqn", "catch", store=tmp_path / "file")


def test_it_is_a_public_name():
    assert langevin_dqn.sweep is sweep
