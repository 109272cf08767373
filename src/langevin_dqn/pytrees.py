"""Frozen dataclasses as pytrees, and programs that never mix two classes up.

An agent, an environment and their parts are frozen dataclasses. Arrays and numbers that may change
without compiling again are leaves; what decides shapes is static (``static``).

JAX (0.10) takes two classes registered with ``jax.tree_util.register_dataclass`` for the same
structure where their fields are alike, and then, when parts of their hashes happen to be equal, runs
one with the program of the other (``tools/alike_dataclasses.py`` shows it). Two things prevent that
here. ``pytree`` registers a class such that it is part of the structure. And the training loops
compile through ``Program``, which keeps the programs of different classes apart, so that a
user's class may be registered in any way.
"""

import dataclasses
from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeVar

import jax
from jax import lax

from langevin_dqn import machine

Class = TypeVar("Class", bound=type)
Tree = TypeVar("Tree")


def static(default: Any = dataclasses.MISSING, *, compare: bool = True) -> Any:
    """A dataclass field that is not traced: a change of it compiles anew.

    With ``compare=False`` the field does not count when structures are compared: for
    descriptions, which no program reads.
    """
    return dataclasses.field(default=default, compare=compare, metadata={"static": True})


class _Uncompared:
    """Static data that is equal to any other."""

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Uncompared)

    def __hash__(self) -> int:
        return 0


@cache
def _layout(cls: Any) -> tuple[tuple[str, ...], tuple[tuple[str, bool], ...]]:
    """The names of a dataclass's leaves, and of its static fields with whether each is compared."""
    fields = dataclasses.fields(cls)
    statics = tuple((f.name, f.compare) for f in fields if f.metadata.get("static"))
    return tuple(f.name for f in fields if not f.metadata.get("static")), statics


def pytree(cls: Class) -> Class:
    """Register a dataclass as a pytree of which its class is a part.

    The fields are looked up at first use, so this may be applied before ``@dataclass``, as the base
    classes of agents and environments do for every subclass.
    """

    def flatten(tree):
        leaves, statics = _layout(cls)
        aux = tuple(getattr(tree, name) if compared else _Uncompared(getattr(tree, name)) for name, compared in statics)
        return tuple(getattr(tree, name) for name in leaves), aux

    def flatten_with_keys(tree):
        values, aux = flatten(tree)
        return tuple(zip(map(jax.tree_util.GetAttrKey, _layout(cls)[0]), values, strict=True)), aux

    def unflatten(aux, values):
        tree: Any = object.__new__(cls)
        leaves, statics = _layout(cls)
        for (name, compared), value in zip(statics, aux, strict=True):
            object.__setattr__(tree, name, value if compared else value.value)
        for name, value in zip(leaves, values, strict=True):
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


class Program:
    """A function to compile, once for each combination of classes of the trees that it is given.

    ``Program(function, **options).compiled_for(agent, environment)`` is ``jax.jit(function, **options)``
    with a cache that these classes do not share with others, with ``machine.compiler_options``.
    """

    def __init__(self, function: Callable[..., Any], **options: Any):
        self._function, self._options = function, options
        self._compiled: dict[tuple[type, ...], Any] = {}

    def is_compiled_for(self, *trees: Any) -> bool:
        """True if these classes have a cache already."""
        return classes_of(trees) in self._compiled

    def compiled_for(self, *trees: Any) -> Any:
        classes = classes_of(trees)
        if classes not in self._compiled:
            # A new function object: ``jit`` of one function twice would share its cache.
            separate = partial(self._function)
            self._compiled[classes] = jax.jit(separate, **self._options, compiler_options=machine.compiler_options())
        return self._compiled[classes]


def apply_if(condition: jax.Array, function: Callable[[Tree], Tree], tree: Tree) -> Tree:
    """``function(tree)`` if ``condition``, else ``tree``.

    A loop of one turn or none. Unlike ``lax.cond``, it leaves large arrays in place when there is
    nothing to do; ``cond`` copies them.
    """
    return lax.fori_loop(0, condition.astype("int32"), lambda _, tree: function(tree), tree)
