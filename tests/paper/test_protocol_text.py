"""The protocol in a line, for any environment and any agent."""

import dataclasses

import pytest

from langevin_dqn.analysis import learning_times
from langevin_dqn.paper.protocol_text import protocol_of


def test_deep_sea(sea_run):
    runs = [sea_run("boot_dqn", 100, depth=depth, updates=5, seed=seed) for depth in (10, 20) for seed in range(3)]
    expected = "Deep Sea of depth 10 and 20, 5 updates per step, 5 members, 3 seeds, at most 100 episodes"
    assert protocol_of(runs) == expected
    assert protocol_of(runs, budget=5000).endswith("at most 5,000 episodes")
    assert protocol_of([]) == "no runs"


@pytest.mark.parametrize(
    ("environments", "words"),
    [
        (["catch/0", "catch/1"], "2 of bsuite's 468 settings, 1 update per step, 1 member, at most"),
        (["jax:mine:grid"], "jax:mine:grid, 1 update per step, 1 member, 1 seed, at most"),
        (["gym:A-v1", "deep_sea:depth=10"], "deep_sea:depth=10 and gym:A-v1, 1 update"),
        (["deep_sea:depth=10,stochastic=true"], "deep_sea:depth=10,stochastic=true, 1 update"),
        (
            [f"deep_sea:depth=30,mapping_seed={seed}" for seed in range(4)],
            "Deep Sea of depth 30, 1 update per step, 1 member, 4 seeds, at most",
        ),
        ([f"gym:A-v{i}" for i in range(4)], "4 environments, 1 update"),
    ],
)
def test_other_environments(sea_run, environments, words):
    runs = [dataclasses.replace(sea_run("dqn", 50), env=env) for env in environments]
    assert protocol_of(runs).startswith(words)


def test_an_agent_of_ones_own_has_the_settings_it_describes(sea_run):
    run = dataclasses.replace(sea_run("dqn", 50), agent="python:mine:agent", config={"members": 4, "version": "1"})
    assert run.setting("members", 1) == 4
    assert run.setting("updates_per_step", 1) == 1
    assert run.setting("epsilon") is None
    assert protocol_of([run]).startswith("Deep Sea of depth 10, 1 update per step, 4 members, 1 seed")
    assert learning_times.table([run]).select("agent", "members", "updates").row(0) == ("python:mine:agent", 4, 1)
