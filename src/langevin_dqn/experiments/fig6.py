"""fig6: score against updates per step, one chain and an ensemble of five, at equal compute."""

from collections.abc import Sequence

import polars as pl

from langevin_dqn.analysis import seas
from langevin_dqn.experiments.claims import MIN_SEEDS, Claim, Finding, decide, undecided
from langevin_dqn.experiments.contenders import ENSEMBLE, LANGEVIN
from langevin_dqn.experiments.figure import Figure, merge, sea_jobs
from langevin_dqn.runs.result import Result
from langevin_dqn.statistics import sign_test


def ensemble_beats_chain(results: Sequence[Result]) -> Finding:
    """An update step of the ensemble costs as much as ``members`` of the single chain."""
    times = seas.table(results).with_columns(compute=pl.col("members") * pl.col("updates"))
    times = seas.with_seeds(times, ("members", "compute", "depth"), MIN_SEEDS)
    chain, ensemble = times.filter(members=1), times.filter(pl.col("members") > 1)
    shared = sorted(set(chain["compute"]) & set(ensemble["compute"]))
    if not shared:
        return undecided(f"needs {MIN_SEEDS} seeds per depth of both agents at one number of model updates per step")
    first, second = seas.paired(ensemble, chain, ("compute", "depth", "seed"))
    p_for, p_against = sign_test(first, second), sign_test(second, first)
    solved = {"ensemble": int((first < float("inf")).sum()), "chain": int((second < float("inf")).sum())}
    words = (
        f"at equal compute ({', '.join(map(str, shared))} model updates per step) the ensemble learned in "
        f"{solved['ensemble']} and the single chain in {solved['chain']} of {len(first)} pairs; "
        f"the ensemble was sooner in {int((first < second).sum())}, the chain in {int((first > second).sum())}"
    )
    test = f"sign test on pairs of equal compute, depth and seed, p = {p_for:.2g}"
    return Finding(decide(p_for, p_against), words, solved | {"pairs": len(first), "p": p_for}, test)


FIGURE = Figure(
    id="fig6",
    title="One Langevin chain and an ensemble of five, at equal compute",
    jobs={
        "quick": merge(
            sea_jobs((LANGEVIN,), depths=(10, 20), updates=(5,), seeds=3, episodes=5000),
            sea_jobs((ENSEMBLE,), depths=(10, 20), updates=(1,), seeds=3, episodes=5000),
        ),
        "standard": merge(
            sea_jobs((LANGEVIN,), depths=(10, 14, 20, 26, 30), updates=(5, 25), seeds=3, episodes=5000),
            sea_jobs((ENSEMBLE,), depths=(10, 14, 20, 26, 30), updates=(1, 5), seeds=3, episodes=5000),
        ),
        "paper": merge(
            sea_jobs((LANGEVIN,), depths=range(10, 51, 2), updates=(1, 5, 25, 50), seeds=5, episodes=5000),
            sea_jobs((ENSEMBLE,), depths=range(10, 51, 2), updates=(1, 5, 10), seeds=5, episodes=5000),
        ),
    },
    claims=(
        Claim("ensemble", "Ensemble Langevin DQN (5) beats Langevin DQN for the same compute.", ensemble_beats_chain),
    ),
    note="Langevin DQN as in the released code; the ensemble as in the text, σ_w² = 1e-4 as a variance.",
)
