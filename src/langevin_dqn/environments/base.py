"""The base class of environments, and the spaces of their observations.

An environment is a frozen dataclass of pure functions. Its fields are leaves of a pytree, so a
program compiled for one setting (a deep sea's action mapping, say) serves every other of the same
shape; fields that decide shapes are marked ``static``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax

from langevin_dqn.pytrees import pytree


@dataclass(frozen=True)
class IndexSpace:
    """Observations are indices 0..n-1 (int32) of a finite state space.

    After the last step of an episode the index may be n, which stands for bsuite's blank picture;
    its value is never used.
    """

    n: int


@dataclass(frozen=True)
class ArraySpace:
    """Observations are arrays of one shape.

    Pixels may stay ``uint8``, which a replay buffer holds in a quarter of the memory; networks
    see them divided by 255. So may ``bool``, seen as 0 and 1.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"


@dataclass(frozen=True)
class FeatureSpace(ArraySpace):
    """Observations have a row of features for each action, (actions, features).

    The value of an action is then one function of its own row, the same for all actions.
    """


Space = IndexSpace | ArraySpace

if TYPE_CHECKING:
    from builtins import property as overridable
else:

    class overridable:  # noqa: N801
        """A property that a subclass may replace by a property, a class attribute or a dataclass field.

        A plain ``property`` would refuse the value of a field of the same name, and ``@dataclass``
        would take it for the field's default.
        """

        def __init__(self, function: Callable[[Any], Any]):
            self._function = function
            self.__doc__ = function.__doc__

        def __get__(self, instance: Any, owner: type) -> Any:
            if instance is None:
                raise AttributeError(f"{owner.__name__} has no value of {self._function.__name__} for the class")
            return self._function(instance)


class Environment:
    """An episodic environment with a finite number of actions, as pure JAX functions.

    A subclass is a frozen dataclass that defines ``reset``, ``step``, ``observation_space``
    and ``num_actions``; everything else has a default. Subclasses are registered as pytrees.

    An object of another class is accepted too, if it is a pytree and has all these members but
    ``learned_regret``.

    Examples:
        >>> import jax.numpy as jnp
        >>> @dataclass(frozen=True)
        ... class Coin(Environment):
        ...     heads: jax.Array
        ...     num_actions = 2
        ...     observation_space = IndexSpace(1)
        ...
        ...     def reset(self, key):
        ...         return (), jnp.int32(0)
        ...
        ...     def step(self, key, state, action):
        ...         reward = (action == self.heads).astype(jnp.float32)
        ...         return state, jnp.int32(0), reward, jnp.bool_(True), jnp.bool_(False)
        >>> coin = Coin(jnp.int32(1))
        >>> _, _, reward, _, _ = coin.step(jax.random.key(0), (), jnp.int32(1))
        >>> float(reward)
        1.0
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        pytree(cls)

    @overridable
    def observation_space(self) -> Space:
        """What ``reset`` and ``step`` return as the observation."""
        raise AttributeError(f"{type(self).__name__} does not define observation_space")

    @overridable
    def num_actions(self) -> int:
        """Actions are 0..num_actions-1."""
        raise AttributeError(f"{type(self).__name__} does not define num_actions")

    def reset(self, key: jax.Array) -> tuple[Any, jax.Array]:
        """Start an episode: ``(state, obs)``."""
        raise NotImplementedError(f"{type(self).__name__} does not define reset")

    def step(
        self, key: jax.Array, state: Any, action: jax.Array
    ) -> tuple[Any, jax.Array, jax.Array, jax.Array, jax.Array]:
        """One step of an episode: ``(state, obs, reward, terminated, truncated)``."""
        raise NotImplementedError(f"{type(self).__name__} does not define step")

    @overridable
    def max_return(self) -> float | None:
        """The best expected return of an episode, against which regret is counted; None if unknown."""
        return None

    @overridable
    def max_steps(self) -> int | None:
        """The most steps of an episode; None if unknown, and replay is then as large as its configuration says."""
        return None

    @overridable
    def learned_regret(self) -> float | None:
        """A run has learned when its regret per episode is below this; None if there is no such threshold.

        The paper has 0.8 for Deep Sea. Learning times are reported for environments with a threshold only.
        """
        return None

    def dense(self, obs: jax.Array) -> jax.Array:
        """The observation as an array: one-hot for an index, unless bsuite shows it otherwise."""
        space = self.observation_space
        return jax.nn.one_hot(obs, space.n, dtype="float32") if isinstance(space, IndexSpace) else obs

    def measure(self, state: Any) -> dict[str, jax.Array]:
        """What the episode that ended in ``state`` adds to each column of the run's log, by the column's name.

        Columns of bsuite keep their names. ``best_episode`` is kept as a maximum over episodes,
        every other column as a sum. ``regret``, which bsuite does not have, is free of the rewards'
        noise: the best mean reward minus that of the chosen action.
        """
        del state
        return {}
