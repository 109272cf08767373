"""Gymnasium environments for our agents: ``gym:CartPole-v1``.

The other way round is ``as_gymnasium.py``.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from langevin_dqn.environments.base import ArraySpace, IndexSpace, Space
from langevin_dqn.errors import UserError, brief, nearest_or
from langevin_dqn.extras import missing
from langevin_dqn.ids import literal, split_settings

_WRAP = "wrap the environment and pass langevin_dqn.environments.GymnasiumEnvironment(env) to train"


def make(text: str) -> "GymnasiumEnvironment":
    """``CartPole-v1``, or with settings ``FrozenLake-v1:is_slippery=false,map_name=8x8``."""
    try:
        import gymnasium
    except ImportError as error:
        raise missing("gymnasium", error) from None
    name, settings = split_settings(text)
    try:
        return GymnasiumEnvironment(gymnasium.make(name, **{key: literal(value) for key, value in settings.items()}))
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # an environment's constructor may raise anything
        if isinstance(error, gymnasium.error.Error) and name.rpartition(":")[2] not in gymnasium.registry:
            raise _unknown(name, gymnasium.registry) from None
        lacks = getattr(error, "name", None) or getattr(error.__cause__, "name", None)
        if isinstance(error, ModuleNotFoundError) and lacks:
            package = lacks.partition(".")[0]
            message = f"Gymnasium cannot make {name!r}: it needs {package}, which is not installed"
            hint = f"check the name of the package, or install it: pip install {package.replace('_', '-')}"
            raise UserError(message, hint) from error
        hint = "check its settings and whether the packages it needs are installed"
        raise UserError(f"Gymnasium cannot make {name!r}: {brief(error)}", hint) from error


#: Packages that register environments whose names begin like this.
_PACKAGES = {"ALE/": "ale_py", "MiniGrid-": "minigrid", "BabyAI-": "minigrid", "MinAtar/": "minatar"}


def _unknown(name: str, registry: Iterable[str]) -> UserError:
    for start, package in _PACKAGES.items():
        if name.startswith(start):
            hint = f"install {package.replace('_', '-')} and write gym:{package}:{name}"
            return UserError(f"Gymnasium has no environment {name!r}", hint)
    lists = "python -c 'import gymnasium; gymnasium.pprint_registry()' lists its environments"
    return UserError(f"Gymnasium has no environment {name!r}", nearest_or(name, registry, lists))


class GymnasiumEnvironment:
    """A live Gymnasium environment as a ``HostEnvironment``.

    Actions are ``Discrete``. Observations are ``Discrete``, seen as an index, or ``Box``, seen as
    float32; a ``Box`` of uint8 up to 255 stays uint8. Pictures have their channels last.

    Args:
        env: the environment, wrapped as you like.
    """

    max_return = None

    def __init__(self, env: Any):
        from gymnasium import spaces

        if not isinstance(env.action_space, spaces.Discrete):
            raise UserError(f"actions {env.action_space} are not supported", "the action space must be Discrete(n)")
        self.env = env
        self._first_action = int(env.action_space.start)
        self._space, self._first_index = _translate(env.observation_space)

    @property
    def observation_space(self) -> Space:
        return self._space

    @property
    def num_actions(self) -> int:
        return int(self.env.action_space.n)

    def reset(self, seed: int | None = None) -> np.ndarray:
        return self._observe(self.env.reset(seed=seed)[0])

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool]:
        obs, reward, terminated, truncated, _ = self.env.step(self._first_action + action)
        return self._observe(obs), float(reward), bool(terminated), bool(truncated)

    def close(self) -> None:
        self.env.close()

    def _observe(self, obs: Any) -> np.ndarray:
        if isinstance(self._space, IndexSpace):
            return np.asarray(obs - self._first_index, np.int32)
        return np.array(obs, self._space.dtype)  # a copy: some environments write into the old one


def _translate(space: Any) -> tuple[Space, int]:
    """Our space for Gymnasium's, and its first index where it is Discrete."""
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        return IndexSpace(int(space.n)), int(space.start)
    if isinstance(space, spaces.Box):
        is_pixels = space.dtype == np.uint8 and bool((space.high == 255).all())
        return ArraySpace(space.shape, "uint8" if is_pixels else "float32"), 0
    if isinstance(space, spaces.Dict | spaces.Tuple | spaces.MultiDiscrete | spaces.MultiBinary):
        raise UserError(
            f"observations {space} are not supported".replace("\n", " "),
            f"{_WRAP}, with gymnasium.wrappers.FlattenObservation",
        )
    raise UserError(f"observations {space} are not supported".replace("\n", " "), f"{_WRAP}, as Box or Discrete")
