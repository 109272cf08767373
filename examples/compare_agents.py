"""Four agents in a deep sea of depth 10: who finds the treasure, and how soon.

A uniformly random diver would need about 2^10 = 1,024 episodes to see the treasure once.
"""

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import tyro

from langevin_dqn import machine

#: Agent, reading of the paper, updates per environment step.
AGENTS = (
    ("dqn", "paper", 1),
    ("langevin_dqn", "released", 25),
    ("boot_dqn", "paper", 1),
    ("ensemble_langevin_dqn", "paper", 1),
)


@dataclass
class Args:
    """Compare the four agents in a deep sea."""

    depth: int = 10
    """Depth of the sea."""
    seeds: int = 4
    """Seeds per agent."""
    episodes: int = 1000
    """Episodes per seed, at most; a seed stops once it has learned."""
    plot: Path | None = None
    """Where to write the learning curves."""


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.cli.progress import Board
    from langevin_dqn.cli.tables import agents_table
    from langevin_dqn.plots.learning_curves import learning_curves
    from langevin_dqn.runs.runners import Job, run_jobs

    env = f"deep_sea:depth={args.depth}"
    jobs = [
        Job(agent, env, seed, args.episodes, preset, stop_when_solved=True, changes={"updates_per_step": updates})
        for agent, preset, updates in AGENTS
        for seed in range(args.seeds)
    ]
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
        caption = f"Deep Sea of depth {args.depth}, {args.seeds} seeds (a line each, up to where it had learned)"
        print(f"wrote {learning_curves(groups, args.plot, caption)}")


if __name__ == "__main__":
    main(tyro.cli(Args))
