"""Frozen dataclasses as pytrees, programs that keep classes apart, and a loop of one turn or none."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from langevin_dqn.pytrees import Program, apply_if, classes_of, pytree, static


@pytree
@dataclass(frozen=True)
class Double:
    x: Any
    note: str = static("", compare=False)

    def __call__(self):
        return 2 * self.x


@pytree
@dataclass(frozen=True)
class Triple:
    x: Any
    note: str = static("", compare=False)

    def __call__(self):
        return 3 * self.x


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Plus:
    """Registered as a user might, without the class in its structure."""

    x: Any

    def __call__(self):
        return self.x + 10


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Minus:
    x: Any

    def __call__(self):
        return self.x - 10


def test_a_class_is_part_of_the_structure():
    assert jax.tree.structure(Double(1)) != jax.tree.structure(Triple(1))
    assert jax.tree.structure(Double(1)) == jax.tree.structure(Double(2))


def test_fields_survive_and_notes_do_not_count():
    tree = Double(jnp.arange(3), "a note")
    doubled = jax.tree.map(lambda x: 2 * x, tree)
    assert doubled.note == "a note"
    np.testing.assert_array_equal(doubled.x, [0, 2, 4])
    assert jax.tree.structure(Double(1, "a")) == jax.tree.structure(Double(1, "b"))
    assert [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(tree)] == [".x"]


def test_static_fields_count():
    @pytree
    @dataclass(frozen=True)
    class Sized:
        x: Any
        size: int = static(3)

    assert jax.tree.structure(Sized(1)) != jax.tree.structure(Sized(1, 4))
    assert jax.tree.map(lambda x: x + 1, Sized(1, 4)) == Sized(2, 4)


def test_the_classes_of_a_tree():
    assert classes_of((Double(1), [Triple(2)])) == (tuple, Double, list, Triple)
    assert classes_of(3) == ()


@pytest.mark.parametrize(("first", "second"), [(Double, Triple), (Plus, Minus)])
def test_alike_classes_do_not_share_a_program(first, second):
    """Each class is traced by itself, however it was registered, and only once."""
    traced = []

    def call(tree):
        traced.append(type(tree))
        return tree()

    program = Program(call)
    for cls in (first, second, first, second):
        assert int(program.compiled_for(cls(5))(cls(5))) == cls(5)()
        assert int(program.compiled_for(cls(6))(cls(6))) == cls(6)()
    assert traced == [first, second]
    assert program.compiled_for(first(1)) is program.compiled_for(first(2))
    assert program.compiled_for(first(1)) is not program.compiled_for(second(1))


def test_options_reach_the_compiler():
    program = Program(lambda tree, count: tree() * count, static_argnums=1)
    assert int(program.compiled_for(Double(1))(Double(4), 3)) == 24


@pytest.mark.parametrize("condition", [True, False])
def test_apply_if(condition):
    tree = {"a": jnp.arange(3), "b": jnp.float32(2)}
    found = jax.jit(lambda c, tree: apply_if(c, lambda t: jax.tree.map(lambda x: x + 1, t), tree))(condition, tree)
    expected = jax.tree.map(lambda x: x + int(condition), tree)
    jax.tree.map(np.testing.assert_array_equal, found, expected)
