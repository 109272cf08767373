"""A job as text and back."""

import json

import numpy as np
import pytest

from langevin_dqn import UserError
from langevin_dqn.presets import preset
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.runners.job import attempt
from langevin_dqn.runs.store import Store, key_of
from langevin_dqn.runs.stored_jobs import job_of

JOBS = [
    Job("dqn", "deep_sea/0", 3, preset="paper"),
    Job("dqn", "deep_sea/0", 3, 8, "released", True, {"hidden": (5, 5), "epsilon": 0.1}),
    Job("boot_dqn", "bandit/0", 0, preset="paper", steps=50, record="q", keep_agent=True, network="python:mine:net"),
    Job("python:mine:agent", "jax:mine:env", 1, 2, changes={"size": 3, "names": ("a", "b")}),
]


@pytest.mark.parametrize("job", JOBS, ids=str)
def test_there_and_back(job):
    assert Job.from_json(job.to_json()) == job


def test_what_is_none_is_left_out():
    assert json.loads(JOBS[0].to_json()) == {
        "agent": "dqn", "env": "deep_sea/0", "seed": 3, "preset": "paper", "stop_when_solved": False, "changes": {}
    }  # fmt: skip


def test_numbers_of_numpy():
    job = Job(
        "dqn", "deep_sea/0", 0, preset="paper", changes={"learning_rate": np.float32(0.5), "members": np.int64(2)}
    )
    assert Job.from_json(job.to_json()).changes == {"learning_rate": 0.5, "members": 2}


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", "3", '"dqn"', "{}",
        '{"agent": "dqn", "env": "deep_sea/0", "seed": 0}',
        '{"agent": "dqn", "env": "deep_sea/0", "seed": 0, "changes": []}',
        '{"agent": "dqn", "env": "deep_sea/0", "seed": 0, "changes": {}, "other": 1}',
        '{"agent": ["dqn"], "env": "deep_sea/0", "seed": 0, "changes": {}}',
        '{"agent": "dqn", "env": null, "seed": 0, "changes": {}}',
        '{"agent": "dqn", "env": "deep_sea/0", "seed": 0, "changes": {}, "network": 1}',
    ],
)  # fmt: skip
def test_what_is_no_job(text):
    with pytest.raises(UserError, match="is not a job"):
        Job.from_json(text)


CONFIG = preset("langevin_dqn", "paper", hidden=(5, 5), noise_variance=0.01)


def test_an_agent_given_as_a_configuration():
    """It is the same run as the one that a preset's name and its changes stand for, and comes back from text."""
    job = Job(CONFIG, "deep_sea:depth=4", 0, 3)
    assert job.agent == "custom"
    assert Job.from_json(job.to_json()) == job
    named = Job("langevin_dqn", "deep_sea:depth=4", 0, 3, "paper", changes={"hidden": (5, 5), "noise_variance": 0.01})
    assert key_of(job) == key_of(named)
    assert Job(CONFIG, "deep_sea:depth=4", 0, 3, changes={"members": 2}).changes["members"] == 2
    with pytest.raises(UserError, match="preset=paper does not apply"):
        Job(CONFIG, "deep_sea:depth=4", 0, preset="paper")


def test_a_run_of_a_configuration_is_stored_and_found(tmp_path):
    job = Job(CONFIG, "deep_sea:depth=4", 0, 3)
    result = job.run()
    assert (result.agent, result.preset, result.config) == ("custom", "custom", CONFIG)
    store = Store(tmp_path)
    store.put(job, result)
    found = store.get(job)
    assert (found.agent, found.preset, found.config) == ("custom", "custom", CONFIG)
    assert found.returns.tolist() == result.returns.tolist()
    (row,) = store.load().to_dicts()
    assert job_of(row) == job


@pytest.mark.parametrize(("agent", "env"), [(object(), "deep_sea/0"), ("dqn", object())])
def test_objects_are_refused(agent, env):
    with pytest.raises(UserError, match="a job takes the id of its") as error:
        Job(agent, env, 0)
    assert "package.module:factory" in error.value.hint


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (MemoryError("no room"), "MemoryError: no room; use fewer workers"),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory"), "; use fewer workers"),
        (RuntimeError("no luck"), "RuntimeError: no luck"),
    ],
    ids=str,
)
def test_a_job_that_runs_out_of_memory_says_what_to_do(error, remedy, monkeypatch):
    def run(self, progress=None):
        raise error

    monkeypatch.setattr(Job, "run", run)
    failed = attempt(Job("dqn", "bandit/0", 0, 1))
    assert failed.reason.endswith(remedy)
