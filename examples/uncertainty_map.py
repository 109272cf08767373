"""Uncertainty of Langevin DQN about each state of Deep Sea during training (Figure 5 of the paper).

Draws the maps (.png and .pdf) and the animation (.gif) of the seed whose learning time is in the middle, as
Figure 5 does, and prints the numbers of every seed. The preset is ``released``, which learns depth 10 within some
hundred episodes.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from langevin_dqn import machine


@dataclass
class Args:
    """Draw the uncertainty of the states of Deep Sea."""

    depth: int = 10
    """Depth of Deep Sea."""
    episodes: int = 250
    """Episodes per seed; at least 10."""
    updates_per_step: int = 250
    """Updates for each environment step."""
    seeds: tuple[int, ...] = (1,)
    """Seeds to run; of those that learn, the one with the median learning time is drawn."""
    store: Path | None = None
    """Folder of stored runs: finished ones are read from it, new ones are added."""
    out: Path = Path("out/fig5_uncertainty")
    """Path of the files, without the suffix."""


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.analysis.uncertainty import summarise
    from langevin_dqn.cli.progress import Board
    from langevin_dqn.cli.stored_runs import StoredRuns
    from langevin_dqn.paper.fig5 import run_in_the_middle
    from langevin_dqn.plots.uncertainty import draw
    from langevin_dqn.runs.runners import Job

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
    runs = StoredRuns(None if args.store is None else str(args.store), "threads", None, None, keep_agents=False)
    outcomes = {}
    with Board(jobs, sys.stderr) as board:
        for index, result in runs.run(jobs, board.update):
            outcomes[index] = result
            board.finish(index, result)
    results = runs.without_failures([outcomes[index] for index in sorted(outcomes)])
    for result in results:
        numbers = summarise(result.record, args.depth, result.learning_time)
        print(f"seed {result.seed}: learning time {result.learning_time or 'never'}")
        print(*(f"  {name.replace('_', ' ')}: {value:.3g}" for name, value in vars(numbers).items()), sep="\n")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    shown = run_in_the_middle(results)
    for ending in (".png", ".pdf", ".gif"):
        print(f"wrote {draw(shown, args.out.with_suffix(ending))}")


if __name__ == "__main__":
    main(tyro.cli(Args))
