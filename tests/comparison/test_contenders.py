"""The agents of a comparison, their settings and grids."""

import pytest

from langevin_dqn import AgentConfig, UserError, preset, register_agent
from langevin_dqn.comparison.contenders import contenders_of, shown

WALK = "python:random_walk:RandomWalk"
RLSVI = "python:tabular_rlsvi:TabularRLSVI"


def labels(*args, **kwargs):
    return [one.label for one in contenders_of(*args, **kwargs)]


def test_settings_are_typed_and_kept_in_the_label():
    plain, changed = contenders_of("dqn,boot_dqn:members=10,hidden=5,5", variant="paper")
    assert plain == ("dqn", "dqn", "paper", {}, {})
    assert changed.changes == {"members": 10, "hidden": (5, 5)}
    assert changed.label == "boot_dqn:members=10,hidden=5,5"


def test_a_grid_crosses_what_has_its_setting():
    found = contenders_of(
        ["dqn", "boot_dqn:members=3", WALK], grid={"epsilon": ["0.1", "0.2"], "dqn:batch_size": [8, 16]}
    )
    assert [one.label for one in found] == [
        "dqn:epsilon=0.1,batch_size=8", "dqn:epsilon=0.1,batch_size=16",
        "dqn:epsilon=0.2,batch_size=8", "dqn:epsilon=0.2,batch_size=16",
        "boot_dqn:members=3,epsilon=0.1", "boot_dqn:members=3,epsilon=0.2", WALK,
    ]  # fmt: skip
    assert found[0].crossed == {"epsilon": 0.1, "batch_size": 8}
    assert found[4].changes == {"members": 3, "epsilon": 0.1}
    assert found[-1].changes == {}


def test_an_agent_of_ones_own_is_crossed_by_the_arguments_of_its_factory():
    found = contenders_of([RLSVI, f"{RLSVI}:prior_variance=4"], grid={"noise_variance": ["0.01", "0.1"]})
    assert [one.changes for one in found] == [
        {"noise_variance": 0.01}, {"noise_variance": 0.1},
        {"prior_variance": 4, "noise_variance": 0.01}, {"prior_variance": 4, "noise_variance": 0.1},
    ]  # fmt: skip
    assert {one.agent for one in found} == {RLSVI}


def test_common_settings_give_way_to_an_agents_own():
    first, second, third = contenders_of(["dqn", "dqn:epsilon=0.2", WALK], common={"epsilon": "0.5"})
    assert (first.changes, second.changes, third.changes) == ({"epsilon": 0.5}, {"epsilon": 0.2}, {})
    assert first.label == "dqn"


def test_labels_of_ones_own():
    config = preset("boot_dqn", "paper", members=3)
    found = contenders_of({"mine": config, "pair": ("dqn", {"epsilon": 0.5}), "text": "dqn:epsilon=0.25"})
    assert [one.label for one in found] == ["mine", "pair", "text"]
    assert preset(found[0].agent, found[0].preset, **found[0].changes) == config
    assert found[1].changes == {"epsilon": 0.5}
    assert labels([("dqn", {"hidden": [5, 5], "noise_per_depth": True})]) == ["dqn:hidden=5,5,noise_per_depth=true"]


def test_registered_agents():
    register_agent("walker_of_this_test", lambda pace=1: None)
    assert labels(["walker_of_this_test"], grid={"pace": [1, 2]}) == [
        "walker_of_this_test:pace=1", "walker_of_this_test:pace=2",
    ]  # fmt: skip


def test_values_are_shown_as_they_are_read():
    assert [shown(value) for value in (1e-5, 0.1, 1 / 3, True, (5, 5), 3, "sum")] == [
        "1e-05", "0.1", repr(1 / 3), "true", "5,5", "3", "sum",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("agents", "options", "message"),
    [
        ("dqq", {}, r"unknown agent 'dqq'\nhint: did you mean 'dqn'"),
        ("dqn:fast", {}, r"'dqn:fast' cannot be read\nhint: write settings as dqn:setting=value"),
        ("dqn:epsylon=1", {}, r"unknown field 'epsylon'\nhint: did you mean 'epsilon'"),
        ("dqn:epsilon=2", {}, "epsilon=2 is out of range"),
        ("dqn:noise=1", {}, "unknown field 'noise'\nhint: did you mean 'noise_variance'"),
        ("dqn", {"grid": {"lr": [0.1]}}, "unknown field 'lr'\nhint: did you mean 'learning_rate'"),
        ("dqn", {"grid": {"epsilon": []}}, "the grid of epsilon is empty"),
        ("dqn", {"grid": {"epsilon": 0.1}}, "the grid of epsilon is not a list"),
        ("dqn", {"grid": {"epsilon": ["x"]}}, "epsilon=x cannot be read"),
        ("dqn", {"grid": {"epsilon": [0.1, "0.1"]}}, "agent 'dqn:epsilon=0.1' is named twice"),
        ("dqn", {"grid": {"boot_dqn:epsilon": [0.1]}}, "unknown agent of the grid 'boot_dqn'"),
        ("dqn:epsilon=0.3", {"grid": {"epsilon": [0.1]}}, "epsilon is set by both dqn:epsilon=0.3 and the grid"),
        (WALK, {"grid": {"epsilon": [0.1]}}, "no agent of this comparison has a setting 'epsilon'"),
        ("dqn", {"common": {"foo": "1"}}, "unknown field 'foo'"),
        ("dqn", {"variant": "papers"}, "unknown preset 'papers'"),
        ("dqn,dqn", {}, "agent 'dqn' is named twice"),
        ([], {}, "no agents to compare"),
        ("", {}, "no agents to compare"),
        (AgentConfig(), {}, "cannot be read"),
        ([3], {}, "an object of type int cannot be an agent"),
        ("python:no_such_module:X", {"grid": {"a": [1]}}, "cannot import 'no_such_module'"),
    ],
)
def test_mistakes(agents, options, message):
    with pytest.raises(UserError, match=message):
        contenders_of(agents, **options)
