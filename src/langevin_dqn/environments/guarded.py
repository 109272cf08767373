"""An environment on the host, each answer of which is checked: what goes wrong in it is named as its own fault."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from langevin_dqn.environments.adapters.host import HostEnvironment
from langevin_dqn.environments.base import ArraySpace, IndexSpace, Space
from langevin_dqn.environments.checking import where
from langevin_dqn.errors import EnvironmentFault, brief


class Guarded:
    """A ``HostEnvironment`` that raises ``EnvironmentFault`` where the one inside raises, or returns what is unusable.

    Observations must have the shape of the observation space and be finite, indices must be within it, and rewards
    must be finite. The answers themselves are passed on as they are.

    Args:
        environment: the environment.
        name: what to call it in messages.
    """

    def __init__(self, environment: HostEnvironment, name: str):
        self._inner, self._name = environment, name

    def __getattr__(self, name: str) -> Any:  # what only some have: save_state and load_state
        return getattr(self._inner, name)

    @property
    def observation_space(self) -> Space:
        return self._inner.observation_space

    @property
    def num_actions(self) -> int:
        return self._inner.num_actions

    @property
    def max_return(self) -> float | None:
        return self._inner.max_return

    def reset(self, seed: int | None = None) -> np.ndarray:
        obs = self._called("reset", lambda: self._inner.reset(seed))
        self._check_observation("reset", obs)
        return obs

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool]:
        answer = self._called("step", lambda: self._inner.step(action))
        if not isinstance(answer, tuple) or len(answer) != 4:
            count = f"{len(answer)} values" if isinstance(answer, tuple) else f"a {type(answer).__name__}"
            raise self._fault(f"step returns {count}, not four", "return obs, reward, terminated, truncated")
        obs, reward, terminated, truncated = answer
        self._check_observation("step", obs)
        number = self._called("step", lambda: float(reward))
        if not math.isfinite(number):
            raise self._fault(f"step returns the reward {number}", "rewards must be finite numbers")
        flags = self._called("step", lambda: (bool(terminated), bool(truncated)))
        return obs, reward, *flags

    def close(self) -> None:
        self._inner.close()

    def _called(self, method: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except (Exception, SystemExit) as error:  # somebody else's code may raise anything
            own = getattr(self._inner, "env", self._inner)  # what an adapter wraps
            raise self._fault(f"{method} raises {brief(error)}", where(error, type(own))) from error

    def _check_observation(self, method: str, obs: Any) -> None:
        space, shape = self._inner.observation_space, np.shape(obs)
        expected = tuple(space.shape) if isinstance(space, ArraySpace) else ()
        if shape != expected:
            what = f"an observation of shape {shape}, but its observation space has {expected}"
            raise self._fault(f"{method} returns {what}", "change the observation or the space so that they agree")
        if isinstance(space, IndexSpace):
            if not 0 <= int(obs) <= space.n:
                raise self._fault(f"{method} returns the index {int(obs)}", f"indices must be from 0 to {space.n - 1}")
        elif np.asarray(obs).dtype.kind == "f" and not np.isfinite(obs).all():
            raise self._fault(f"{method} returns an observation that is not finite", "observations must be finite")

    def _fault(self, message: str, hint: str) -> EnvironmentFault:
        return EnvironmentFault(f"{self._name}: {message}", hint)
