"""A job as text and back."""

import json

import numpy as np
import pytest

from langevin_dqn import UserError
from langevin_dqn.runs.runners import Job

JOBS = [
    Job("dqn", "deep_sea/0", 3),
    Job("dqn", "deep_sea/0", 3, 8, "released", True, {"hidden": (5, 5), "epsilon": 0.1}),
    Job("boot_dqn", "bandit/0", 0, steps=50, record="q", keep_agent=True, network="python:mine:net"),
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
    job = Job("dqn", "deep_sea/0", 0, changes={"learning_rate": np.float32(0.5), "members": np.int64(2)})
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
