"""Depth 30 with one part of the method taken away at a time, and some of it at depth 50."""

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from langevin_dqn.deeper.variants import BOOT, ENSEMBLE, MORE_NOISE, Variant, describe_times
from langevin_dqn.paper.claims import LEVEL, Claim, Finding, decide, inconclusive, ratio_of_times
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.paper.jobs import merge
from langevin_dqn.paper.statistics import median_interval, share_interval, sign_test
from langevin_dqn.plots.style import WIDTH, check_path, drawing, save, typeset
from langevin_dqn.runs.result import Result

DEPTH, SEEDS, BUDGET = 30, 20, 1500
#: Where parts matter that do not at depth 30; its runs take five times as long.
DEEPER, DEEPER_BUDGET = 50, 2000

_AGENT = ENSEMBLE.agent
FULL = replace(ENSEMBLE, name="recommended (16 members, σ_w² = 1e-6)")
NO_NOISE = Variant("without noise (σ_w² = 0)", _AGENT, changes={"noise_variance": 0.0})
FADING_PRIOR = Variant("prior of scale 3, not standardised", _AGENT, changes={"prior_std": 0.0, "prior_scale": 3.0})
NOTHING_RECENT = Variant("nothing recent in minibatches", _AGENT, changes={"recent_fraction": 0.0})
TEN = Variant("10 members", _AGENT, changes={"members": 10})
FIVE = Variant("5 members", _AGENT, changes={"members": 5})
FIVE_NO_NOISE = Variant("5 members, without noise", _AGENT, changes={"members": 5, "noise_variance": 0.0})
FIVE_MORE_NOISE = Variant("5 members, σ_w² = 1e-4", _AGENT, changes={"members": 5, "noise_variance": 1e-4})
OWN_MINIBATCHES = Variant(
    "σ_w² = 1e-4, a minibatch for each member", _AGENT, changes={"noise_variance": 1e-4, "shared_minibatch": False}
)
VARIANTS = (
    FULL, NO_NOISE, MORE_NOISE, FADING_PRIOR, NOTHING_RECENT, TEN, FIVE, FIVE_NO_NOISE, FIVE_MORE_NOISE, BOOT,
    OWN_MINIBATCHES,
)  # fmt: skip
#: What is run there: seeds of each.
DEEPER_VARIANTS = ((FULL, 3), (FADING_PRIOR, 3), (NOTHING_RECENT, 1))


def median_ends(times: np.ndarray) -> np.ndarray:
    """The 95% interval of a median learning time, which is never below 0."""
    return np.maximum(median_interval(times), 0)


def _claim(name: str, variant: Variant, words: str, *, than: Variant = FULL, slower: bool = True) -> Claim:
    """The variant is slower than another, or takes at most 1.1 times as long, in pairs of one seed."""

    def check(results: Sequence[Result]) -> Finding:
        full, part = than.times(results, DEPTH), variant.times(results, DEPTH)
        if len(full) < SEEDS or len(part) < SEEDS:
            return inconclusive(f"{len(part)} of {SEEDS} runs of it, {len(full)} of {than.name}")
        ours, other = (full, part) if slower else (part, 1.1 * full)
        p_for, p_against = sign_test(ours, other), sign_test(other, ours)
        what = "it is slower" if slower else "it takes at most 1.1 times as long"
        found = describe_times([(variant.name, part), (than.name, full)])
        test = f"sign test, in pairs of a seed, that {what}: p = {p_for:.2g}"
        effect = ratio_of_times(f"“{variant.name}” to “{than.name}”", part, full, BUDGET)
        return Finding(decide(p_for, p_against), found, {"p": p_for}, test, p_for, p_against, (effect,))

    return Claim(name, words, check, tested=True)


def table(results: Sequence[Result]) -> str:
    """The table of the documentation: share that learned with Wilson's interval, median with its own."""
    lines = [
        "| settings | learned | 95% interval | median | 95% interval | at depth 50: learned, median |",
        "|---|---|---|---|---|---|",
    ]
    for variant in VARIANTS:
        times = variant.times(results, DEPTH)
        if not len(times):
            continue
        low, high = share_interval(int(np.isfinite(times).sum()), len(times))
        ends = [_shown(end, BUDGET) for end in median_ends(times)]
        lines.append(
            f"| {variant.name} | {np.isfinite(times).sum()} of {len(times)} | {low:.2f} to {high:.2f} | "
            f"{_shown(float(np.median(times)), BUDGET)} | {ends[0]} to {ends[1]} | {_deeper(variant, results)} |"
        )
    return "\n".join(lines)


def _shown(time: float, budget: int) -> str:
    return f"{time:g}" if np.isfinite(time) else f"> {budget}"


def _deeper(variant: Variant, results: Sequence[Result]) -> str:
    """How a variant does at the larger depth, where it was run."""
    times = variant.times(results, DEEPER)
    if variant not in [other for other, _ in DEEPER_VARIANTS] or not len(times):
        return ""
    return f"{np.isfinite(times).sum()} of {len(times)}, {_shown(float(np.median(times)), DEEPER_BUDGET)}"


def draw(report: FigureReport, path: Path, caption: str) -> Path:
    path = check_path(path)
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(WIDTH, 4.6), layout="constrained")
        rng = np.random.default_rng(0)
        for place, variant in enumerate(VARIANTS):
            times = variant.times(report.results, DEPTH)
            if not len(times):
                continue
            late, color = np.isinf(times), "#009E73" if variant is FULL else "#0072B2"
            y = place + rng.uniform(-0.22, 0.22, len(times))
            axes.plot(times[~late], y[~late], "o", color=color, ms=3.5, alpha=0.65, mew=0)
            if late.any():
                axes.plot(BUDGET, place, ">", mec=color, mfc="white", ms=5, zorder=4)
                words = f"{late.sum()} of {len(times)}"
                axes.annotate(words, (BUDGET * 1.02, place), size=8, color="0.25", va="center", annotation_clip=False)
            low, high = np.minimum(median_ends(times), BUDGET)
            axes.plot([low, high], [place, place], color="0.15", lw=1.2)
            if np.isfinite(np.median(times)):
                axes.plot(np.median(times), place, "|", color="0.15", ms=12, mew=2)
        axes.axvline(DEPTH**2 / 2, color="0.6", lw=1, ls="--", zorder=0)
        axes.annotate(
            "$N^2/2$", (DEPTH**2 / 2, 1.0), xycoords=("data", "axes fraction"), size=8, color="0.4", ha="center",
            va="bottom",
        )  # fmt: skip
        names = [typeset("\n".join(textwrap.wrap(variant.name, 28))) for variant in VARIANTS]
        axes.set_yticks(range(len(VARIANTS)), names, size=8, linespacing=1.15)
        axes.set(xlabel=f"learning time at depth {DEPTH} (episodes)", xlim=(250, BUDGET * 1.02))
        axes.invert_yaxis()
        axes.grid(axis="x", color="0.9", lw=0.6)
        axes.set_axisbelow(True)
        text = (
            "Point: one seed; bar: median with its 95% interval; "
            f"open triangle: seeds that did not learn in {BUDGET:,} episodes."
        )
        return save(plt, figure, path, f"{caption}. {text}")


def describe(report: FigureReport) -> str:
    return describe_times(
        (f"{variant.name}, depth {depth}", variant.times(report.results, depth))
        for depth, variants in ((DEPTH, VARIANTS), (DEEPER, [variant for variant, _ in DEEPER_VARIANTS]))
        for variant in variants
    )


FIGURE = Figure(
    id="deeper_ablation",
    label="Ablation",
    title="Depth 30 without one part at a time",
    jobs={
        "quick": merge(*(v.jobs(DEPTH, 1, BUDGET) for v in (FULL, NO_NOISE, FADING_PRIOR, NOTHING_RECENT))),
        **dict.fromkeys(
            ("standard", "paper"),
            merge(
                *(v.jobs(DEPTH, SEEDS, BUDGET) for v in VARIANTS),
                *(v.jobs(DEEPER, seeds, DEEPER_BUDGET) for v, seeds in DEEPER_VARIANTS),
            ),
        ),
    },
    claims=(
        _claim("noise", NO_NOISE, "With 16 members the noise is not needed in a deterministic sea.", slower=False),
        _claim("more_noise", MORE_NOISE, "With the paper's σ_w² of 1e-4 it is slower."),
        _claim("prior", FADING_PRIOR, "A prior that is not standardised is slower."),
        _claim("recent", NOTHING_RECENT, "Without recent transitions in every minibatch it is slower."),
        _claim("ten", TEN, "Ten members are slower than sixteen."),
        _claim("five", FIVE, "Five members are slower than sixteen."),
        _claim("five_noise", FIVE_NO_NOISE, "With five members it is slower without noise.", than=FIVE),
        _claim(
            "five_more_noise",
            FIVE_NO_NOISE,
            "With five members it is slower without noise than with the paper's σ_w² of 1e-4.",
            than=FIVE_MORE_NOISE,
        ),
        _claim("boot", BOOT, "Boot DQN with the same prior, members and replay is slower."),
        _claim(
            "shared",
            MORE_NOISE,
            "One minibatch for all members does not slow learning down.",
            than=OWN_MINIBATCHES,
            slower=False,
        ),
    ),
    note=f"One update per step. Level {LEVEL} per claim.",
    draw=draw,
    describe=describe,
)
