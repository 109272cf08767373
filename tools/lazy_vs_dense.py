"""Learning times with lazy and with dense rows, and two-sample tests.

    python tools/lazy_vs_dense.py --seeds 20 --depth 20

Prints the medians and the p-values of both tests.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options


@dataclass
class Args:
    """Compare the two ways to update the first layer."""

    depth: int = 20
    """Depth of Deep Sea."""
    seeds: int = 20
    """Seeds for each; the two use different ones."""
    episodes: int = 2000
    """Episodes per seed; runs stop once they have learned."""
    raw: Path = Path("out/lazy_vs_dense.json")
    """File for the learning times."""


def main(args: Args) -> None:
    machine.prepare()
    from scipy import stats

    from langevin_dqn.runs.runners import Job, run_jobs

    env = f"deep_sea:depth={args.depth}"
    times: dict[str, list[int]] = {}
    for offset, mode in enumerate(("dense", "lazy")):
        seeds = range(offset * args.seeds, (offset + 1) * args.seeds)
        jobs = [
            Job("ensemble_langevin_dqn", env, seed, args.episodes, "paper", True, {"row_updates": mode})
            for seed in seeds
        ]
        # A run that never learned ties with the others that did not, above all that did.
        times[mode] = sorted(result.learning_time or args.episodes + 1 for _, result in run_jobs(jobs))
        print(f"{mode}: median {np.median(times[mode]):g}, {times[mode]}", flush=True)
    rank = stats.mannwhitneyu(times["dense"], times["lazy"])
    shape = stats.ks_2samp(times["dense"], times["lazy"])
    print(f"Mann-Whitney p = {rank.pvalue:.3f}, Kolmogorov-Smirnov p = {shape.pvalue:.3f}")
    args.raw.parent.mkdir(parents=True, exist_ok=True)
    args.raw.write_text(json.dumps({"depth": args.depth, "times": times, "p": [rank.pvalue, shape.pvalue]}, indent=1))


if __name__ == "__main__":
    main(script_options(Args, __doc__))
