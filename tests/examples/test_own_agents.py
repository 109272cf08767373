"""Agents from outside the package: through train, the command line, a store, a sweep and evaluate."""

import io
import json

import numpy as np
import pytest
from noisy_dqn import make
from random_walk import RandomWalk
from tabular_rlsvi import TabularRLSVI

import langevin_dqn
from langevin_dqn.cli.sweep import run_missing, runner_of
from langevin_dqn.paper.plan import plan_of
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store, key_of

SEA = "deep_sea:depth=3"
EPISODES = 12

#: By id: the agent, and the settings that make it.
OWN = {
    "python:random_walk:RandomWalk": (RandomWalk, {}),
    "python:tabular_rlsvi:TabularRLSVI": (TabularRLSVI, {"noise_variance": 0.02}),
    "python:noisy_dqn:make": (make, {"sigma": 0.4, "hidden": (4,), "batch_size": 8}),
}


def settings_of(changes):
    """As options of the command line."""
    texts = (f"{name}={','.join(map(str, v)) + ',' if isinstance(v, tuple) else v}" for name, v in changes.items())
    return [word for text in texts for word in ("--set", text)]


def jobs(seeds=2):
    return [Job(agent, SEA, seed, EPISODES, changes=OWN[agent][1]) for agent in OWN for seed in range(seeds)]


@pytest.mark.parametrize(
    "agent", [pytest.param(agent, marks=pytest.mark.slow if "noisy" in agent else ()) for agent in OWN]
)
def test_every_way_to_train_gives_the_same_returns(agent, command, tmp_path, quick_compilation):
    factory, changes = OWN[agent]
    result = langevin_dqn.train(factory(**changes), SEA, seed=1, episodes=EPISODES, keep_agent=True)
    assert (result.preset, result.config) == ("custom", factory(**changes).describe())

    plain = {name: value for name, value in changes.items() if name in ("noise_variance", "batch_size")}
    assert {name: result.setting(name) for name in plain} == plain
    assert result.setting("speed", 3) == 3

    by_id = langevin_dqn.train(agent, SEA, seed=1, episodes=EPISODES, **changes)
    assert by_id.agent == agent
    np.testing.assert_array_equal(by_id.returns, result.returns)

    code, out, err = command(
        *("run", "--agent", agent, "--env", SEA, "--seeds", "1", "--episodes", EPISODES, "--json"),
        *(*settings_of(changes), "--save", tmp_path),
    )
    assert code == 0, err
    record = json.loads(out)
    assert record["total_return"] == result.total_return
    assert record["config"] == json.loads(json.dumps(result.config))

    code, out, err = command("evaluate", tmp_path, "--agent", agent, *settings_of(changes), "--json")
    assert code == 0, err
    assert json.loads(out)["returns"] == langevin_dqn.evaluate(result.trained, SEA).astype(float).tolist()


def test_a_sweep_is_resumed(tmp_path, quick_compilation):
    """What is stored is not run again; what is read from the store is what was run."""
    store, asked = Store(tmp_path), jobs()
    for jobs_so_far, new in ((asked[::2], asked[::2]), (asked, asked[1::2]), (asked, [])):
        plan, said = plan_of(jobs_so_far, store), io.StringIO()
        assert sorted(map(str, plan.missing)) == sorted(map(str, new))
        run = runner_of("threads", None, 1)
        assert run_missing("a sweep", store, plan.missing, plan.seconds, run, stream=said) == []
        assert sum(line.startswith("[") for line in said.getvalue().splitlines()) == len(new)
    assert all(store.has(job) for job in asked)
    for job in asked:
        kept = store.get(job)
        np.testing.assert_array_equal(kept.returns, job.run().returns)
        factory, changes = OWN[job.agent]
        assert kept.preset == "custom"
        assert kept.config == json.loads(json.dumps(factory(**changes).describe()))


def test_verify_repeats_runs_of_agents_that_are_trusted(command, tmp_path, quick_compilation):
    """A file imports nothing: without ``--trust`` runs of one's own agents are only checked for their keys."""
    store = Store(tmp_path)
    for job in jobs(seeds=1):
        store.put(job, job.run())
    code, _, err = command("verify", "--store", tmp_path, "--rerun", "3")
    assert (code, "not repeated, because it would import code" in err) == (0, True), err
    trusted = [word for agent in OWN for word in ("--trust", agent)]
    code, _, err = command("verify", "--store", tmp_path, "--rerun", "3", *trusted)
    assert (code, err.count("the same: ")) == (0, 3), err


def test_settings_and_versions_are_part_of_a_stored_run(monkeypatch):
    agent = "python:tabular_rlsvi:TabularRLSVI"
    plain = Job(agent, SEA, 0, EPISODES)
    other = Job(agent, SEA, 0, EPISODES, changes={"noise_variance": 0.5})
    default = Job(agent, SEA, 0, EPISODES, changes={"noise_variance": 0.01})
    assert key_of(plain) != key_of(other)
    assert key_of(plain) == key_of(default)
    before = key_of(plain)
    monkeypatch.setattr(TabularRLSVI, "describe", lambda self: {"agent": "tabular_rlsvi", "version": "2"})
    assert key_of(plain) != before


def test_random_walk_is_uniform():
    """1,000 episodes of 3 steps: each of the 8 paths has the same probability, one of them finds the treasure."""
    result = langevin_dqn.train(RandomWalk(), SEA, seed=0, episodes=1000)
    found = int((result.returns > 0.5).sum())
    assert abs(found - 125) < 4 * np.sqrt(1000 * 1 / 8 * 7 / 8)
