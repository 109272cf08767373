"""What a network is: values of all actions, given an observation and, for some, an epistemic index.

An epistemic index is a random vector or key that selects one value function, as in NoisyNet or
HyperAgent. It has nothing to do with observations that are indices of states.

A network is a frozen dataclass, equal to another of the same settings, so that equal networks share
one compiled program. Batches, members and priors are added by the agent with ``vmap``.
"""

import dataclasses
import math
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from langevin_dqn.environments.base import IndexSpace, Space
from langevin_dqn.errors import UserError, brief

Params = Any


@runtime_checkable
class Network(Protocol):
    """The methods that every network has; ``BaseNetwork`` has the optional ones with defaults.

    A network whose first layer is a row lookup for index observations may also have
    ``head(rest, row)``. Its parameters are then a pair ``(rows, rest)``, and
    ``apply((rows, rest), obs)`` equals ``head(rest, rows[obs])``. Lazy rows and tables of values need it.
    A network that draws an epistemic index (``BaseNetwork.index``) does not use ``head``.

    A network may have ``scaled(params, factor)``, which returns parameters that give its values times
    ``factor``. An agent whose unit of value grows keeps its values with it; without it, it learns them again.
    """

    def init(self, key: jax.Array, space: Space, num_actions: int) -> Params:
        """Random parameters: a pytree of arrays."""
        ...

    def apply(self, params: Params, obs: jax.Array, index: Any = None) -> jax.Array:
        """The values of one observation, one per action; ``index`` is what ``BaseNetwork.index`` drew."""
        ...


@dataclasses.dataclass(frozen=True)
class BaseNetwork:
    """Defaults of what is optional."""

    def index(self, key: jax.Array) -> Any:
        """Draw the epistemic index of one value function: a vector or a key. None for a network without one."""
        del key
        return None


def can_be_scaled(network: Network) -> bool:
    """True if the network has ``scaled``: parameters that give its values times a factor."""
    return callable(getattr(network, "scaled", None))


def draw_index(network: Network, key: jax.Array) -> Any:
    """An index for ``network``, or None."""
    draw = getattr(network, "index", None)
    return None if draw is None else draw(key)


def has_index(network: Network) -> bool:
    return draw_index(network, jax.random.key(0)) is not None


def has_rows(network: Network) -> bool:
    """True if the network has ``head`` and draws no epistemic index of its own."""
    return callable(getattr(network, "head", None)) and not has_index(network)


def values(network: Network, params: Params, obs: jax.Array, index: Any = None) -> jax.Array:
    """``network.apply``, which needs to know of an index only where there is one."""
    return network.apply(params, obs) if index is None else network.apply(params, obs, index)


def member_values(network: Any, params: Params, member: jax.Array, obs: jax.Array, index: Any = None) -> jax.Array:
    """One member's values of an observation, from parameters that lead with the members."""
    if has_rows(network) and is_index(obs):
        # Take the row before the member, so that no member's whole table is copied.
        rows, rest = params
        row = rows[member, jnp.minimum(obs, rows.shape[1] - 1)]
        return network.head(jax.tree.map(lambda x: x[member], rest), row)
    return values(network, jax.tree.map(lambda x: x[member], params), obs, index)


def is_index(obs: jax.Array) -> bool:
    """True for an index of a finite state space, false for numbers and for pixels."""
    return jnp.issubdtype(obs.dtype, jnp.integer) and obs.dtype != jnp.uint8


def as_numbers(obs: jax.Array) -> jax.Array:
    """Observations as float32; pixels divided by 255, booleans as 0 and 1."""
    if obs.dtype == jnp.bool_:
        return obs.astype(jnp.float32)
    return obs.astype(jnp.float32) / 255 if obs.dtype == jnp.uint8 else obs


def random_weights(key: jax.Array, fan_in: int, fan_out: int) -> jax.Array:
    """Truncated normals of scale 1/sqrt(fan-in), as in the authors' code; the paper does not say."""
    return jax.random.truncated_normal(key, -2, 2, (fan_in, fan_out)) / math.sqrt(fan_in)


def example_observation(space: Space) -> jax.ShapeDtypeStruct:
    """The shape and dtype of one observation."""
    if isinstance(space, IndexSpace):
        return jax.ShapeDtypeStruct((), jnp.int32)
    return jax.ShapeDtypeStruct(space.shape, jnp.dtype(space.dtype))


def check_network(network: Any, space: Space, num_actions: int) -> None:
    """Refuse, before anything is trained, what is no network for these observations and actions."""
    name = type(network).__name__
    for method in ("init", "apply"):
        if not callable(getattr(network, method, None)):
            raise UserError(f"network {name} has no method {method!r}", "subclass langevin_dqn.networks.BaseNetwork")
    try:
        hash(network)
    except TypeError:
        raise UserError(f"network {name} cannot be hashed", "make it a frozen dataclass with hashable fields") from None
    key = jax.random.key(0)

    def output(obs):
        index = draw_index(network, key)
        return values(network, network.init(key, space, num_actions), obs, index)

    try:
        found = jax.eval_shape(output, example_observation(space))
    except Exception as error:  # somebody else's code may raise anything
        raise UserError(
            f"network {name} fails on {space}: {brief(error)}",
            "check init(key, space, num_actions) and apply(params, obs)",
        ) from error
    shape = getattr(found, "shape", None)
    if shape != (num_actions,):
        raise UserError(
            f"network {name} returns values of shape {shape}, not {(num_actions,)}",
            "apply(params, obs) must return one value per action for a single observation",
        )


def describe_network(network: Any) -> dict[str, Any]:
    """What defines a network, as JSON: its class and settings, or what its own ``describe()`` says."""
    if callable(getattr(network, "describe", None)):
        return network.describe()
    fields = dataclasses.fields(network) if dataclasses.is_dataclass(network) else ()
    settings = {f.name: _as_json(getattr(network, f.name), type(network).__qualname__) for f in fields}
    return {"class": type(network).__qualname__, **settings}


def _as_json(value: Any, owner: str) -> Any:
    if isinstance(value, int | float | str | bool | None):
        return value
    if isinstance(value, list | tuple):
        return [_as_json(item, owner) for item in value]
    if hasattr(value, "apply") or dataclasses.is_dataclass(value):
        return describe_network(value)
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if " at 0x" in repr(value):
        raise UserError(f"network {owner} has a field that cannot be described", "add a method describe() -> dict")
    return repr(value)
