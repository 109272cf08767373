"""What an environment is here: pure functions on a pytree.

An environment is a frozen dataclass registered as a pytree. Its arrays (a deep sea's
action mapping) are leaves, so a program compiled for one setting serves every other of
the same shape; what decides shapes is static.

JAX (0.10) takes two classes registered with ``jax.tree_util.register_dataclass`` for the same
structure where their fields are alike, and then, when parts of their hashes happen to be equal, runs
one with the program of the other (``tools/alike_dataclasses.py``). So here classes are
registered with :func:`pytree`, and programs that may get an environment from elsewhere are told
:func:`classes_of` it as well.
"""

from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeVar, runtime_checkable

import jax

Class = TypeVar("Class", bound=type)


def pytree(cls: Class) -> Class:
    """Register a dataclass as ``jax.tree_util.register_dataclass`` does, so that its class counts too."""
    static = [f.name for f in fields(cls) if f.metadata.get("static")]
    leaves = [f.name for f in fields(cls) if f.name not in static]

    def flatten(tree):
        return tuple(getattr(tree, name) for name in leaves), tuple(getattr(tree, name) for name in static)

    def flatten_with_keys(tree):
        values, statics = flatten(tree)
        return tuple(zip(map(jax.tree_util.GetAttrKey, leaves), values, strict=True)), statics

    def unflatten(statics, values):
        tree: Any = object.__new__(cls)
        for name, value in (*zip(static, statics, strict=True), *zip(leaves, values, strict=True)):
            object.__setattr__(tree, name, value)
        return tree

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    return cls


def classes_of(tree: Any) -> tuple[type, ...]:
    """The classes of which a pytree is made, from the outside in."""

    def walk(structure):
        node = structure.node_data()
        return () if node is None else (node[0], *(cls for child in structure.children() for cls in walk(child)))

    return walk(jax.tree.structure(tree))


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
