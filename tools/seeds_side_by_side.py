"""Four seeds at once: threads of one process, several processes, or one vmapped program.

Compilation is left out of all three. Prints episodes per second over all seeds.

    python tools/seeds_side_by_side.py
"""

import multiprocessing
import time
from dataclasses import dataclass

import tyro

from langevin_dqn import machine


@dataclass
class Args:
    """Which way of running several seeds fills the cores best."""

    agent: str = "ensemble_langevin_dqn"
    """Agent, with its paper preset."""
    env: str = "deep_sea:depth=10"
    """Environment."""
    seeds: int = 4
    """Seeds."""
    episodes: int = 400
    """Episodes per seed."""
    repeats: int = 3
    """Rounds; the best counts, as others may use the machine."""


def _work(job: tuple) -> float:
    """In a process of its own: a warm-up, then the run, timed."""
    machine.prepare()
    from langevin_dqn import train

    agent, env, seed, episodes = job
    train(agent, env, seed=seed, episodes=episodes)
    return train(agent, env, seed=seed, episodes=episodes).seconds


def threads(args: Args) -> float:
    from langevin_dqn.runs.runners import Job, run_jobs

    jobs = [Job(args.agent, args.env, seed, args.episodes) for seed in range(args.seeds)]
    start = time.perf_counter()
    assert len(list(run_jobs(jobs))) == args.seeds
    return time.perf_counter() - start


def processes(args: Args, pool) -> float:
    """The sum of what the runs took, over the processes that shared them."""
    jobs = [(args.agent, args.env, seed, args.episodes) for seed in range(args.seeds)]
    return sum(pool.map(_work, jobs, chunksize=1)) / pool._processes


def vmapped(args: Args) -> float:
    import jax
    import jax.numpy as jnp

    from langevin_dqn import make_train, run_key

    keys = jax.vmap(run_key)(jnp.arange(args.seeds))
    run = make_train(args.agent, args.env, episodes=args.episodes)

    program = jax.jit(jax.vmap(run)).lower(keys).compile()
    start = time.perf_counter()
    jax.block_until_ready(program(keys))
    return time.perf_counter() - start


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.runs.runners.local import available_cores

    total = args.seeds * args.episodes
    threads(args)  # compiles
    with multiprocessing.get_context("spawn").Pool(available_cores()) as pool:
        best: dict[str, float] = {}
        for _ in range(args.repeats):
            rounds = {"threads": threads(args), "processes": processes(args, pool), "vmap": vmapped(args)}
            best = {name: min(seconds, best.get(name, seconds)) for name, seconds in rounds.items()}
    for name, seconds in best.items():
        print(f"{name:10} {total / seconds:8.0f} episodes per second")


if __name__ == "__main__":
    main(tyro.cli(Args))
