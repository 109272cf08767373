"""What an environment is here: pure functions on a pytree.

An environment is a frozen dataclass registered as a pytree. Its arrays (a deep sea's
action mapping) are leaves, so a program compiled for one setting serves every other of
the same shape; what decides shapes is static.
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import jax


@dataclass(frozen=True)
class IndexSpace:
    """Observations are indices 0..n-1 (int32) of a finite state space.

    Index n stands for bsuite's blank picture after the last step. It ends an episode, so
    its value is never read.
    """

    n: int


@dataclass(frozen=True)
class ArraySpace:
    """Observations are arrays of one shape.

    Pixels may stay ``uint8``, which a replay buffer holds in a quarter of the memory; networks
    see them divided by 255.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"


@dataclass(frozen=True)
class FeatureSpace(ArraySpace):
    """Observations have a row of features for each action, (actions, features).

    The value of an action is then one function of its own row, the same for all actions.
    """


Space = IndexSpace | ArraySpace


@runtime_checkable
class Environment(Protocol):
    """An episodic environment with a finite number of actions.

    One that also has ``learned_regret`` says below which regret per episode a run has learned,
    as the paper does for the deep sea (0.8); learning times are told for such ones only.
    """

    @property
    def observation_space(self) -> Space: ...

    @property
    def num_actions(self) -> int: ...

    @property
    def max_return(self) -> float | None:
        """The best expected return of an episode, against which regret is counted."""
        ...

    @property
    def max_steps(self) -> int:
        """No episode is longer than this."""
        ...

    def reset(self, key: jax.Array) -> tuple[Any, jax.Array]:
        """Start an episode: ``(state, obs)``."""
        ...

    def step(
        self, key: jax.Array, state: Any, action: jax.Array
    ) -> tuple[Any, jax.Array, jax.Array, jax.Array, jax.Array]:
        """``(state, obs, reward, terminated, truncated)``."""
        ...

    def dense(self, obs: jax.Array) -> jax.Array:
        """The array bsuite would show for ``obs``."""
        ...

    def measure(self, state: Any) -> dict[str, jax.Array]:
        """What the episode that ended in ``state`` adds to each of the columns bsuite logs for it.

        Named as bsuite's columns are. ``best_episode`` is kept as a maximum over episodes,
        every other column as a sum. ``regret``, which bsuite has not, is free of the rewards'
        noise: the best mean less that of what was chosen.
        """
        ...
