"""Coverage of the intervals of a comparison: how often they contain the true value, by the number of seeds.

Scores are drawn from a distribution whose interquartile mean is known, and the share of intervals that contain it is
printed: for normal scores, and for runs of which 70 % learn (score 1) and the others do not (score 0).

    python tools/interval_coverage.py
"""

from dataclasses import dataclass

import numpy as np

from langevin_dqn.cli.arguments import script_options
from langevin_dqn.comparison.intervals import interval

#: Scores of so many seeds, and their interquartile mean: of normal scores, and of scores that are 1 or 0.
SCORES = {
    "normal": (lambda rng, seeds: rng.normal(size=seeds), 0.0),
    "70% learn": (lambda rng, seeds: (rng.random(seeds) < 0.7).astype(float), 0.9),
}


@dataclass
class Args:
    """How often a 95% interval covers the truth."""

    seeds: tuple[int, ...] = (3, 5, 10, 20)
    """Numbers of seeds, one after the other."""
    comparisons: int = 2000
    """Simulated comparisons for each number of seeds."""
    resamples: int = 1000
    """Bootstrap samples per interval."""


def main(args: Args) -> None:
    rng = np.random.default_rng(0)
    for name, (draw, truth) in SCORES.items():
        for seeds in args.seeds:
            covered = 0
            for _ in range(args.comparisons):
                ends = interval([draw(rng, seeds)], resamples=args.resamples)
                covered += ends is not None and ends[0] <= truth <= ends[1]
            print(f"{name}, {seeds} seeds: {covered / args.comparisons:.0%}", flush=True)


if __name__ == "__main__":
    main(script_options(Args, __doc__))
