"""Our environments for agents of other libraries: ``gymnasium.make("langevin_dqn/DeepSea-v0", depth=10)``.

Importing this module registers an id for each name of the registry. Gymnasium does not load
plugins by itself: ``import langevin_dqn.environments.adapters.as_gymnasium`` first, or name the module
in the id: ``"langevin_dqn.environments.adapters.as_gymnasium:langevin_dqn/DeepSea-v0"``.
"""

from typing import Any

import gymnasium
import jax
import numpy as np
from gymnasium import spaces

from langevin_dqn import prng
from langevin_dqn.environments.adapters.host import HostEnvironment
from langevin_dqn.environments.base import Environment, IndexSpace
from langevin_dqn.environments.registry import FACTORIES, make_env, make_named
from langevin_dqn.errors import UserError
from langevin_dqn.pytrees import Program


class GymnasiumEnv(gymnasium.Env):
    """One of our JAX environments, as a Gymnasium environment.

    Args:
        env: an id such as ``deep_sea:depth=10`` or ``deep_sea/3``, or an environment.
        observation: ``dense``, the array bsuite shows, or ``index``, where states are finite. The
            index after the last (bsuite's blank picture) is observed when an episode is over.
        render_mode: only None; rendering is not supported.
        **settings: the factory's, where ``env`` is a bare name.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self, env: str | Environment, observation: str = "dense", render_mode: str | None = None, **settings: Any
    ):
        self._env: Environment = _make(env, settings)
        self._reset, self._step = RESET.compiled_for(self._env), STEP.compiled_for(self._env)
        self._is_dense = observation == "dense"
        self.render_mode = render_mode
        space = self._env.observation_space
        is_index = isinstance(space, IndexSpace)
        if observation not in ("dense", "index") or (observation == "index" and not is_index):
            raise UserError(f"observation={observation!r} is not available for this environment", "use dense")
        self.action_space = spaces.Discrete(self._env.num_actions)
        if isinstance(space, IndexSpace) and not self._is_dense:
            self.observation_space: spaces.Space = spaces.Discrete(space.n + 1)
        else:
            shape = jax.eval_shape(lambda: self._env.dense(self._env.reset(_key(0))[1])).shape
            low, high = (0.0, 1.0) if is_index else (-np.inf, np.inf)
            self.observation_space = spaces.Box(low, high, shape, np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed, options=options)
        self._key = _key(int(self.np_random.integers(2**32)))
        self._steps = 0
        self._state, obs, dense = self._reset(self._env, self._key)
        return self._show(obs, dense), {}

    def step(self, action: Any):
        self._steps += 1
        key = jax.random.fold_in(self._key, self._steps)
        outcome = self._step(self._env, key, self._state, np.int32(action))
        self._state, obs, reward, terminated, truncated, dense = outcome
        return self._show(obs, dense), float(reward), bool(terminated), bool(truncated), {}

    def _show(self, obs: jax.Array, dense: jax.Array) -> Any:
        return np.asarray(dense, np.float32) if self._is_dense else np.int64(obs)


def _make(env: str | Environment, settings: dict[str, Any]) -> Environment:
    if not settings:
        made = make_env(env) if isinstance(env, str) else env
    elif isinstance(env, str) and env in FACTORIES:
        made = make_named(env, settings)
    else:
        raise UserError(f"{env} takes no settings", "give the name alone, and its settings as keywords")
    if isinstance(made, HostEnvironment):
        raise UserError(f"{env} is not a JAX environment", "langevin-dqn list shows the JAX environments")
    return made


def _key(seed: int) -> jax.Array:
    return jax.random.key(np.uint32(seed), impl=prng.PRNG)


def _reset(env: Environment, key: jax.Array):
    state, obs = env.reset(key)
    return state, obs, env.dense(obs)


def _step(env: Environment, key: jax.Array, state: Any, action: Any):
    state, obs, reward, terminated, truncated = env.step(key, state, action)
    return state, obs, reward, terminated, truncated, env.dense(obs)


RESET, STEP = Program(_reset), Program(_step)

for _name in FACTORIES:
    gymnasium.register(
        f"langevin_dqn/{_name.title().replace('_', '')}-v0",
        entry_point="langevin_dqn.environments.adapters.as_gymnasium:GymnasiumEnv",
        kwargs={"env": _name},
    )
