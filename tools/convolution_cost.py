"""Compare two convolutions in a compiled loop: as a product of patches, and with ``lax.conv_general_dilated``.

Both take gradient steps with the default network for pictures in one program, in turns on one core. Prints
milliseconds per step, medians over rounds, and the ratio.

    python tools/convolution_cost.py
"""

import os
import statistics
import sys
import time
from dataclasses import dataclass

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options

#: Pictures, and how many of them are in a minibatch.
CASES = {"MinAtar, 10x10x4": ((10, 10, 4), 128), "Atari, 84x84x4": ((84, 84, 4), 16)}


@dataclass
class Args:
    """Compare the two."""

    rounds: int = 5
    """Rounds, in which the two alternate."""
    steps: int = 50
    """Gradient steps of each, per round."""


def main(args: Args) -> int:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    machine.prepare()
    import jax
    import jax.numpy as jnp
    from jax import lax

    from langevin_dqn.environments.base import ArraySpace
    from langevin_dqn.networks import conv

    def with_lax(x, weights):
        layout = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x[None], weights, (2, 2), "SAME", dimension_numbers=layout)[0]

    patches = conv.convolve
    print("| pictures | batch | product of patches (ms) | lax.conv (ms) | ratio |\n|---|---|---|---|---|", flush=True)
    for name, (shape, batch) in CASES.items():
        network = conv.Conv()
        params = network.init(jax.random.key(0), ArraySpace(shape), 3)
        pictures = jax.random.uniform(jax.random.key(1), (batch, *shape))
        programs = {}
        for convolve in (patches, with_lax):
            conv.convolve = convolve

            def loss(params):
                return jnp.mean(jax.vmap(network.apply, (None, 0))(params, pictures) ** 2)  # noqa: B023

            def step(_, params):
                return jax.tree.map(lambda p, g: p - 1e-3 * g, params, jax.grad(loss)(params))

            run = jax.jit(lambda params, steps: lax.fori_loop(0, steps, step, params))
            programs[convolve] = run.lower(params, args.steps).compile()
        conv.convolve = patches
        times: dict = {convolve: [] for convolve in programs}
        for _ in range(args.rounds):
            for convolve, program in programs.items():
                start = time.perf_counter()
                jax.block_until_ready(program(params, args.steps))
                times[convolve].append(1e3 * (time.perf_counter() - start) / args.steps)
        ours, other = (statistics.median(each) for each in times.values())
        print(f"| {name} | {batch} | {ours:.2f} | {other:.2f} | {other / ours:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
