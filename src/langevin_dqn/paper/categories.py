"""What the paper claims of its agents on bsuite's categories."""

import math
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from langevin_dqn.analysis import bsuite_log, bsuite_summary
from langevin_dqn.analysis.bsuite_summary import TAGS
from langevin_dqn.environments.bsuite.sweeps import SWEEPS, split_id
from langevin_dqn.paper.bsuite_protocol import jobs_of, pass_of, protocol
from langevin_dqn.paper.claims import LEVEL, Claim, Effect, Finding, decide, inconclusive, mean_of
from langevin_dqn.paper.jobs import Contender
from langevin_dqn.paper.statistics import all_equal, mean_above, mean_interval
from langevin_dqn.plots.style import label
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job

#: A difference of scores that counts as none.
MARGIN = 0.1

#: Pairs of scores, by experiment and pass, below which a mean difference has no interval: two that happen to agree
#: would seem certain.
MIN_PAIRS = 3

#: Experiments whose files this package cannot bring along.
_NEEDS_FILES = ("mnist", "mnist_noise", "mnist_scale")


def bsuite_jobs(contenders: Sequence[Contender], *, standard_passes: int) -> Mapping[str, tuple[Job, ...]]:
    """The runs of a figure over bsuite, by scale, without MNIST: a part of bsuite, and passes over it."""
    parts = {"quick": ("small", 1), "standard": ("medium", standard_passes), "paper": ("all", 1)}
    plans = {}
    for scale, (settings, passes) in parts.items():
        chosen = protocol(settings).without(_NEEDS_FILES)
        plans[scale] = tuple(
            job
            for who in contenders
            for job in jobs_of(who.agent, chosen, seeds=range(passes), preset=who.preset, changes=who.changes)
        )
    return plans


def scores_of(results: Sequence[Result]) -> pl.DataFrame:
    """Bsuite's score of each agent in each experiment, pass by pass."""
    if not results:
        return pl.DataFrame(schema={"agent": pl.String, "seed": pl.Int64, "experiment": pl.String, "score": pl.Float64})
    logs = [
        bsuite_log.logs_of([result]).with_columns(agent=pl.lit(result.agent), seed=pl.lit(pass_of(result)))
        for result in results
    ]
    planned: dict[str, int] = {}
    for result in results:
        name = split_id(result.env)[0]
        planned[name] = max(planned.get(name, 0), result.episodes)
    return bsuite_summary.score_agents(pl.concat(logs, how="diagonal"), episodes=planned)


def differences(scores: pl.DataFrame, ours: str, theirs: str) -> dict[str, list[float]]:
    """By tag, our score less theirs in each experiment and pass that both ran."""
    known = scores.filter(pl.col("score").is_not_nan())
    both = known.filter(agent=ours).join(known.filter(agent=theirs), on=("experiment", "seed"), suffix="_theirs")
    pairs = [(name, score - other) for name, score, other in both.select("experiment", "score", "score_theirs").rows()]
    return {tag: [gap for name, gap in pairs if tag in SWEEPS[name].tags] for tag in TAGS}


def not_worse(name: str, words: str, ours: str, theirs: str, tags: Iterable[str]) -> Claim:
    """On every one of ``tags`` our mean score is above theirs less ``MARGIN``."""
    chosen = tuple(tags)

    def check(results: Sequence[Result]) -> Finding:
        gaps = {tag: differences(scores_of(results), ours, theirs)[tag] for tag in chosen}
        if not any(gaps.values()):
            return inconclusive("no experiment that both agents ran")
        ends = {tag: _interval(values) for tag, values in gaps.items() if values}
        means = {tag: sum(values) / len(values) for tag, values in gaps.items() if values}
        found = "; ".join(f"{tag.replace('_', ' ')} {means[tag]:+.2f} ({_pairs(gaps[tag])})" for tag in ends)
        missing = [tag for tag in chosen if tag not in ends]
        found += f"; nothing run yet on {' or '.join(missing)}".replace("_", " ") if missing else ""
        numbers = {
            tag: {"difference": means[tag], "pairs": len(gaps[tag]), "lower": _end(ends[tag][0])} for tag in ends
        }
        test = f"90% interval of the mean difference, paired by experiment and pass, to lie above -{MARGIN}"
        enough = {tag: values for tag, values in gaps.items() if len(values) >= MIN_PAIRS}
        fine = {tag: mean_above(values, -MARGIN) for tag, values in enough.items()}
        worse = {tag: len(chosen) * mean_above([-gap for gap in values], MARGIN) for tag, values in enough.items()}
        p_for, p_against = max(fine.get(tag, 1.0) for tag in chosen), min([1.0, *worse.values()])
        open_ = [tag for tag, p in fine.items() if p > LEVEL] or list(enough)
        effects = tuple(_difference(ours, theirs, tag, gaps[tag]) for tag in open_)
        test += f"; p = {p_for:.2g}{_equal(*(tag for tag in open_ if all_equal(gaps[tag])))}"
        if p_against <= LEVEL:
            test += f"; worse by more on {', '.join(tag for tag, p in worse.items() if p <= LEVEL)}"
        verdict = decide(p_for, p_against)
        return Finding(verdict, f"difference of scores: {found}", numbers, test, p_for, p_against, effects)

    return Claim(name, words, check, tested=True)


def differs(name: str, words: str, better: str, worse: str, tag: str) -> Claim:
    """On ``tag`` the one agent scores above the other."""

    def check(results: Sequence[Result]) -> Finding:
        gaps = differences(scores_of(results), better, worse)[tag]
        if len(gaps) < MIN_PAIRS:
            values = ", ".join(f"{gap:+.2f}" for gap in gaps) or "none"
            return inconclusive(
                f"fewer than {MIN_PAIRS} scores of both agents, by experiment and pass; differences: {values}"
            )
        lower, upper = _interval(gaps)
        mean = sum(gaps) / len(gaps)
        found = f"difference of scores on {tag.replace('_', ' ')}: {mean:+.2f} ({_pairs(gaps)}, by experiment and pass)"
        test = f"90% interval {lower:+.2f} to {upper:+.2f}, to lie above 0"
        p_for, p_against = mean_above(gaps, 0.0), mean_above([-gap for gap in gaps], 0.0)
        numbers = {"difference": mean, "lower": lower, "upper": upper}
        effects = (_difference(better, worse, tag, gaps),)
        test += f"; p = {p_for:.2g}{_equal(tag) if all_equal(gaps) else ''}"
        return Finding(decide(p_for, p_against), found, numbers, test, p_for, p_against, effects)

    return Claim(name, words, check, tested=True)


def _difference(first: str, second: str, tag: str, values: Sequence[float]) -> Effect:
    return mean_of(f"difference of scores on {tag.replace('_', ' ')} ({label(first)} less {label(second)})", values)


def _equal(*tags: str) -> str:
    """What is said of categories on which the interval has no width."""
    names = " and ".join(tag.replace("_", " ") for tag in tags)
    return f" (sign test, because all differences on {names} are equal and the interval has no width)" if tags else ""


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """One-sided at the level of claims, at each end."""
    return mean_interval(values, 1 - 2 * LEVEL) if len(values) >= MIN_PAIRS else (-math.inf, math.inf)


def _pairs(values: Sequence[float]) -> str:
    return f"{len(values)} pair{'s' if len(values) != 1 else ''}"


def _end(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None
