"""How uncertain Langevin DQN is of each state of the deep sea, as it learns (the paper's fig5).

Draws the first seed's maps (.png and .pdf) and their film (.gif), and prints every seed's
numbers. The reading is ``released`` because at depth 10 it learns within some hundred episodes.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from langevin_dqn import machine


@dataclass
class Args:
    """Draw the uncertainty of a deep sea's states."""

    depth: int = 10
    """Depth of the sea."""
    episodes: int = 250
    """Episodes per seed; at least 10."""
    updates_per_step: int = 250
    """Updates for each environment step."""
    seeds: tuple[int, ...] = (1,)
    """Seeds to run; the first is drawn."""
    out: Path = Path("out/fig5_uncertainty")
    """Where to write, without the ending."""


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.analysis.uncertainty import summarise
    from langevin_dqn.cli.progress import Board
    from langevin_dqn.plots.uncertainty import draw
    from langevin_dqn.runs.runners import Job, run_jobs

    changes = {"updates_per_step": args.updates_per_step}
    jobs = [
        Job(
            "langevin_dqn",
            f"deep_sea:depth={args.depth}",
            seed,
            args.episodes,
            preset="released",
            changes=changes,
            record="q",
        )
        for seed in args.seeds
    ]
    results = {}
    with Board(jobs, sys.stderr) as board:
        for index, result in run_jobs(jobs, progress=board.update):
            results[index] = result
            board.finish(index, result)
    for index in sorted(results):
        numbers = summarise(results[index].record, args.depth, results[index].learning_time)
        print(f"seed {results[index].seed}: learned at {results[index].learning_time}")
        print(*(f"  {name} = {value:.3g}" for name, value in vars(numbers).items()), sep="\n")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    for ending in (".png", ".pdf", ".gif"):
        print(f"wrote {draw(results[0], args.out.with_suffix(ending))}")


if __name__ == "__main__":
    main(tyro.cli(Args))
