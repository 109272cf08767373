"""fig2: the share of seeds that learn, by depth, for several numbers of updates per step."""

from collections.abc import Sequence

import polars as pl

from langevin_dqn.analysis import seas
from langevin_dqn.experiments.claims import FAILS, HOLDS, MIN_SEEDS, Claim, Finding, decide, undecided
from langevin_dqn.experiments.contenders import DECAYING_DQN, LANGEVIN, LANGEVIN_AS_WRITTEN
from langevin_dqn.experiments.figure import Figure, merge, sea_jobs
from langevin_dqn.runs.result import Result
from langevin_dqn.statistics import sign_test

_CELL = ("depth", "updates", "seed")


def _times(results: Sequence[Result]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """DQN's runs and those of the reading of Langevin DQN that the figure is about, where there are seeds enough."""
    times = seas.with_seeds(seas.table(results), ("agent", "preset", *_CELL[:2]), MIN_SEEDS)
    langevin = (pl.col("agent") == LANGEVIN.agent) & (pl.col("preset") == LANGEVIN.preset)
    return times.filter(agent="dqn"), times.filter(langevin)


def _shares(times: pl.DataFrame) -> dict[str, str]:
    counts = times.group_by("depth").agg(solved=pl.col("time").is_finite().sum(), runs=pl.len()).sort("depth")
    return {str(depth): f"{solved}/{runs}" for depth, solved, runs in counts.iter_rows()}


def langevin_goes_deeper(results: Sequence[Result]) -> Finding:
    dqn, langevin = _times(results)
    first, second = seas.paired(langevin, dqn, _CELL)
    if not len(first):
        return undecided(f"fewer than {MIN_SEEDS} seeds per depth and update count")
    p_for, p_against = sign_test(first, second), sign_test(second, first)
    solved_by_dqn = set(dqn.filter(pl.col("time").is_finite())["depth"])
    deeper = sorted(set(langevin.filter(pl.col("time").is_finite())["depth"]) - solved_by_dqn)
    verdict = decide(p_for, p_against)
    if verdict == HOLDS and not deeper:
        verdict = FAILS
    numbers = {"dqn": _shares(dqn), "langevin_dqn": _shares(langevin), "only_langevin_solves": deeper, "p": p_for}
    words = (
        f"Langevin DQN learned in {int((first < float('inf')).sum())} and DQN in "
        f"{int((second < float('inf')).sum())} of {len(first)} pairs of runs; depths that DQN never solved "
        f"and Langevin DQN did: {', '.join(map(str, deeper)) or 'none'}"
    )
    return Finding(verdict, words, numbers, f"sign test on pairs of equal depth, updates and seed, p = {p_for:.2g}")


def updates_help(results: Sequence[Result]) -> Finding:
    _, langevin = _times(results)
    counts = sorted(set(langevin["updates"]))
    if len(counts) < 2:
        return undecided(f"needs two update counts with {MIN_SEEDS} seeds per depth each")
    few, many = (langevin.filter(updates=count) for count in (counts[0], counts[-1]))
    slow, fast = seas.paired(few, many, ("depth", "seed"))
    p_for, p_against = sign_test(fast, slow), sign_test(slow, fast)
    by_updates = {
        str(count): f"{part['time'].is_finite().sum()}/{part.height}"
        for (count,), part in langevin.sort("updates").partition_by("updates", as_dict=True).items()
    }
    words = "learned, by updates per step: " + ", ".join(f"{count}: {share}" for count, share in by_updates.items())
    test = f"sign test of learning times, {counts[-1]} against {counts[0]} updates, p = {p_for:.2g}"
    return Finding(decide(p_for, p_against), words, {"learned": by_updates, "p": p_for}, test)


FIGURE = Figure(
    id="fig2",
    title="DQN and Langevin DQN: share of seeds that learn, by depth",
    jobs={
        "quick": sea_jobs((DECAYING_DQN, LANGEVIN), depths=(10, 20), updates=(1, 5), seeds=3, episodes=5000),
        "standard": merge(
            sea_jobs((DECAYING_DQN, LANGEVIN), depths=range(10, 21, 2), updates=(1, 5, 25), seeds=3, episodes=5000),
            sea_jobs((LANGEVIN_AS_WRITTEN,), depths=(10, 20), updates=(1, 5, 25), seeds=3, episodes=5000),
        ),
        "paper": sea_jobs(
            (DECAYING_DQN, LANGEVIN, LANGEVIN_AS_WRITTEN),
            depths=range(10, 21, 2),
            updates=(1, 5, 25, 100),
            seeds=5,
            episodes=5000,
        ),
    },
    claims=(
        Claim("deeper", "Langevin DQN solves depths at which DQN solves none.", langevin_goes_deeper),
        Claim("updates", "Langevin DQN solves more with more updates per step.", updates_help),
    ),
    note="Langevin DQN as in the released code (its σ is a standard deviation, 0.005, not scaled with depth); "
    "the text's reading, σ_w² = 0.005 times depth and λ = 1, is drawn beside it where it was run.",
)
