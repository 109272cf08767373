"""What a user may write in lists of agents, environments, grids and seeds."""

import pytest

from langevin_dqn import UserError
from langevin_dqn.comparison.grammar import (
    GridWords,
    grid_of,
    parse_grid,
    parse_reference,
    parse_seeds,
    split_commas,
    split_list,
    split_name,
)


@pytest.mark.parametrize(
    ("texts", "entries"),
    [
        (["dqn"], ["dqn"]),
        (["dqn,boot_dqn:members=10"], ["dqn", "boot_dqn:members=10"]),
        (["dqn:members=2,epsilon=0.1,boot_dqn"], ["dqn:members=2,epsilon=0.1", "boot_dqn"]),
        (["dqn:hidden=50,50,epsilon=0.1,boot_dqn"], ["dqn:hidden=50,50,epsilon=0.1", "boot_dqn"]),
        (["dqn:noise_variance=1e-5,boot_dqn"], ["dqn:noise_variance=1e-5", "boot_dqn"]),
        (["dqn", "boot_dqn,langevin_dqn"], ["dqn", "boot_dqn", "langevin_dqn"]),
        (["python:a.b:C:sizes=(3,4),seed=1,dqn"], ["python:a.b:C:sizes=(3,4),seed=1", "dqn"]),
        (["python:a.b:C:name='x,y',dqn"], ["python:a.b:C:name='x,y'", "dqn"]),
        (["deep_sea:depth=20,mapping_seed=7,gym:CartPole-v1"], ["deep_sea:depth=20,mapping_seed=7", "gym:CartPole-v1"]),
        (
            ["gym:FrozenLake-v1:is_slippery=false,map_name=8x8,jax:a.b:lock:digits=2,cartpole_noise/12"],
            ["gym:FrozenLake-v1:is_slippery=false,map_name=8x8", "jax:a.b:lock:digits=2", "cartpole_noise/12"],
        ),
        (["gym:ale_py:ALE/Pong-v5:mode=1,obs=ram,dm:a.b:c"], ["gym:ale_py:ALE/Pong-v5:mode=1,obs=ram", "dm:a.b:c"]),
        ([" dqn , boot_dqn ,"], ["dqn", "boot_dqn"]),
        ([""], []),
    ],
)  # fmt: skip
def test_lists(texts, entries):
    assert split_list(texts, "--agents") == entries


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epsilon=1,dqn", "--agents begins with 'epsilon=1'\nhint: write a name first"),
        ("dqn,epsilon=1", "'epsilon=1' follows 'dqn', which has no settings\nhint: write dqn:epsilon=1"),
        ("dqn:sizes=(3,4", r"has a \( that is not closed"),
        ("dqn:name='x", "has a ' that is not closed"),
    ],
)
def test_lists_that_cannot_be_read(text, message):
    with pytest.raises(UserError, match=message):
        split_list([text], "--agents")


def test_commas_inside_brackets_do_not_separate():
    assert split_commas("a,(b,[c,d]),'e,f'") == ["a", "(b,[c,d])", "'e,f'"]


def test_names_with_settings():
    assert split_name("dqn") == ("dqn", {})
    assert split_name("dqn:hidden=50,50,epsilon=0.1") == ("dqn", {"hidden": "50,50", "epsilon": "0.1"})
    assert split_name("python:a.b:C:size=5") == ("python:a.b:C", {"size": "5"})
    assert split_name("gym:package:Name-v0") == ("gym:package:Name-v0", {})
    with pytest.raises(UserError, match="sets epsilon twice"):
        split_name("dqn:epsilon=1,epsilon=0")


def test_grids():
    assert parse_grid("noise_variance=1e-5,1e-4") == GridWords(None, "noise_variance", ["1e-5", "1e-4"])
    assert parse_grid("langevin_dqn:members=1,2").agent == "langevin_dqn"
    assert parse_grid("python:a.b:C:size=1,2") == GridWords("python:a.b:C", "size", ["1", "2"])
    assert parse_grid("hidden=50,50;100,100").values == ["50,50", "100,100"]
    assert parse_grid("hidden=;50").values == ["", "50"]
    assert grid_of(["a=1,2", "dqn:b=3"]) == {"a": ["1", "2"], "dqn:b": ["3"]}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["noise_variance="], "the grid of noise_variance is empty\nhint: for example,"),
        (["noise_variance"], "is not of the form"),
        (["=1"], "is not of the form"),
        (["a=1,,2"], "has an empty value"),
        (["a=1", "a=2"], "names a twice"),
    ],
)
def test_grids_that_cannot_be_read(texts, message):
    with pytest.raises(UserError, match=message):
        grid_of(texts)


def test_seeds():
    assert parse_seeds("3") == [3]
    assert parse_seeds("0-2,2,7") == [0, 1, 2, 7]
    for text in ("", "a", "1-", "-1", "1.5", "0-x"):
        with pytest.raises(UserError, match="cannot be read"):
            parse_seeds(text)
    with pytest.raises(UserError, match="did you mean 2-4"):
        parse_seeds("4-2")


def test_references():
    assert parse_reference(["deep_sea:depth=3=0,0.99"]) == {"deep_sea:depth=3": (0.0, 0.99)}
    for text in ("gym:CartPole-v1", "a=1", "a=1,b", "=1,2"):
        with pytest.raises(UserError, match="is not of the form ENV=LOW,HIGH"):
            parse_reference([text])
    for text in ("a=2,1", "a=1,1", "a=0,inf", "a=nan,1"):
        with pytest.raises(UserError, match="is not a range"):
            parse_reference([text])
