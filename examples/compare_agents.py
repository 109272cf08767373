"""Learning times of four agents in Deep Sea of depth 10, with the recommended settings.

Random actions need about 2^10 = 1,024 episodes to see the treasure once.
"""

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import tyro

from langevin_dqn import machine


@dataclass
class Args:
    """Compare the four agents in Deep Sea."""

    depth: int = 10
    """Depth of Deep Sea."""
    seeds: int = 4
    """Number of seeds per agent."""
    episodes: int = 500
    """Episodes per seed."""
    plot: Path | None = None
    """Write the learning curves to this file (.png, .pdf or .svg)."""


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.cli.progress import Board
    from langevin_dqn.cli.tables import agents_table
    from langevin_dqn.plots.learning_curves import learning_curves
    from langevin_dqn.presets import AGENTS
    from langevin_dqn.runs.runners import Job, run_jobs

    env = f"deep_sea:depth={args.depth}"
    jobs = [Job(agent, env, seed, args.episodes) for agent in AGENTS for seed in range(args.seeds)]
    results = {}
    with Board(jobs, sys.stderr) as board:
        for index, result in run_jobs(jobs, progress=board.update):
            results[index] = result
            board.finish(index, result)
    groups = defaultdict(list)
    for index in sorted(results):
        groups[jobs[index].agent].append(results[index])
    agents_table(groups, f"Deep Sea of depth {args.depth}, {args.seeds} seeds, {args.episodes} episodes")
    if args.plot:
        args.plot.parent.mkdir(parents=True, exist_ok=True)
        caption = f"Deep Sea of depth {args.depth}, {args.seeds} seeds: median, quartiles as a band"
        print(f"wrote {learning_curves(groups, args.plot, caption)}")


if __name__ == "__main__":
    main(tyro.cli(Args))
