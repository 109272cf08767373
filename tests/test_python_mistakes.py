"""What Python users get wrong, and the one line and the hint they get for it."""

import inspect
from dataclasses import dataclass

import numpy as np
import pytest

import langevin_dqn
from langevin_dqn import AgentConfig, UserError, evaluate, make_env, train
from langevin_dqn.environments import as_environment


def test_hidden_takes_any_sequence_of_whole_numbers():
    assert AgentConfig(hidden=[64, 64]) == AgentConfig(hidden=(64, 64))
    assert langevin_dqn.preset("dqn", hidden=np.array([5, 4])).hidden == (5, 4)
    for wrong in (64, "64", [64.0], [True]):
        with pytest.raises(UserError, match=r"hidden=.* has the wrong type"):
            AgentConfig(hidden=wrong)


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ({"steps": 1e2}, "steps=100.0 is not a whole number", "for example, steps=100"),
        ({"episodes": 0}, "episodes=0 is out of range", "at least 1"),
        ({"episodes": "10"}, "episodes='10' is not a whole number", "episodes=1"),
        ({"seed": 0.5}, "seed=0.5 is not a whole number", "seed=1"),
        ({"seed": -1}, "seed=-1 is out of range", "at least 0"),
        ({"learning_rate": "0.1"}, "learning_rate='0.1' has the wrong type", "must be a number"),
        ({"lr": 0.1}, "unknown field 'lr'", "did you mean 'learning_rate'?"),
        ({"gamma": 0.9}, "unknown field 'gamma'", "did you mean 'discount'?"),
        ({"num_episodes": 9}, "unknown field 'num_episodes'", "did you mean train(episodes=...), or --episodes?"),
        ({"preset": "papr"}, "unknown preset 'papr'", "did you mean 'paper'?"),
    ],
)
def test_arguments_of_train(arguments, message, hint):
    with pytest.raises(UserError) as error:
        train("dqn", "probe_action", **{"episodes": 3} | arguments)
    assert error.value.message == message
    assert hint in error.value.hint


def test_every_synonym_leads_to_a_field():
    from langevin_dqn.config import FIELD_TYPES
    from langevin_dqn.synonyms import RUN_LENGTH, SYNONYMS

    assert set(SYNONYMS.values()) <= set(FIELD_TYPES)
    assert not set(SYNONYMS) & set(FIELD_TYPES)
    assert not set(RUN_LENGTH) & set(FIELD_TYPES)
    assert set(RUN_LENGTH.values()) <= set(inspect.signature(train).parameters)


def test_a_preset_is_for_an_agent_by_name():
    with pytest.raises(UserError, match="preset=paper does not apply to an agent of type AgentConfig"):
        train(AgentConfig(), "probe_action", preset="paper", episodes=1)
    with pytest.raises(UserError, match=r"does not apply to python:examples.random_walk:RandomWalk"):
        train("python:examples.random_walk:RandomWalk", "deep_sea:depth=4", preset="paper", episodes=1)
    assert train(AgentConfig(), "probe_action", episodes=1).preset == "custom"


@pytest.fixture(scope="module")
def result():
    return train("dqn", "probe_action", episodes=30, keep_agent=True)


def test_evaluate_says_what_it_takes(result):
    with pytest.raises(UserError, match="takes a trained agent, not a Result") as error:
        evaluate(result, "probe_action")
    assert error.value.hint == "pass its .trained"
    with pytest.raises(UserError, match="takes a trained agent, not a str"):
        evaluate("dqn", "probe_action")
    with pytest.raises(UserError, match="observations or actions differ"):
        evaluate(result.trained, "deep_sea:depth=5")
    with pytest.raises(UserError, match=r"has no step|is not an environment"):
        evaluate(result.trained, object())
    with pytest.raises(UserError, match=r"episodes=2\.5 is not a whole number"):
        evaluate(result.trained, "probe_action", episodes=2.5)


def test_a_result_prints_in_three_lines(result):
    first, second, third = str(result).splitlines()
    assert first == "dqn (recommended) on probe_action, seed 0: 30 episodes"
    assert second.startswith("mean return of the last 30 episodes ")
    assert third.startswith("30 steps, ")
    sea = train("dqn", "deep_sea:depth=4", episodes=2)
    assert str(sea).splitlines()[1].endswith(", not learned")
    assert repr(sea) == str(sea)


def test_ids_of_gymnasium_without_their_prefix():
    for name in ("CartPole-v1", "ALE/Pong-v5"):
        with pytest.raises(UserError, match="unknown environment") as error:
            make_env(name)
        assert error.value.hint.endswith(f"gym:{name}")
    with pytest.raises(UserError, match="unknown environment 'cartpol'") as error:
        make_env("cartpol")
    assert error.value.hint == "did you mean 'cartpole'?"


def test_a_missing_package_of_atari_is_named():
    pytest.importorskip("gymnasium")
    with pytest.raises(UserError, match="ALE/Pong-v5") as error:
        make_env("gym:ALE/Pong-v5")
    assert error.value.hint == "install ale-py and write gym:ale_py:ALE/Pong-v5"


def test_a_gymnasium_environment_is_wrapped_and_left_open():
    gymnasium = pytest.importorskip("gymnasium")

    class Counted(gymnasium.Wrapper):
        closed = 0

        def close(self):
            type(self).closed += 1
            super().close()

    env = Counted(gymnasium.make("CartPole-v1"))
    run = train("dqn", env, episodes=3, hidden=[4])
    assert run.episodes == 3
    assert run.env == "Counted"
    assert Counted.closed == 0
    made = train("dqn", lambda: Counted(gymnasium.make("CartPole-v1")), episodes=3, hidden=[4])
    np.testing.assert_array_equal(made.returns, run.returns)
    assert Counted.closed == 1


def test_what_is_no_environment_gets_a_hint():
    @dataclass
    class Plain:
        size: int = 3

        def reset(self, key):
            return 0, 0

        def step(self, key, state, action):
            return 0, 0, 0.0, True, False

    def broken():
        raise RuntimeError("no")

    for wrong in (Plain(), 3, None, broken, lambda: 3):
        with pytest.raises(UserError) as error:
            as_environment(wrong)
        assert "\n" not in error.value.message
        assert error.value.hint


@pytest.mark.parametrize(
    "call",
    [
        lambda: langevin_dqn.train("dqn", "catch", episodes=1, checkpoint=7),
        lambda: langevin_dqn.train("dqn", "catch", episodes=1, resume=7),
        lambda: langevin_dqn.load_agent(7),
        lambda: langevin_dqn.load_results(7),
        lambda: langevin_dqn.sweep("dqn", "catch", episodes=1, store=7),
        lambda: langevin_dqn.MetricLog(7),
    ],
)
def test_a_number_where_a_path_belongs(call):
    with pytest.raises(UserError, match=r"\w+=7 is not a path\nhint: pass a text or a pathlib.Path"):
        call()
