"""What is no agent is refused before anything is trained: one line, one hint."""

import dataclasses

import jax.numpy as jnp
import pytest
from own_agents import SixMethods

import langevin_dqn
from langevin_dqn.agents.checking import REQUIRED
from langevin_dqn.errors import UserError
from langevin_dqn.pytrees import pytree


def variant(**members):
    """An instance of SixMethods with some members replaced."""
    return pytree(dataclasses.dataclass(frozen=True)(type("Odd", (SixMethods,), members)))()


def refused(agent, env="probe_action", **options):
    """The message and hint with which training refuses an agent, before the environment makes a step."""
    with pytest.raises(UserError) as caught:
        langevin_dqn.train(agent, env, episodes=1, **options)
    message, hint = caught.value.message, caught.value.hint
    assert hint
    assert "\n" not in message + hint
    return message, hint


@pytest.mark.parametrize("method", REQUIRED)
def test_a_missing_method(method):
    message, hint = refused(variant(**{method: None}))
    assert message == f"agent Odd has no method {method!r}"
    assert "Agent" in hint


def test_not_a_dataclass():
    class Loose:
        learns_within = False

    for name in REQUIRED:
        setattr(Loose, name, getattr(SixMethods, name))
    message, hint = refused(Loose())
    assert message == "agent Loose is not a frozen dataclass"
    assert "@dataclass(frozen=True)" in hint


def test_not_a_pytree():
    plain = dataclasses.dataclass(frozen=True)(type("Plain", (SixMethods,), {}))
    message, hint = refused(plain())
    assert message == "agent Plain is not a pytree"
    assert "BaseAgent" in hint


@pytest.mark.parametrize("described", [{}, {"version": 1}, {"bonus": 2}, []], ids=str)
def test_no_version(described):
    message, hint = refused(variant(describe=lambda self: described))
    assert message == "agent Odd: describe() has no version"
    assert "version" in hint


@pytest.mark.parametrize(
    "described", [{"version": "1", "net": object()}, {"version": "1", "x": float("nan")}], ids=["object", "nan"]
)
def test_a_description_that_is_not_json(described):
    assert "describe() returns a value that is not JSON" in refused(variant(describe=lambda self: described))[0]


CHANGED = {
    "begin_episode": lambda self, key, state: state._replace(total=jnp.zeros(7)),
    "observe": lambda self, key, state, step: state._replace(count=state.count.astype(jnp.int32)),
    "learn": lambda self, key, state, steps: tuple(state),
    "attend": lambda self, key, state, obs: (state, obs),
}


@pytest.mark.parametrize("method", CHANGED)
def test_a_state_that_changes(method):
    message, hint = refused(variant(**{method: CHANGED[method]}))
    assert message == f"agent Odd: {method} changes the structure, shapes or dtypes of the state"
    assert "init" in hint


@pytest.mark.parametrize(
    "action",
    [lambda: jnp.float32(1), lambda: jnp.zeros(2, jnp.int32), lambda: (jnp.int32(0),)],
    ids=["float", "vector", "tuple"],
)
def test_an_action_that_is_none(action):
    message, hint = refused(variant(act=lambda self, key, state, obs: action()))
    assert message == "agent Odd: act does not return a single integer"
    assert "argmax" in hint


def test_a_method_that_raises():
    def learn(self, key, state, steps):
        raise RuntimeError("what is this?\nmore lines")

    assert refused(variant(learn=learn))[0] == "agent Odd: learn raises RuntimeError: what is this?"


@pytest.mark.parametrize("agent", [3, None, object(), dict, SixMethods], ids=["3", "None", "object", "dict", "class"])
def test_what_is_nothing_like_an_agent(agent):
    assert "agent" in refused(agent)[0]


def test_changes_and_networks_are_for_configurations():
    assert "settings cannot be changed for an agent object: bonus" in refused(SixMethods(), bonus=2.0)[0]
    assert "network=" in refused(SixMethods(), network=langevin_dqn.networks.MLP())[0]
