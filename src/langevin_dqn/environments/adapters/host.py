"""The interface of environments that run on the host: objects with a hidden state.

Gymnasium and dm_env environments are such objects. They cannot be compiled, so training
calls them step by step.
"""

from typing import Protocol, runtime_checkable

import numpy as np

from langevin_dqn.environments.base import Space


@runtime_checkable
class HostEnvironment(Protocol):
    """An episodic environment with a finite number of actions, numbered from 0.

    Any object with these members is one: ``isinstance`` looks for them. JAX environments
    (``Environment``) have no ``close``.
    """

    @property
    def observation_space(self) -> Space: ...

    @property
    def num_actions(self) -> int: ...

    @property
    def max_return(self) -> float | None:
        """The best expected return of an episode, where it is known."""
        ...

    def reset(self, seed: int | None = None) -> np.ndarray:
        """Start an episode. A seed resets the environment's own random generator."""
        ...

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool]:
        """``(obs, reward, terminated, truncated)``.

        The state after a truncated step still has a value; after a terminated one it has none.
        """
        ...

    def close(self) -> None:
        """Release what the environment holds."""
        ...
