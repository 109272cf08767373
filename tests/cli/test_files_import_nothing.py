"""A store that somebody else made runs none of their code, whatever ids its rows have."""

import dataclasses
import json
import shutil
import sys

import numpy as np
import polars as pl
import pytest

import langevin_dqn
from langevin_dqn import UserError
from langevin_dqn.agents import registry
from langevin_dqn.analysis import learning_times
from langevin_dqn.config import AgentConfig
from langevin_dqn.paper.registry import choose
from langevin_dqn.presets import preset
from langevin_dqn.runs import checksum
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store
from langevin_dqn.runs.stored_jobs import job_of, learner_of

GOOD = Job("dqn", "probe_value", 0, 5, preset="paper")


def result_of(job, config):
    return Result(
        job.agent, job.env, job.seed, job.preset, config, 0.99, np.zeros(5, np.float32), 5, 0.01,
        lengths=np.ones(5, np.int32), learned_regret=0.8,
    )  # fmt: skip


def put(store, job, config=None):
    return store.put(job, result_of(job, config or preset(job.agent, job.preset, **job.changes)))


@pytest.fixture
def mark(tmp_path):
    """A file that the code in an id would make."""
    return tmp_path / "mark"


@pytest.fixture
def evil(mark):
    return f"dm:subprocess:getoutput:cmd=touch {mark}"


@pytest.fixture
def store(tmp_path, evil):
    """A good run, and one whose environment is a command; their keys are right."""
    store = Store(tmp_path / "store")
    put(store, Job("dqn", evil, 0, 5, preset="paper"))
    store.put(GOOD, GOOD.run())
    return store


def change(path, **columns):
    """Somebody who changes a file on purpose writes its checksum, too."""
    table = pl.read_parquet(path).drop(checksum.COLUMN)
    changed = table.with_columns(**{name: pl.lit(value) for name, value in columns.items()})
    checksum.added(changed).write_parquet(path)


def test_verify_leaves_it_out_and_says_so(langevin_dqn_command, store, evil, mark):
    code, out, err = langevin_dqn_command("verify", "--store", store.folder, "--rerun", 9)
    assert (code, out) == (0, f"{store.folder}: all checks passed\n")
    assert "2 runs read" in err
    assert "1 run to repeat, 0 of them with lazy rows" in err
    assert f"not repeated, because it would import code: runs of {evil}" in err
    assert "hint: add --trust ID" in err
    assert not mark.exists()


def test_verify_follows_an_id_that_the_user_names(langevin_dqn_command, store, evil, mark):
    """Which also shows that the id is one that would run."""
    langevin_dqn_command("verify", "--store", store.folder, "--rerun", 9, "--trust", "dm:other:id", "--trust", evil)
    assert mark.exists()


def test_another_id_is_not_trusted(langevin_dqn_command, store, evil, mark):
    langevin_dqn_command("verify", "--store", store.folder, "--rerun", 9, "--trust", evil.replace("touch", "rm"))
    assert not mark.exists()


@pytest.mark.parametrize("column", ["env", "job"])
def test_report_takes_names_from_the_figure_and_not_from_the_file(
    langevin_dqn_command, tmp_path, evil, mark, made_up_store, column
):
    """Rows of a figure's own runs that were changed afterwards."""
    folder = shutil.copytree(made_up_store, tmp_path / "copy")
    for path in folder.glob("v*/*.parquet"):
        text = Job.from_json(pl.read_parquet(path)["job"].item())
        change(path, **{column: evil if column == "env" else dataclasses.replace(text, env=evil).to_json()})
    words = ("--store", folder, "--scale", "quick")
    assert langevin_dqn_command("report", *words, "--json")[0] == 0
    assert langevin_dqn_command("report", *words, "--out", tmp_path / "page.html")[0] == 0
    assert langevin_dqn_command("status", "--store", folder)[0] == 0
    code, out, _ = langevin_dqn_command("verify", "--store", folder, "--rerun", 3)
    assert code == 1
    assert "does not match its key" in out
    assert not mark.exists()


def test_a_run_comes_back_under_the_names_it_was_asked_for_by(tmp_path, evil):
    store = Store(tmp_path)
    (job, *_) = choose(["fig2"])[0].jobs["quick"]
    path = put(store, job)
    change(path, env=evil, agent="python:evil:agent", seed=99, preset="other")
    found = store.get(job)
    assert (found.agent, found.env, found.seed, found.preset) == (job.agent, job.env, job.seed, job.preset)


@pytest.mark.slow
def test_reproduce_and_bsuite_with_a_file_that_was_changed(langevin_dqn_command, tmp_path, evil, mark):
    tiny = ("--episodes-scale", "0.002", "--set", "hidden=4", "--set", "batch_size=8", "--json")
    words = ("bsuite", "--agents", "dqn", "--settings", "bandit/0", "--store", tmp_path / "store", *tiny)
    assert langevin_dqn_command(*words)[0] == 0
    (path,) = (tmp_path / "store").glob("v*/*.parquet")
    change(path, env=evil)
    assert langevin_dqn_command(*words)[0] == 0
    assert langevin_dqn_command("reproduce", "fig2", "--plan", "--store", tmp_path / "store")[0] == 0
    assert not mark.exists()


def test_tables_and_analyses(store, evil, mark):
    rows = langevin_dqn.load_results(store.folder).to_dicts()
    assert [learner_of(row) for row in rows] == ["dense", "dense"]
    assert all(job_of(row) for row in rows)
    with pytest.raises(UserError, match="would import code"):
        learning_times.depth_of(evil)
    with pytest.raises(UserError, match="would import code"):
        learning_times.table([result_of(Job("dqn", evil, 0, preset="paper"), AgentConfig())])
    assert [learning_times.depth_of(env) for env in ("deep_sea:depth=7", "deep_sea_stochastic:depth=6")] == [7, 6]
    assert not mark.exists()


@pytest.fixture
def own_agents(monkeypatch):
    """What the registry says of agents that are none of the presets; ``calls`` has who was asked about."""
    calls = []

    def describe_agent(agent, changes, env, network):
        calls.append(agent)
        return {"class": "Mine", "version": "1", **changes}

    monkeypatch.setattr(registry, "describe_agent", describe_agent)
    return calls


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"agent": "python:evil:agent", "changes": {"size": 3}}, "python:evil:agent"),
        ({"agent": "mine", "network": "python:evil:net"}, "python:evil:net"),
        ({"agent": "mine", "env": "jax:evil:env"}, "jax:evil:env"),
    ],
)
def test_agents_and_networks_of_ones_own(langevin_dqn_command, tmp_path, own_agents, changes, named):
    store, job = Store(tmp_path / "store"), dataclasses.replace(GOOD, **changes)
    put(store, job, {"class": "Mine", "version": "1", **job.changes})
    own_agents.clear()
    code, out, err = langevin_dqn_command("verify", "--store", store.folder, "--rerun", 2)
    assert (code, out) == (0, f"{store.folder}: all checks passed\n")
    assert "0 runs to repeat" in err
    assert f"runs of {named}\n" in err
    assert own_agents == []  # to describe an agent, its code is imported
    assert "evil" not in sys.modules
    change(store.path(job), agent_description=json.dumps({"class": "Other"}))
    assert langevin_dqn_command("verify", "--store", store.folder)[0] == 1


def test_what_is_trusted_brings_nothing_else_with_it():
    """``train`` would take these for its own arguments."""
    with pytest.raises(UserError, match="changes cannot set 'network'"):
        Job("python:good:agent", "deep_sea/0", 0, changes={"network": "python:evil:net"})
    text = json.dumps({"agent": "a", "env": "b", "seed": 0, "changes": {"network": "python:evil:net"}})
    with pytest.raises(UserError):
        Job.from_json(text)
