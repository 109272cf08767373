"""An environment of one's own by its id: on the command line, in a store, and in a sweep on worker processes."""

import json

import numpy as np
from own_environment import lock

import langevin_dqn
from langevin_dqn.cli.sweep import run_missing, runner_of
from langevin_dqn.paper.plan import plan_of
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store, key_of

LOCK = "jax:own_environment:lock:digits=3"
WALK = "python:random_walk:RandomWalk"


def test_by_id_on_the_command_line(command, tmp_path):
    common = ("--env", LOCK, "--seeds", "0-1", "--episodes", "40", "--json")
    code, out, err = command("run", "--agent", WALK, *common, "--save", tmp_path)
    assert code == 0, err
    by_object = langevin_dqn.train(WALK, lock(3), seed=1, episodes=40)
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["env"] for record in records] == [LOCK, LOCK]
    assert records[1]["total_return"] == by_object.total_return
    code, out, err = command("evaluate", tmp_path, "--agent", WALK, "--env", LOCK, "--json")
    assert code == 0, err
    assert all(set(json.loads(line)["returns"]) <= {0.0, 1.0} for line in out.splitlines())
    code, _, err = command("evaluate", tmp_path, "--agent", WALK)
    assert code == 2
    assert f"names {LOCK!r}, which would import code" in err


def test_a_sweep_on_worker_processes_is_resumed(tmp_path):
    """Workers import both ids; a second sweep finds every run in the store."""
    store = Store(tmp_path)
    jobs = [Job(WALK, LOCK, seed, 30) for seed in (0, 1)]
    jobs.append(Job("python:tabular_rlsvi:TabularRLSVI", LOCK, 0, 30, stop_when_solved=True))
    plan = plan_of(jobs, store)
    assert len(plan.missing) == 3
    assert run_missing("a lock", store, plan.missing, plan.seconds, runner_of("processes", None, 2)) == []
    assert plan_of(jobs, store).missing == ()
    for job in jobs:
        kept = store.get(job)
        assert (kept.env, kept.agent) == (LOCK, job.agent)
        np.testing.assert_array_equal(kept.returns, job.run().returns)
    assert store.get(jobs[2]).solved
    assert key_of(jobs[0]) != key_of(Job(WALK, LOCK.replace("3", "4"), 0, 30))
