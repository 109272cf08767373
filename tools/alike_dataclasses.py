"""Count how often jit runs one dataclass with the program of another whose fields are alike.

``environments/base.py`` works around it. When this prints 0, it is no longer needed.

    python tools/alike_dataclasses.py
"""

import argparse
import dataclasses

import jax

from langevin_dqn.cli.arguments import filled

PAIRS = 300


def alike(gain: int) -> type:
    """A class like all others from here, but for what it does."""

    @jax.tree_util.register_dataclass
    @dataclasses.dataclass(frozen=True)
    class Gain:
        x: float

        def apply(self):
            return self.x * gain

    return Gain


def is_taken_for_the_other() -> bool:
    program = jax.jit(lambda tree: tree.apply())
    program(alike(1)(1.0))
    return int(program(alike(2)(1.0))) != 2


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=filled(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    wrong = sum(is_taken_for_the_other() for _ in range(PAIRS))
    print(f"JAX {jax.__version__}: {wrong} of {PAIRS} pairs of classes ran the other's program")
