"""Whether something is an agent for an environment, found out before anything is trained."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from langevin_dqn import keys
from langevin_dqn.agents.base import Step
from langevin_dqn.environments.base import Space
from langevin_dqn.errors import UserError, brief
from langevin_dqn.networks.base import example_observation

REQUIRED = ("init", "begin_episode", "act", "observe", "learn", "describe")

_HINT = "see langevin_dqn.agents.Agent; BaseAgent has defaults for all optional methods"


def check_agent(agent: Any) -> None:
    """Refuse what lacks a method of the protocol, is no frozen dataclass, or does not describe itself."""
    name = type(agent).__name__
    for method in REQUIRED:
        if not callable(getattr(agent, method, None)):
            raise UserError(f"agent {name} has no method {method!r}", _HINT)
    if not isinstance(getattr(agent, "learns_within", None), bool):
        raise UserError(f"agent {name} does not say whether it learns within episodes", "set learns_within = False")
    if not dataclasses.is_dataclass(type(agent)):
        raise UserError(f"agent {name} is not a frozen dataclass", "put @dataclass(frozen=True) before its class")
    if jax.tree_util.all_leaves([agent]):
        raise UserError(
            f"agent {name} is not a pytree", "subclass langevin_dqn.agents.BaseAgent, or use pytrees.pytree"
        )
    described = agent.describe()
    try:
        json.dumps(described, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UserError(f"agent {name}: describe() is not JSON: {error}", "return a dict of plain values") from None
    if not isinstance(described, dict) or not isinstance(described.get("version"), str):
        raise UserError(f"agent {name}: describe() has no version", 'return for instance {"version": "1", ...}')


def check_fits(agent: Any, space: Space, num_actions: int) -> None:
    """Refuse an agent whose functions fail on these observations and actions, or change the shape of its state.

    Nothing is computed: only shapes are followed through all its functions.
    """
    name = type(agent).__name__
    obs = example_observation(space)
    key = jax.eval_shape(lambda: keys.run_key(0))
    scalar = jax.ShapeDtypeStruct((), jnp.float32)
    flag, count = jax.ShapeDtypeStruct((), bool), jax.ShapeDtypeStruct((), jnp.int32)
    state = _shapes(name, "init", lambda key: agent.init(key, space, num_actions, 1), key)
    step = Step(obs, count, scalar, obs, flag, flag)
    for method, function, arguments in (
        ("begin_episode", agent.begin_episode, (key, state)),
        ("attend", agent.attend, (key, state, obs)),
        ("observe", agent.observe, (key, state, step)),
        ("learn", agent.learn, (key, state, count)),
    ):
        after = _shapes(name, method, function, *arguments)
        if _layout(after) != _layout(state):
            raise UserError(
                f"agent {name}: {method} changes the structure, shapes or dtypes of the state",
                "return a state like the one that init returns",
            )
    action = _shapes(name, "act", agent.act, key, state, obs)
    if getattr(action, "shape", None) != () or not jnp.issubdtype(action.dtype, jnp.integer):
        raise UserError(f"agent {name}: act does not return one integer", "return for instance jnp.argmax(values)")


def _shapes(name: str, method: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return jax.eval_shape(function, *arguments)
    except UserError:
        raise
    except Exception as error:  # somebody else's code may raise anything
        raise UserError(f"agent {name}: {method} raises {brief(error)}", _HINT) from error


def _layout(tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tree)
    return structure, [(leaf.shape, leaf.dtype) for leaf in leaves]
