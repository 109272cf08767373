"""fig3: median learning time at depth 10 against updates per step."""

from collections.abc import Sequence

import polars as pl

from langevin_dqn.analysis import seas
from langevin_dqn.experiments.claims import MIN_SEEDS, Claim, Finding, decide, undecided
from langevin_dqn.experiments.contenders import LANGEVIN
from langevin_dqn.experiments.figure import Figure, sea_jobs
from langevin_dqn.results import Result
from langevin_dqn.statistics import falling_trend, median_below

#: The paper's "as low as 90 episodes"; we ask for the median to be within half as much again.
LOWEST, MARGIN = 90, 1.5


def _medians(times: pl.DataFrame) -> dict[int, float]:
    medians = times.group_by("updates").agg(pl.col("time").median()).sort("updates")
    return dict(medians.iter_rows())


def _words(medians: dict[int, float]) -> str:
    return "median learning time by updates per step: " + ", ".join(f"{u}: {seas.told(m)}" for u, m in medians.items())


def updates_shorten(results: Sequence[Result]) -> Finding:
    times = seas.with_seeds(seas.table(results), ("updates",), MIN_SEEDS)
    if times["updates"].n_unique() < 3:
        return undecided(f"needs three update counts with {MIN_SEEDS} seeds each")
    medians = _medians(times)
    p_for = falling_trend(times["updates"], times["time"])
    p_against = falling_trend(times["updates"], -times["time"])
    numbers = {"medians": {str(u): m for u, m in medians.items()}, "p": p_for}
    return Finding(decide(p_for, p_against), _words(medians), numbers, f"Kendall's rank test, p = {p_for:.2g}")


def as_low_as_90(results: Sequence[Result]) -> Finding:
    times = seas.with_seeds(seas.table(results), ("updates",), MIN_SEEDS).filter(pl.col("updates") >= 100)
    if times.is_empty():
        return undecided(f"needs {MIN_SEEDS} seeds at 100 or more updates per step")
    bound = MARGIN * LOWEST
    p_for = median_below(times["time"], bound)
    p_against = median_below(-times["time"], -bound)
    median = float(times["time"].median())  # type: ignore[arg-type]
    medians = _medians(times)
    best = min(medians, key=lambda updates: medians[updates])
    words = (
        f"median {seas.told(median)} over {times.height} runs with 100 or more updates per step, "
        f"{int((times['time'] < bound).sum())} of them within {bound:g}; "
        f"the lowest median is {seas.told(medians[best])}, with {best} updates"
    )
    test = f"sign test of the median against {bound:g} (90 and half as much again), p = {p_for:.2g}"
    return Finding(decide(p_for, p_against), words, {"median": median, "runs": times.height, "p": p_for}, test)


FIGURE = Figure(
    id="fig3",
    title="Langevin DQN at depth 10: learning time against updates per step",
    jobs={
        "quick": sea_jobs((LANGEVIN,), depths=(10,), updates=(1, 5, 25, 100), seeds=3, episodes=5000),
        "standard": sea_jobs((LANGEVIN,), depths=(10,), updates=(1, 5, 10, 25, 50, 100, 250), seeds=5, episodes=5000),
        "paper": sea_jobs((LANGEVIN,), depths=(10,), updates=(1, 2, 5, 10, 25, 50, 100, 250), seeds=5, episodes=5000),
    },
    claims=(
        Claim("shorter", "The learning time falls drastically with more updates per step.", updates_shorten),
        Claim("ninety", "It goes down to as low as 90 episodes.", as_low_as_90),
    ),
    note="Langevin DQN as in the released code.",
)
