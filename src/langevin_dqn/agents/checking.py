"""Whether something is an agent for an environment, found out before anything is trained."""

import dataclasses
import json
from typing import Any

import jax
import jax.numpy as jnp

from langevin_dqn import keys
from langevin_dqn.agents.base import Step, class_name
from langevin_dqn.environments.base import Space
from langevin_dqn.errors import UserError, brief
from langevin_dqn.networks.base import example_observation

REQUIRED = ("init", "begin_episode", "act", "observe", "learn", "describe")

_HINT = "see langevin_dqn.agents.Agent; BaseAgent has defaults for all optional methods"
_STATIC_HINT = "mark fields that decide shapes, or that are not numbers, with langevin_dqn.pytrees.static()"


def check_agent(agent: Any) -> None:
    """Refuse what lacks a method of the protocol, is no frozen dataclass, or does not describe itself."""
    name = type(agent).__name__
    for method in REQUIRED:
        if not callable(getattr(agent, method, None)):
            raise UserError(f"agent {name} has no method {method!r}", _HINT)
    if not isinstance(getattr(agent, "learns_within", None), bool):
        raise UserError(f"agent {name} does not define learns_within", "set learns_within = False")
    if not dataclasses.is_dataclass(type(agent)):
        raise UserError(f"agent {name} is not a frozen dataclass", "decorate its class with @dataclass(frozen=True)")
    if jax.tree_util.all_leaves([agent]):
        raise UserError(
            f"agent {name} is not a pytree", "subclass langevin_dqn.agents.BaseAgent, or use pytrees.pytree"
        )
    described = agent.describe()
    try:
        json.dumps(described, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UserError(
            f"agent {name}: describe() returns a value that is not JSON: {error}",
            "return a dict of numbers, strings, lists and dicts",
        ) from None
    if not isinstance(described, dict) or not isinstance(described.get("version"), str):
        raise UserError(f"agent {name}: describe() has no version", 'return for instance {"version": "1", ...}')


def check_fits(agent: Any, space: Space, num_actions: int) -> None:
    """Refuse an agent whose functions fail on these observations and actions, or change the shape of its state.

    Nothing is computed: only shapes are followed through all its functions, with the agent's own numbers traced
    as in training.
    """
    name = class_name(agent)
    obs = example_observation(space)
    key = jax.eval_shape(lambda: keys.run_key(0))
    scalar = jax.ShapeDtypeStruct((), jnp.float32)
    flag, count = jax.ShapeDtypeStruct((), bool), jax.ShapeDtypeStruct((), jnp.int32)

    def shapes(method: str, *arguments: Any, **static: Any) -> Any:
        try:
            return jax.eval_shape(lambda agent, *more: getattr(agent, method)(*more, **static), agent, *arguments)
        except UserError:
            raise
        except Exception as error:  # somebody else's code may raise anything
            hint = _STATIC_HINT if isinstance(error, TypeError) else _HINT
            raise UserError(f"agent {name}: {method} raises {brief(error)}", hint) from error

    size = {"space": space, "num_actions": num_actions}
    shapes("init", key, **size, capacity=None)  # host environments do not know how many steps there will be
    state = shapes("init", key, **size, capacity=1)
    step = Step(obs, count, scalar, obs, flag, flag)
    for method, arguments in (
        ("begin_episode", (key, state)),
        ("attend", (key, state, obs)),
        ("observe", (key, state, step)),
        ("learn", (key, state, count)),
    ):
        if _layout(shapes(method, *arguments)) != _layout(state):
            raise UserError(
                f"agent {name}: {method} changes the structure, shapes or dtypes of the state",
                "return a state with the structure, shapes and dtypes of the one returned by init",
            )
    for method in ("act", "exploit"):
        action = shapes(method, key, state, obs)
        if getattr(action, "shape", None) != () or not jnp.issubdtype(action.dtype, jnp.integer):
            raise UserError(
                f"agent {name}: {method} does not return a single integer", "for example, return jnp.argmax(values)"
            )
    for method in ("statistics", "without_memory", "is_finite"):
        shapes(method, state)
    shapes("metrics", key, state)


def _layout(tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tree)
    return structure, [(leaf.shape, leaf.dtype) for leaf in leaves]
