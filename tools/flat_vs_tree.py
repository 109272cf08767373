"""One flat vector of parameters against a tree of six tensors, for the same update.

Gradient of a squared error through two layers of 50, batch 128, then alg4 with noise, for five members, on one core,
interleaved. The flat vector is cut into the six tensors inside the loss, so its gradient comes back flat.

    python tools/flat_vs_tree.py
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options


@dataclass
class Args:
    """Compare the two layouts."""

    depths: tuple[int, ...] = (10, 20)
    """Depths of Deep Sea; the first layer has a row per cell."""
    repeats: int = 15
    """Rounds; the median is reported."""


def build(depth: int, flat: bool, members: int = 5, batch: int = 128) -> Callable[[int], None]:
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree

    from langevin_dqn import langevin_adam, prng
    from langevin_dqn.environments.base import IndexSpace
    from langevin_dqn.networks import MLP

    network = MLP()
    key = jax.random.key(0, impl=prng.PRNG)
    params = jax.vmap(lambda key: network.init(key, IndexSpace(depth**2), 2))(jax.random.split(key, members))
    cut = ravel_pytree(jax.tree.map(lambda leaf: leaf[0], params))[1]
    optimizer = langevin_adam(1e-3, 1e-4)
    if flat:
        params = jax.vmap(lambda tree: ravel_pytree(tree)[0])(params)

    def loss(params, obs, targets):
        values = jax.vmap(partial(network.apply, cut(params) if flat else params))(obs)
        return jnp.mean((values[:, 0] - targets) ** 2)

    def member(key, params, state):
        obs_key, noise_key = jax.random.split(key)
        obs = jax.random.randint(obs_key, (batch,), 0, depth**2)
        gradient = jax.grad(loss)(params, obs, obs / depth**2)
        updates, state = optimizer.update(gradient, state, key=noise_key, num_data=10_000)
        return jax.tree.map(jnp.add, params, updates), state

    @partial(jax.jit, donate_argnums=0)
    def steps(carry, n):
        def once(i, carry):
            return jax.vmap(member)(jax.random.split(jax.random.fold_in(key, i), members), *carry)

        return jax.lax.fori_loop(0, n, once, carry)

    carry = (params, jax.vmap(optimizer.init)(params))

    def run(n: int) -> None:
        nonlocal carry
        carry = jax.block_until_ready(steps(carry, jnp.int32(n)))

    run(10)
    return run


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.bench.timing import Contestant, pin_to_one_core, race

    pin_to_one_core()
    print("| depth | tree of six | one vector | vector / tree |\n|---|---|---|---|")
    for depth in args.depths:
        both = [Contestant(name, depth, 5, partial(build, depth, name == "flat")) for name in ("tree", "flat")]
        race(both, repeats=args.repeats, seconds=0.5, say=lambda _: None)
        tree, flat = (contestant.median for contestant in both)
        print(f"| {depth} | {tree:.0f} µs | {flat:.0f} µs | {flat / tree:.2f} |", flush=True)


if __name__ == "__main__":
    main(script_options(Args, __doc__))
