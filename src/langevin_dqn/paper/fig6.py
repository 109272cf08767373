"""Figure 6: learning times of one chain and an ensemble of five, at equal compute."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from langevin_dqn.analysis import learning_times
from langevin_dqn.paper.claims import MIN_SEEDS, Claim, Finding, decide, inconclusive, ratio_of_times
from langevin_dqn.paper.contenders import ENSEMBLE, LANGEVIN
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.paper.jobs import deep_sea_jobs, merge
from langevin_dqn.paper.statistics import sign_test
from langevin_dqn.plots.times_by_depth import describe_times_by_depth, draw_times_by_depth
from langevin_dqn.runs.result import Result


def ensemble_beats_chain(results: Sequence[Result]) -> Finding:
    """An update step of the ensemble costs as much as ``members`` of the single chain."""
    times = learning_times.table(results).with_columns(compute=pl.col("members") * pl.col("updates"))
    times = learning_times.with_seeds(times, ("members", "compute", "depth"), MIN_SEEDS)
    chain, ensemble = times.filter(members=1), times.filter(pl.col("members") > 1)
    shared = sorted(set(chain["compute"]) & set(ensemble["compute"]))
    if not shared:
        return inconclusive(f"needs {MIN_SEEDS} seeds per depth of both agents at one number of model updates per step")
    first, second = learning_times.paired(ensemble, chain, ("compute", "depth", "seed"))
    p_for, p_against = sign_test(first, second), sign_test(second, first)
    solved = {"ensemble": int((first < float("inf")).sum()), "chain": int((second < float("inf")).sum())}
    words = (
        f"at equal compute ({', '.join(map(str, shared))} model updates per step) the ensemble learned in "
        f"{solved['ensemble']} and the single chain in {solved['chain']} of {len(first)} pairs; "
        f"the ensemble was sooner in {int((first < second).sum())}, the chain in {int((first > second).sum())}"
    )
    test = f"sign test on pairs of equal compute, depth and seed, p = {p_for:.2g}"
    effect = ratio_of_times("ensemble to chain", first, second, learning_times.least_budget(results))
    numbers = solved | {"pairs": len(first), "p": p_for}
    return Finding(decide(p_for, p_against), words, numbers, test, p_for, p_against, (effect,))


_EPISODES = 5000


def draw(report: FigureReport, path: Path, caption: str) -> Path:
    return draw_times_by_depth(report.results, path, caption, budget=_EPISODES)


def describe(report: FigureReport) -> str:
    return describe_times_by_depth(report.results)


FIGURE = Figure(
    id="fig6",
    label="Figure 6",
    title="One Langevin chain and an ensemble of five, at equal compute",
    jobs={
        "quick": merge(
            deep_sea_jobs((LANGEVIN,), depths=(10, 20), updates=(5,), seeds=3, episodes=_EPISODES),
            deep_sea_jobs((ENSEMBLE,), depths=(10, 20), updates=(1,), seeds=3, episodes=_EPISODES),
        ),
        "standard": merge(
            deep_sea_jobs((LANGEVIN,), depths=(10, 14, 20, 26, 30), updates=(5, 25), seeds=3, episodes=_EPISODES),
            deep_sea_jobs((ENSEMBLE,), depths=(10, 14, 20, 26, 30), updates=(1, 5), seeds=3, episodes=_EPISODES),
        ),
        "paper": merge(
            deep_sea_jobs((LANGEVIN,), depths=range(10, 51, 2), updates=(1, 5, 25, 50), seeds=5, episodes=_EPISODES),
            deep_sea_jobs((ENSEMBLE,), depths=range(10, 51, 2), updates=(1, 5, 10), seeds=5, episodes=_EPISODES),
        ),
    },
    claims=(
        Claim(
            "ensemble",
            "Ensemble Langevin DQN (5) beats Langevin DQN for the same compute.",
            ensemble_beats_chain,
            tested=True,
        ),
    ),
    note="Langevin DQN as in the released code; the ensemble as in the text, σ_w² = 1e-4 as a variance.",
    draw=draw,
    describe=describe,
)
