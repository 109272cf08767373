"""Checks of a user's environment before anything is trained on it.

Shapes are traced with ``jax.eval_shape``; nothing is computed.
"""

import dataclasses
import inspect
import numbers
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from langevin_dqn import prng
from langevin_dqn.environments.base import Environment, IndexSpace, Space
from langevin_dqn.errors import MOST_INT, UserError, brief, shown_number

_HOST_MEMBERS = ("observation_space", "num_actions", "max_return", "reset", "step", "close")
_JAX_MEMBERS = ("observation_space", "num_actions", "max_return", "max_steps", "reset", "step", "dense", "measure")
_INHERIT = "a subclass of langevin_dqn.environments.Environment has defaults for all but reset, step and two properties"
_ADAPT = "wrap it in GymnasiumEnvironment or DmEnvironment of langevin_dqn.environments"
_SIGNATURES = {"reset": "reset(self, key)", "step": "step(self, key, state, action)"}
_FIVE = "return state, obs, reward, terminated, truncated"


def check_environment(environment: Any, name: str) -> None:
    """Raise a ``UserError`` that describes what is wrong with an environment, if anything is.

    Args:
        environment: the environment; of one on the host, only the members are checked.
        name: what to call it in messages.
    """
    if isinstance(environment, type):
        raise UserError(f"{name} is the class {environment.__name__}, not an environment", "pass an instance of it")
    if not (hasattr(environment, "reset") or hasattr(environment, "step")):
        hint = "pass an id, such as 'deep_sea:depth=10'" if isinstance(environment, int | float) else _INHERIT
        raise UserError(f"{name} is not an environment: {brief(environment)}", hint)
    if not isinstance(environment, Environment) and hasattr(environment, "close"):
        _check_members(environment, name, _HOST_MEMBERS, _ADAPT)
        _check_sizes(environment, name)
        return
    _check_members(environment, name, _JAX_MEMBERS, _INHERIT)
    _check_fields(environment, name)
    _check_constants(environment, name)
    _check_functions(environment, name)


def _check_members(environment: Any, name: str, members: tuple[str, ...], hint: str) -> None:
    own = type(environment)
    for member in members:
        try:
            value = getattr(environment, member)
        except Exception as error:
            if isinstance(getattr(own, member, None), property) or not isinstance(error, AttributeError):
                raise UserError(f"{name}: {member} raises {brief(error)}", where(error, own)) from error
            raise UserError(f"{name} ({own.__name__}) has no {member}", hint) from None
        if member in ("reset", "step") and getattr(own, member, None) is getattr(Environment, member):
            raise UserError(f"{name} ({own.__name__}) has no {member}", f"define {_SIGNATURES[member]}")
        if member in ("reset", "step", "dense", "measure", "close") and not callable(value):
            raise UserError(f"{name}: {member} is not a method: {brief(value)}", f"define {member} as a method")


def _check_fields(environment: Any, name: str) -> None:
    """An environment is a pytree whose leaves JAX can trace."""
    kind = type(environment)
    if isinstance(environment, Environment) and not dataclasses.is_dataclass(kind):
        raise UserError(f"{name}: {kind.__name__} is not a dataclass", "write @dataclass(frozen=True) above the class")
    if jax.tree_util.all_leaves([environment]):
        raise UserError(f"{name}: {kind.__name__} is not a pytree", _INHERIT)
    for path, leaf in jax.tree_util.tree_leaves_with_path(environment):
        if not isinstance(leaf, jax.Array | np.ndarray | np.generic | numbers.Number):
            field = jax.tree_util.keystr(path).lstrip(".")
            hint = f"mark it static: {field}: {type(leaf).__name__} = langevin_dqn.environments.static()"
            raise UserError(f"{name}: JAX cannot trace the field {field} ({type(leaf).__name__})", hint)


def _check_constants(environment: Any, name: str) -> None:
    """What decides shapes is known when JAX compiles, and makes sense."""
    _check_sizes(environment, name)
    if environment.max_steps is not None:
        _check_count(f"{name}: max_steps", environment.max_steps)
    for member in ("max_return", "learned_regret"):
        number = getattr(environment, member, None)
        if number is not None and np.ndim(number) != 0:
            raise UserError(f"{name}: {member} has shape {np.shape(number)}", "use one number, or None")
    jax.eval_shape(lambda environment: _check_static(environment, name), environment)


def _check_sizes(environment: Any, name: str) -> None:
    """Observations and actions that an agent can be made for."""
    space = environment.observation_space
    if not isinstance(space, Space):
        raise UserError(
            f"{name}: observation_space is not a space: {brief(space)}",
            "use IndexSpace(n) or ArraySpace(shape) of langevin_dqn.environments",
        )
    _check_count(f"{name}: num_actions", environment.num_actions)
    for size in (space.n,) if isinstance(space, IndexSpace) else space.shape:
        _check_count(f"{name}: size of {space}", size)


def _check_count(what: str, number: Any) -> None:
    if isinstance(number, bool) or not isinstance(number, numbers.Integral) or int(number) < 1:
        raise UserError(f"{what}={number} is not a positive integer", "use a Python integer")
    if int(number) > MOST_INT:
        raise UserError(f"{what}={shown_number(int(number))} is out of range", f"use at most {MOST_INT}")


def _check_static(environment: Any, name: str) -> None:
    """Called with traced fields."""
    hint = "mark the field it depends on static: size: int = langevin_dqn.environments.static()"
    for member in ("observation_space", "num_actions", "max_steps"):
        try:
            value = getattr(environment, member)
            sizes = jax.tree.leaves(dataclasses.astuple(value) if isinstance(value, Space) else value)
            is_known = not any(isinstance(size, jax.core.Tracer) for size in sizes)
        except jax.errors.JAXTypeError:
            is_known = False
        if not is_known:
            raise UserError(f"{name}: {member} depends on a field that is not static", hint)


def _check_functions(environment: Any, name: str) -> None:
    key = jax.random.key(0, impl=prng.PRNG)
    action = jax.ShapeDtypeStruct((), np.int32)
    state, obs = _trace(environment, name, "reset", _expect_two, key)
    _check_observation(environment.observation_space, obs, f"{name}: reset")
    after, obs, *scalars = _trace(environment, name, "step", _expect_five, key, state, action)
    _check_observation(environment.observation_space, obs, f"{name}: step")
    for part, value in zip(("reward", "terminated", "truncated"), scalars, strict=True):
        _check_scalar(value, f"{name}: step's {part}", boolean=part != "reward")
    _check_state(state, after, name)
    _trace(environment, name, "dense", lambda outcome: outcome, obs)
    measures = _trace(environment, name, "measure", _expect_dictionary, state)
    for column, value in measures.items():
        _check_scalar(value, f"{name}: measure's {column}")


def _trace(environment: Any, name: str, method: str, expect: Callable[[Any], Any], *args: Any) -> Any:
    """The shapes that a method returns."""

    def call(environment: Any, *args: Any) -> Any:
        try:
            outcome = getattr(environment, method)(*args)
        except Exception as error:
            hint = where(error, type(environment))
            raise UserError(f"{name}: {method} raises {brief(error)}", hint) from error
        return expect(outcome)

    try:
        return jax.eval_shape(call, environment, *args)
    except _UnexpectedError as unexpected:
        raise UserError(f"{name}: {method} {unexpected.args[0]}", unexpected.args[1]) from None
    except UserError:
        raise
    except Exception as error:
        hint = "return arrays and numbers, in tuples, dictionaries or dataclasses that are pytrees"
        raise UserError(f"{name}: {method} returns what JAX cannot trace: {brief(error)}", hint) from error


class _UnexpectedError(Exception):
    """What a method returned, and what it should return."""


def _expect_two(outcome: Any) -> Any:
    if not isinstance(outcome, tuple) or len(outcome) != 2:
        raise _UnexpectedError(f"returns {_count(outcome)}, not two values", "return state, obs")
    return outcome


def _expect_five(outcome: Any) -> Any:
    if not isinstance(outcome, tuple) or len(outcome) != 5:
        raise _UnexpectedError(f"returns {_count(outcome)}, not five values", _FIVE)
    return outcome


def _expect_dictionary(outcome: Any) -> Any:
    if not isinstance(outcome, dict):
        raise _UnexpectedError(f"returns {_count(outcome)}, not a dictionary", 'return {"column": number}, or {}')
    return outcome


def _count(outcome: Any) -> str:
    return f"{len(outcome)} values" if isinstance(outcome, tuple | list) else f"a {type(outcome).__name__}"


def _check_observation(space: Space, obs: Any, what: str) -> None:
    shape, dtype = ((), "int32") if isinstance(space, IndexSpace) else (tuple(space.shape), space.dtype)
    if not hasattr(obs, "shape"):
        raise UserError(
            f"{what} returns an observation that is not an array: {brief(obs)}", "return one array as the observation"
        )
    if (obs.shape, obs.dtype) != (shape, np.dtype(dtype)):
        raise UserError(
            f"{what} returns an observation {_array(obs.shape, obs.dtype)}, but {space} requires "
            f"{_array(shape, dtype)}",
            "change the observation or observation_space so that they agree",
        )


def _check_scalar(value: Any, what: str, *, boolean: bool = False) -> None:
    shape = getattr(value, "shape", None)
    if shape != ():
        raise UserError(f"{what} is not a scalar: its shape is {shape}", "return a number, without axes")
    if boolean and value.dtype != np.bool_:
        raise UserError(f"{what} is {value.dtype}, not a boolean", "return a comparison, or jnp.bool_(...)")


def _check_state(before: Any, after: Any, name: str) -> None:
    hint = "step must return a state of the same structure, shapes and dtypes as the one it is given"
    if _structure(before) != _structure(after):
        change = f"{_structure(before)} becomes {_structure(after)}"
        raise UserError(f"{name}: the structure of the state changes in step: {change}", hint)
    for (path, old), new in zip(jax.tree_util.tree_leaves_with_path(before), jax.tree.leaves(after), strict=True):
        if (old.shape, old.dtype) != (new.shape, new.dtype):
            change = f"{_array(old.shape, old.dtype)} becomes {_array(new.shape, new.dtype)}"
            raise UserError(f"{name}: state{jax.tree_util.keystr(path)} changes in step: {change}", hint)


def _structure(tree: Any) -> str:
    return " ".join(str(jax.tree.structure(tree)).removeprefix("PyTreeDef(").removesuffix(")").split())


def _array(shape: tuple[int, ...], dtype: Any) -> str:
    return f"{dtype} of shape {shape}"


def where(error: BaseException, kind: type) -> str:
    """A hint: the line of the user's file at which it happened, and what JAX does not allow."""
    try:
        file = inspect.getsourcefile(kind)
    except (TypeError, OSError):
        file = None
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    place = f"see line {lines[-1]} of {Path(str(file)).name}" if lines else f"see {kind.__module__}.{kind.__name__}"
    if isinstance(error, jax.errors.JAXTypeError | jax.errors.JAXIndexError):
        return f"{place}; under jit, use jnp.where or jax.lax.cond instead of if"
    return place
