"""Compare the three methods of ``train_seeds``: threads, processes, one vmapped program.

The ways take turns, round by round, so that other work on the machine meets them alike. Compilation is left out: each
way runs once before anything is timed. Processes are timed twice: as ``train_seeds`` runs them, which starts them and
loads their programs each time, and in processes that are kept (``processes, kept``). Prints, for each environment,
episodes per second over all seeds (median and range over rounds), the ratio to threads of the same round, and
whether the returns are those of threads.

    python tools/seeds_side_by_side.py
    python tools/seeds_side_by_side.py --envs catch --agent dqn --seeds 8
"""

import multiprocessing
import statistics
import time
from dataclasses import dataclass

import numpy as np

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options


@dataclass
class Args:
    """Which way of running several seeds fills this machine best."""

    agent: str = "ensemble_langevin_dqn"
    """Name of the agent."""
    preset: str = "paper"
    """Preset of the agent."""
    envs: tuple[str, ...] = ("deep_sea:depth=10", "deep_sea:depth=30", "catch")
    """Environment ids."""
    seeds: int = 4
    """Number of seeds."""
    episodes: int = 200
    """Episodes per seed."""
    rounds: int = 5
    """Rounds, in which the methods alternate."""


def one_seed(job: tuple) -> tuple[float, np.ndarray]:
    """In a process that is kept: a run, timed."""
    machine.prepare()
    from langevin_dqn import train

    agent, env, seed, options = job
    start = time.perf_counter()
    returns = train(agent, env, seed=seed, **options).returns
    return time.perf_counter() - start, returns


def kept_processes(args: Args, env: str, options: dict, pool, cores: int) -> tuple[float, list[np.ndarray]]:
    """What the runs took, over the processes that shared them."""
    jobs = [(args.agent, env, seed, options) for seed in range(args.seeds)]
    done = pool.map(one_seed, jobs, chunksize=1)
    return sum(seconds for seconds, _ in done) / min(cores, args.seeds), [returns for _, returns in done]


def whole_call(args: Args, env: str, options: dict, how: str) -> tuple[float, list[np.ndarray]]:
    from langevin_dqn import train_seeds

    start = time.perf_counter()
    results = train_seeds(args.agent, env, range(args.seeds), how=how, **options)
    return time.perf_counter() - start, [result.returns for result in results]


def agreement(ours: list[np.ndarray], theirs: list[np.ndarray]) -> str:
    """Where returns first differ from those of threads, the earliest of all seeds."""
    first = [np.flatnonzero(a != b) for a, b in zip(ours, theirs, strict=True)]
    differing = [int(places[0]) + 1 for places in first if len(places)]
    if not differing:
        return "equal to the bit"
    return f"{len(differing)} of {len(ours)} seeds differ, first in episode {min(differing)}"


def measure(args: Args, env: str, pool, cores: int) -> None:
    options = {"episodes": args.episodes, "preset": args.preset}
    ways = {
        "threads": lambda: whole_call(args, env, options, "threads"),
        "processes": lambda: whole_call(args, env, options, "processes"),
        "processes, kept": lambda: kept_processes(args, env, options, pool, cores),
        "vmap": lambda: whole_call(args, env, options, "vmap"),
    }
    found: dict[str, list[np.ndarray]] = {}
    for name, run in ways.items():  # compiles
        found[name] = run()[1]
        if name == "processes, kept":  # so that every one of them has compiled
            run()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(args.rounds):
        for name, run in ways.items():
            seconds[name].append(run()[0])
    total = args.seeds * args.episodes
    print(f"{args.agent} ({args.preset}), {env}, {args.seeds} seeds of {args.episodes} episodes, {args.rounds} rounds")
    for name, times in seconds.items():
        speeds = sorted(total / time for time in times)
        ratio = statistics.median(a / b for a, b in zip(seconds["threads"], times, strict=True))
        spread = f"{speeds[0]:.0f} to {speeds[-1]:.0f}"
        same = agreement(found[name], found["threads"])
        print(
            f"  {name:16}{statistics.median(speeds):8.0f} episodes/s ({spread:>12}) {ratio:6.2f} times threads; {same}",
            flush=True,
        )


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.runs.runners.job import available_cores

    cores = available_cores()
    print(f"{cores} cores")
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        for env in args.envs:
            measure(args, env, pool, cores)


if __name__ == "__main__":
    main(script_options(Args, __doc__))
