"""What is wrong with a user's environment: one line and a hint, before anything is trained."""

from dataclasses import dataclass
from typing import NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from langevin_dqn import UserError, make_env
from langevin_dqn.environments import (
    ArraySpace,
    Environment,
    GymnasiumEnvironment,
    IndexSpace,
    check_environment,
    pytree,
    static,
)  # fmt: skip
from langevin_dqn.environments.factories import BUILT_IN


class Place(NamedTuple):
    position: jax.Array
    steps: jax.Array


@dataclass(frozen=True)
class Right(Environment):
    """A walk in which nothing is wrong; the tests below break one thing each."""

    speed: jax.Array = 1.0
    observation_space = ArraySpace((2,))
    num_actions = 3

    def reset(self, key):
        place = Place(jnp.zeros(2), jnp.int32(0))
        return place, place.position

    def step(self, key, state, action):
        place = Place(state.position + self.speed * (action - 1), state.steps + 1)
        return place, place.position, place.position.sum(), place.steps >= 5, jnp.bool_(False)


def broken(**members):
    """An environment like ``Right`` with other members."""
    return dataclass(frozen=True)(type("Walk", (Right,), members))()


def step_with(**parts):
    """A step with some of what it returns replaced."""

    def step(self, key, state, action):
        names = ("state", "obs", "reward", "terminated", "truncated")
        outcome = dict(zip(names, Right.step(self, key, state, action), strict=True))
        return tuple({**outcome, **{name: part(outcome[name]) for name, part in parts.items()}}.values())

    return broken(step=step)


def problem(environment):
    with pytest.raises(UserError) as error:
        check_environment(environment, "walk")
    assert error.value.message.startswith("walk")
    assert "\n" not in error.value.message + error.value.hint
    return error.value


def test_nothing_is_wrong():
    check_environment(Right(), "walk")
    check_environment(broken(max_return=3, max_steps=7, learned_regret=0.8), "walk")


def test_python_numbers_will_do():
    """As JAX takes them: a reward of 0.0, an end that is False, a state that starts as 0."""

    class Walk(Right):
        observation_space = IndexSpace(4)

        def reset(self, key):
            return 0, 0

        def step(self, key, state, action):
            return state + action, state + action, 0.0, state == 3, False

    check_environment(Walk(), "walk")


@pytest.mark.parametrize("name", [name for name in BUILT_IN if not name.startswith("mnist")])
def test_every_environment_of_the_package_passes(name):
    check_environment(make_env(name), name)


@pytest.mark.parametrize("missing", ["observation_space", "num_actions", "reset", "step"])
def test_a_member_is_missing(missing):
    members = {k: v for k, v in vars(Right).items() if k in {"observation_space", "num_actions", "reset", "step"}}
    del members[missing]
    environment = dataclass(frozen=True)(type("Walk", (Environment,), members))()
    error = problem(environment)
    assert error.message == f"walk (Walk) has no {missing}"
    if missing in ("reset", "step"):
        assert error.hint.startswith(f"define {missing}(self, key")


@pytest.mark.parametrize("missing", ["max_return", "max_steps", "dense", "measure", "step"])
def test_an_environment_that_does_not_inherit_has_everything(missing):
    names = ("observation_space", "num_actions", "max_return", "max_steps", "reset", "step", "dense", "measure")
    members = {name: getattr(Right, name, None) for name in names if name != missing}
    environment = pytree(dataclass(frozen=True)(type("Walk", (), members)))()
    error = problem(environment)
    assert error.message == f"walk (Walk) has no {missing}"
    assert "langevin_dqn.environments.Environment" in error.hint


@pytest.mark.parametrize(
    ("space", "reset_or_step", "words"),
    [
        (ArraySpace((3,)), "reset", "an observation float32 of shape (2,), but ArraySpace(shape=(3,)"),
        (ArraySpace((2,), "uint8"), "reset", "requires uint8 of shape (2,)"),
        (IndexSpace(4), "reset", "requires int32 of shape ()"),
    ],
)
def test_the_observation_is_not_the_spaces(space, reset_or_step, words):
    message = problem(broken(observation_space=space)).message
    assert message.startswith(f"walk: {reset_or_step}")
    assert words in message


def test_the_observation_after_a_step_is_another():
    message = problem(step_with(obs=lambda obs: obs.astype(int))).message
    assert message.startswith("walk: step returns an observation int32 of shape (2,)")


def test_an_observation_of_several_arrays():
    message = problem(broken(reset=lambda self, key: (Place(jnp.zeros(2), jnp.int32(0)), {"a": jnp.zeros(2)}))).message
    assert "not an array: dict" in message


@pytest.mark.parametrize(
    ("outcome", "words"),
    [((1, 2, 3), "3 values"), (jnp.zeros(5), "not five values"), ([1] * 5, "5 values"), (None, "a NoneType")],
)
def test_step_does_not_return_five_values(outcome, words):
    error = problem(broken(step=lambda self, key, state, action: outcome))
    assert error.message.startswith("walk: step returns")
    assert words in error.message
    assert error.hint == "return state, obs, reward, terminated, truncated"


def test_reset_does_not_return_two_values():
    error = problem(broken(reset=lambda self, key: jnp.zeros(2)))
    assert error.message.startswith("walk: reset returns a ")
    assert error.hint == "return state, obs"


@pytest.mark.parametrize("part", ["reward", "terminated", "truncated"])
def test_what_must_be_a_scalar(part):
    error = problem(step_with(**{part: lambda value: jnp.stack([value])}))
    assert error.message == f"walk: step's {part} is not a scalar: its shape is (1,)"


@pytest.mark.parametrize("part", ["terminated", "truncated"])
def test_what_must_be_a_boolean(part):
    error = problem(step_with(**{part: lambda value: value.astype(jnp.float32)}))
    assert error.message == f"walk: step's {part} is float32, not a boolean"


def test_the_structure_of_the_state_changes():
    error = problem(step_with(state=tuple))
    assert error.message.startswith("walk: the structure of the state changes in step")
    assert "Place" in error.message


def test_a_part_of_the_state_changes():
    error = problem(step_with(state=lambda place: place._replace(steps=place.steps + 0.5)))
    words = "walk: state.steps changes in step: int32 of shape () becomes float32 of shape ()"
    assert error.message == words


def raises(error):
    def method(self, *args):
        raise error

    return method


@pytest.mark.parametrize("method", ["reset", "step", "dense", "measure"])
def test_a_method_raises(method):
    error = problem(broken(**{method: raises(RuntimeError("no way\nfor several reasons"))}))
    assert error.message == f"walk: {method} raises RuntimeError: no way"
    assert isinstance(error.__cause__, RuntimeError)


def test_the_hint_names_the_line():
    class Walk(Right):
        def step(self, key, state, action):
            return 1 / 0

    error = problem(dataclass(frozen=True)(Walk)())
    assert error.message == "walk: step raises ZeroDivisionError: division by zero"
    line = Walk.step.__code__.co_firstlineno + 1
    assert error.hint == f"see line {line} of test_checking.py"


def test_an_if_on_a_traced_value():
    def step(self, key, state, action):
        return Right.step(self, key, state, action) if action == 1 else None

    error = problem(broken(step=step))
    assert "step raises TracerBoolConversionError" in error.message
    assert "jnp.where" in error.hint


def test_what_jax_cannot_trace():
    error = problem(step_with(reward=lambda reward: "much"))
    assert error.message.startswith("walk: step returns what JAX cannot trace")


def test_measures():
    assert "not a dictionary" in problem(broken(measure=lambda self, state: 3)).message
    assert "measure's place is not a scalar" in problem(broken(measure=lambda self, s: {"place": s.position})).message


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"num_actions": 0}, "num_actions=0 is not a positive integer"),
        ({"num_actions": 2.0}, "num_actions=2.0 is not a positive integer"),
        ({"max_steps": 0}, "max_steps=0 is not a positive integer"),
        ({"max_return": np.ones(3)}, "max_return has shape (3,)"),
        ({"learned_regret": np.ones(3)}, "learned_regret has shape (3,)"),
        ({"observation_space": gymnasium.spaces.Discrete(3)}, "observation_space is not a space"),
        ({"observation_space": property(lambda self: self.typo)}, "observation_space raises AttributeError"),
        ({"reset": 3}, "reset is not a method: int: 3"),
    ],
)
def test_bad_constants(members, words):
    assert words in problem(broken(**members)).message


@pytest.mark.parametrize("member", ["num_actions", "max_steps", "observation_space"])
@pytest.mark.parametrize("convert", [lambda x: x, int])
def test_a_size_that_is_not_static(member, convert):
    @dataclass(frozen=True)
    class Walk(Right):
        size: int = 2

    value = {"observation_space": lambda self: ArraySpace((convert(self.size),))}
    setattr(Walk, member, property(value.get(member, lambda self: convert(self.size))))
    error = problem(Walk())
    assert error.message == f"walk: {member} depends on a field that is not static"
    assert "static()" in error.hint


def test_fields_that_jax_cannot_trace():
    @dataclass(frozen=True)
    class Walk(Right):
        title: str = "walk"

    error = problem(Walk())
    assert error.message == "walk: JAX cannot trace the field title (str)"
    assert "static()" in error.hint

    @dataclass(frozen=True)
    class Named(Right):
        title: str = static("walk")

    check_environment(Named(), "walk")


def test_what_is_no_dataclass_or_pytree():
    members = {name: value for name, value in vars(Right).items() if not name.startswith("_") and name != "speed"}
    assert "is not a dataclass" in problem(type("Walk", (Environment,), members)()).message
    foreign = type("Walk", (), {**members, "max_return": None, "max_steps": 1, "dense": 0, "measure": 0})
    foreign.dense = foreign.measure = Right.measure
    assert "is not a pytree" in problem(foreign()).message


@pytest.mark.parametrize("thing", [None, 3, "deep_sea", Right, [Right()]])
def test_what_is_no_environment(thing):
    problem(thing)


def test_host_environments():
    source = gymnasium.make("CartPole-v1")
    check_environment(GymnasiumEnvironment(source), "walk")
    error = problem(source)
    assert error.message.endswith("has no num_actions")
    assert "GymnasiumEnvironment" in error.hint
