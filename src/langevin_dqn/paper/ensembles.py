"""What the paper claims of its two ensembles, Boot DQN and Ensemble Langevin DQN."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from langevin_dqn.analysis import learning_times
from langevin_dqn.analysis.learning_times import format_learning_time
from langevin_dqn.paper.claims import (
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    LEVEL,
    MIN_SEEDS,
    Claim,
    Finding,
    decide,
    inconclusive,
    mean_of,
    ratio_of_times,
)
from langevin_dqn.paper.contenders import BOOT, ENSEMBLE
from langevin_dqn.paper.statistics import mean_above, mean_interval, sign_test
from langevin_dqn.runs.result import Result

#: A gain in the share of runs that learn that counts as nothing.
NEGLIGIBLE_GAIN = 0.1


def _split(results: Sequence[Result]) -> tuple[pl.DataFrame, pl.DataFrame]:
    times = learning_times.table(results)
    return times.filter(agent=BOOT.agent), times.filter(agent=ENSEMBLE.agent)


def _learned(times: pl.DataFrame) -> str:
    return f"{times['time'].is_finite().sum()}/{times.height}"


def beats_boot(column: str, words: str) -> Claim:
    """Ensemble Langevin DQN is sooner at every value of ``column``, each tested by itself.

    The score that Figure 7 and Figure 11 draw only asks which runs learned. Its test is reported and decides nothing.
    """

    def check(results: Sequence[Result]) -> Finding:
        cell = (column, "depth")
        boot, ensemble = (learning_times.with_seeds(part, cell, MIN_SEEDS) for part in _split(results))
        boot, ensemble = boot.join(ensemble, on=cell, how="semi"), ensemble.join(boot, on=cell, how="semi")
        values = sorted(set(boot[column]))
        if not values:
            return inconclusive(f"fewer than {MIN_SEEDS} seeds of both agents per depth and number of {column}")
        missing = sorted(set(learning_times.table(results)[column]) - set(values))
        p_for, p_against, p_score, learned, effects = [], [], [], {}, []
        for value in values:
            ours, theirs = (part.filter(pl.col(column) == value) for part in (ensemble, boot))
            first, second = learning_times.paired(ours, theirs, ("depth", "seed"))
            p_for.append(sign_test(first, second))
            p_against.append(sign_test(second, first))
            p_score.append(sign_test(np.isinf(first), np.isinf(second)))
            names = f"Ensemble Langevin DQN to Boot DQN, {column}: {value}"
            effects.append(ratio_of_times(names, first, second, learning_times.least_budget(results)))
            learned[str(value)] = {"ensemble_langevin_dqn": _learned(ours), "boot_dqn": _learned(theirs)}
        found = "; ".join(
            f"{value}: {both['ensemble_langevin_dqn']} against {both['boot_dqn']}" for value, both in learned.items()
        )
        idle = [value for value, both in learned.items() if all(share.startswith("0/") for share in both.values())]
        if idle:
            found += f"; with {' or '.join(idle)} neither learned anything, so there is nothing to compare"
        named = [str(value) for value in values]
        numbers = {
            "learned": learned,
            "p": dict(zip(named, p_for, strict=True)),
            "p_score": dict(zip(named, p_score, strict=True)),
        }
        p_opposite = min(len(values) * min(p_against), 1.0)
        verdict = decide(max(p_for), p_opposite)
        if missing:
            found += f"; fewer than {MIN_SEEDS} seeds of both yet with {' or '.join(map(str, missing))}"
            verdict = INCONCLUSIVE if verdict == HOLDS else verdict
        return Finding(
            verdict,
            f"runs that learned, Ensemble Langevin against Boot, by number of {column}: {found}",
            numbers,
            f"sign test of learning times at each number of {column}, largest p = {max(p_for):.2g}; "
            f"of which runs learned at all, {max(p_score):.2g}",
            1.0 if missing else max(p_for),
            p_opposite,
            tuple(effects),
        )

    return Claim(f"beats_boot_{column}", words, check, tested=True)


def _change(times: pl.DataFrame) -> tuple[np.ndarray, np.ndarray, int, int] | None:
    """Times with the fewest and with the most updates, paired by depth and seed."""
    times = learning_times.with_seeds(times, ("updates", "depth"), MIN_SEEDS)
    counts = sorted(set(times["updates"]))
    if len(counts) < 2:
        return None
    few, many = (times.filter(updates=count) for count in (counts[0], counts[-1]))
    return *learning_times.paired(few, many, ("depth", "seed")), counts[0], counts[-1]


def boot_gains_nothing(words: str) -> Claim:
    """More updates change the share of runs that learn by less than ``NEGLIGIBLE_GAIN``."""

    def check(results: Sequence[Result]) -> Finding:
        change = _change(_split(results)[0])
        if change is None:
            return inconclusive(f"needs two update counts with {MIN_SEEDS} seeds per depth each")
        few, many, low, high = change
        gain = np.isfinite(many).astype(float) - np.isfinite(few)
        lower, upper = mean_interval(gain, 1 - 2 * LEVEL)
        numbers = {"gain": float(gain.mean()), "lower": lower, "upper": upper, "pairs": len(gain)}
        found = (
            f"from {low} to {high} updates the share of Boot DQN's runs that learn changes by {gain.mean():+.2f} "
            f"(from {np.isfinite(few).sum()} to {np.isfinite(many).sum()} of {len(gain)})"
        )
        test = f"the 90% interval of the gain, {lower:+.2f} to {upper:+.2f}, has to stay below {NEGLIGIBLE_GAIN}"
        p_for, p_against = mean_above(-gain, -NEGLIGIBLE_GAIN), mean_above(gain, NEGLIGIBLE_GAIN)
        test += f"; p = {p_for:.2g}"
        effect = mean_of(f"gain in the share of runs that learn, {low} to {high} updates,", gain)
        return Finding(decide(p_for, p_against), found, numbers, test, p_for, p_against, (effect,))

    return Claim("boot_gains_nothing", words, check, tested=True)


def ensemble_gains(words: str) -> Claim:
    """Ensemble Langevin DQN is sooner with the most updates than with the fewest."""

    def check(results: Sequence[Result]) -> Finding:
        change = _change(_split(results)[1])
        if change is None:
            return inconclusive(f"needs two update counts with {MIN_SEEDS} seeds per depth each")
        few, many, low, high = change
        p_for, p_against = sign_test(many, few), sign_test(few, many)
        found = (
            f"Ensemble Langevin DQN learned in {np.isfinite(few).sum()} of {len(few)} runs with {low} and in "
            f"{np.isfinite(many).sum()} with {high} updates per step; median learning time "
            f"{format_learning_time(np.median(few))} and {format_learning_time(np.median(many))}"
        )
        numbers = {"median_few": float(np.median(few)), "median_many": float(np.median(many)), "p": p_for}
        test = f"sign test of learning times, {high} against {low} updates, p = {p_for:.2g}"
        effect = ratio_of_times(f"{high} to {low} updates per step", many, few, learning_times.least_budget(results))
        return Finding(decide(p_for, p_against), found, numbers, test, p_for, p_against, (effect,))

    return Claim("ensemble_gains", words, check, tested=True)


def learns_every_seed(words: str, depth: int, seeds: int) -> Claim:
    """At the largest update count every one of ``seeds`` of Ensemble Langevin DQN learns; one that does not refutes it.

    Runs of another depth, which stand in at a small scale, are reported and decide nothing.
    """

    def check(results: Sequence[Result]) -> Finding:
        ensemble = _split(results)[1]
        if ensemble.is_empty():
            return inconclusive("no runs of Ensemble Langevin DQN")
        most = int(ensemble["updates"].max())  # type: ignore[arg-type]
        runs = ensemble.filter(updates=most).sort("seed")
        missed = runs.filter(pl.col("time").is_infinite())["seed"].to_list()
        verdict = FAILS if missed else HOLDS if runs.height >= seeds else INCONCLUSIVE
        found = ""
        if set(runs["depth"]) != {depth}:
            verdict, found = INCONCLUSIVE, f"nothing was run at depth {depth}; at depth {runs['depth'][0]}, "
        found += f"with {most} updates per step {_learned(runs)} seeds learned"
        found += f", at {', '.join(f'{time:g}' for time in runs['time'] if np.isfinite(time)) or 'no episode'}"
        return Finding(verdict, found, {"updates": most, "times": _finite(runs["time"])}, "every run has to learn")

    return Claim("every_seed", words, check)


def _finite(times: pl.Series) -> list[float | None]:
    """JSON has no infinity."""
    return [time if np.isfinite(time) else None for time in times]
