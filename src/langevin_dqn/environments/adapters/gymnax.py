"""Gymnax environments for our agents, compiled: ``gymnax:CartPole-v1``, ``gymnax:Breakout-MinAtar``.

Gymnax resets an environment within the step that ends an episode, so its ``step`` shows the first observation
of the next episode in place of the last one of this. The adapter calls ``step_env``, which does not.

Ends come in two forms. Since gymnax 1.0 an environment reports termination and truncation apart (six values of
``step``). Before, it reported one ``done`` (five values), which includes the time limit; what terminated is then
found by lifting the limit.
"""

import functools
import inspect
from dataclasses import dataclass, field, fields
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn.environments.base import ArraySpace, Environment, IndexSpace, Space
from langevin_dqn.environments.settings import typed_values
from langevin_dqn.errors import UserError, brief, nearest_or
from langevin_dqn.extras import missing
from langevin_dqn.ids import split_settings
from langevin_dqn.pytrees import static

_LIST = "python -c 'import gymnax; print(*gymnax.registered_envs)'"
_LIMIT = "max_steps_in_episode"
_MOST_STEPS = np.iinfo(np.int32).max


def make(text: str) -> "GymnaxEnvironment":
    """``CartPole-v1``, or with settings ``DeepSea-bsuite:size=12``.

    A setting is an argument of the environment's class or a field of its parameters.
    """
    try:
        import gymnax
    except ImportError as error:
        raise missing("gymnax", error) from None
    name, settings = split_settings(text)
    if name not in gymnax.registered_envs:
        raise UserError(
            f"gymnax has no environment {name!r}", nearest_or(name, gymnax.registered_envs, f"{_LIST} lists them")
        )
    return GymnaxEnvironment(*_make(name, tuple(sorted(settings.items()))))


@functools.lru_cache(maxsize=256)
def _make(name: str, settings: tuple[tuple[str, str], ...]) -> tuple[Any, Any]:
    """An environment and its parameters: one object per id, so that the runs of an id share a program."""
    import gymnax

    try:
        env, params = gymnax.make(name)
        if settings:
            arguments = _arguments(type(env))
            fields_of_params = {f.name: getattr(params, f.name) for f in fields(params)}
            values = typed_values(dict(settings), arguments | fields_of_params, f"gymnax:{name}")
            env, params = gymnax.make(name, **{key: value for key, value in values.items() if key in arguments})
            params = params.replace(**{key: value for key, value in values.items() if key not in arguments})
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # an environment's constructor may raise anything
        hint = "check its settings, and whether the files that it needs are there"
        raise UserError(f"gymnax cannot make {name!r}: {brief(error)}", hint) from error
    return env, params


def _arguments(kind: type) -> dict[str, Any]:
    """The arguments of an environment's class, with their defaults."""
    parameters = inspect.signature(kind).parameters.values()
    return {p.name: p.default for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}


def is_gymnax(env: Any) -> bool:
    """True for an environment of gymnax's, or a wrapper around one; gymnax is not imported for it."""
    return any(kind.__module__.partition(".")[0] == "gymnax" for kind in type(env).__mro__)


@dataclass(frozen=True)
class GymnaxEnvironment(Environment):
    """A gymnax environment as a compiled ``Environment``.

    Actions are ``Discrete``. Observations are ``Discrete``, seen as an index, or ``Box``, seen as float32;
    MinAtar's pictures of zeros and ones are booleans, which a replay buffer holds in a quarter of the memory.

    Attributes:
        env: the environment, not wrapped.
        params: its parameters; by default its own. They are traced: a change of one does not compile again,
            except for the time limit.
    """

    env: Any = static()
    params: Any = None
    observation_space: Space = field(init=False, metadata={"static": True})
    num_actions: int = field(init=False, metadata={"static": True})
    max_steps: int | None = field(init=False, metadata={"static": True})

    def __post_init__(self) -> None:
        env, params = self.env, self.params
        if hasattr(env, "_env"):
            hint = "pass the environment without the wrapper; training logs episodes and flattens observations itself"
            raise UserError(f"{type(env).__name__} is a wrapper of gymnax", hint)
        if params is None:
            params = env.default_params
            object.__setattr__(self, "params", params)
        limit = getattr(params, _LIMIT, None)
        object.__setattr__(self, "observation_space", _observation_space(env, params))
        object.__setattr__(self, "num_actions", _num_actions(env, params))
        object.__setattr__(self, "max_steps", None if limit is None else int(limit))

    def reset(self, key: jax.Array) -> tuple[Any, jax.Array]:
        obs, state = self.env.reset_env(key, self.params)
        return jax.tree.map(jnp.asarray, state), self._observe(obs)

    def step(
        self, key: jax.Array, state: Any, action: jax.Array
    ) -> tuple[Any, jax.Array, jax.Array, jax.Array, jax.Array]:
        obs, after, reward, done, _ = self.env.step_env(key, state, action, self.params)
        if hasattr(self.env, "is_truncated"):
            terminated, truncated = done, self.env.is_truncated(after, self.params)
        elif self.max_steps is not None:
            # The compiler shares what both calls have in common, which is all but the comparison with the limit.
            endless = self.params.replace(**{_LIMIT: _MOST_STEPS})
            terminated = self.env.step_env(key, state, action, endless)[3]
            truncated = jnp.asarray(done, bool) & ~jnp.asarray(terminated, bool)
        else:
            terminated, truncated = done, False
        ends = jnp.asarray(terminated, bool), jnp.asarray(truncated, bool)
        return jax.tree.map(jnp.asarray, after), self._observe(obs), jnp.asarray(reward, jnp.float32), *ends

    def _observe(self, obs: Any) -> jax.Array:
        space = self.observation_space
        return jnp.asarray(obs, jnp.int32 if isinstance(space, IndexSpace) else space.dtype)


def _num_actions(env: Any, params: Any) -> int:
    from gymnax.environments import spaces

    space = env.action_space(params)
    if not isinstance(space, spaces.Discrete):
        raise UserError(
            f"the actions of {env.name} are not supported: {type(space).__name__}",
            "the action space must be Discrete(n)",
        )
    return int(space.n)


def _observation_space(env: Any, params: Any) -> Space:
    from gymnax.environments import spaces

    space = env.observation_space(params)
    if isinstance(space, spaces.Discrete):
        return IndexSpace(int(space.n))
    if isinstance(space, spaces.Box):
        is_picture_of_bits = str(env.name).endswith("-MinAtar")
        is_pixels = np.dtype(space.dtype) == np.uint8 and bool(np.all(np.asarray(space.high) == 255))
        return ArraySpace(tuple(space.shape), "bool" if is_picture_of_bits else "uint8" if is_pixels else "float32")
    raise UserError(
        f"the observations of {env.name} are not supported: {type(space).__name__}",
        "subclass the environment so that its observation space is a Box",
    )
