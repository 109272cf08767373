"""XLand-MiniGrid environments for our agents, compiled: ``xminigrid:MiniGrid-Empty-5x5``."""

import functools
from dataclasses import dataclass, field, fields
from typing import Any

import jax
import jax.numpy as jnp

from langevin_dqn.environments.base import ArraySpace, Environment, Space
from langevin_dqn.environments.settings import typed_values
from langevin_dqn.errors import UserError, brief, nearest_or
from langevin_dqn.extras import missing
from langevin_dqn.ids import split_settings
from langevin_dqn.pytrees import static

_LIST = "python -c 'import xminigrid; print(*xminigrid.registered_environments())'"


def make(text: str) -> "XMiniGridEnvironment":
    """``MiniGrid-Empty-5x5``, or with settings ``MiniGrid-Empty-5x5:view_size=5,max_steps=50``."""
    try:
        import xminigrid
    except ImportError as error:
        raise missing("xminigrid", error) from None
    name, settings = split_settings(text)
    if name not in xminigrid.registered_environments():
        hint = nearest_or(name, xminigrid.registered_environments(), f"{_LIST} lists them")
        raise UserError(f"xminigrid has no environment {name!r}", hint)
    env, params = _make(name, tuple(sorted(settings.items())))
    if hasattr(params, "ruleset"):
        hint = "from Python, train takes the pair (env, params.replace(ruleset=benchmark.get_ruleset(0)))"
        raise UserError(f"{name} has no goal without a ruleset", hint)
    return XMiniGridEnvironment(env, params)


@functools.lru_cache(maxsize=256)
def _make(name: str, settings: tuple[tuple[str, str], ...]) -> tuple[Any, Any]:
    """An environment and its parameters: one object per id, so that the runs of an id share a program."""
    import xminigrid

    try:
        env, params = xminigrid.make(name)
        numbers = {f.name: value for f in fields(params) if isinstance(value := getattr(params, f.name), int)}
        return env, params.replace(**typed_values(dict(settings), numbers, f"xminigrid:{name}"))
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # an environment's constructor may raise anything
        raise UserError(f"xminigrid cannot make {name!r}: {brief(error)}", "check its settings") from error


def is_xminigrid(env: Any) -> bool:
    """True for an environment of xminigrid's, or a wrapper around one; xminigrid is not imported for it."""
    return any(kind.__module__.partition(".")[0] == "xminigrid" for kind in type(env).__mro__)


@dataclass(frozen=True)
class XMiniGridEnvironment(Environment):
    """An XLand-MiniGrid environment as a compiled ``Environment``.

    The observation is the field of view, (rows, columns, 2): the number of the tile and of its colour, as float32.
    Reaching the goal terminates an episode; the time limit truncates it.

    Attributes:
        env: the environment, without a wrapper that resets it.
        params: its parameters; by default its own.
    """

    env: Any = static()
    params: Any = None
    observation_space: Space = field(init=False, metadata={"static": True})
    num_actions: int = field(init=False, metadata={"static": True})
    max_steps: int | None = field(init=False, metadata={"static": True})

    def __post_init__(self) -> None:
        env = self.env
        inner = env
        while inner is not None:
            if "AutoReset" in type(inner).__name__:
                hint = "pass the environment without the wrapper; training resets it"
                raise UserError(f"{type(inner).__name__} hides the last observation of an episode", hint)
            inner = getattr(inner, "_env", None)
        params = env.default_params() if self.params is None else self.params
        shape = env.observation_shape(params)
        if isinstance(shape, dict):
            hint = "leave out the wrapper that adds to the observation, or write one that returns one array"
            raise UserError(f"observations {shape} are not supported", hint)
        object.__setattr__(self, "params", params)
        object.__setattr__(self, "observation_space", ArraySpace(tuple(shape)))
        object.__setattr__(self, "num_actions", int(env.num_actions(params)))
        object.__setattr__(self, "max_steps", params.max_steps)

    def reset(self, key: jax.Array) -> tuple[Any, jax.Array]:
        now = self.env.reset(self.params, key)
        return now, self._observe(now)

    def step(
        self, key: jax.Array, state: Any, action: jax.Array
    ) -> tuple[Any, jax.Array, jax.Array, jax.Array, jax.Array]:
        del key  # what is random in a step follows from the key of the reset, which the state has
        now = self.env.step(self.params, state, action)
        terminated = now.last() & (now.discount == 0)
        return now, self._observe(now), now.reward.astype(jnp.float32), terminated, now.last() & ~terminated

    def _observe(self, now: Any) -> jax.Array:
        return now.observation.astype(jnp.float32)
