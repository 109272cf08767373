"""One chain at depth 20 and 30: today's settings and those with a prior that moves, at equal updates."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from langevin_dqn.deeper.variants import CHAIN, Variant, describe_times
from langevin_dqn.paper.claims import Claim, Finding, decide, inconclusive, ratio_of_times
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.paper.jobs import merge
from langevin_dqn.paper.statistics import sign_test
from langevin_dqn.plots.style import WIDTH, check_path, drawing, grid, save
from langevin_dqn.runs.result import Result

DEPTHS, SEEDS, BUDGET = (10, 20, 30), 10, 5000
#: Where a prior that stays is run, to show what its motion does.
STAYS_DEPTHS = (10,)
UPDATES = CHAIN.config.updates_per_step
VARIANTS = (
    CHAIN,
    Variant("released settings", CHAIN.agent, "released", {"updates_per_step": UPDATES}),
    Variant("a prior that stays", CHAIN.agent, changes={"prior_lifetime": 0.0}),
)


def _sooner(results: Sequence[Result]) -> Finding:
    """The recommended chain is sooner, in pairs of a depth and a seed."""
    pairs = [[variant.times(results, depth) for variant in VARIANTS[:2]] for depth in DEPTHS]
    if any(len(times) < SEEDS for pair in pairs for times in pair):
        return inconclusive("fewer than 10 seeds of both at some depth")
    ours, theirs = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
    p_for, p_against = sign_test(ours, theirs), sign_test(theirs, ours)
    effect = ratio_of_times("recommended to released settings", ours, theirs, BUDGET)
    test = f"sign test, p = {p_for:.2g}"
    verdict, found = decide(p_for, p_against), describe_results(results)
    return Finding(verdict, found, {"p": p_for}, test, p_for, p_against, (effect,))


def describe_results(results: Sequence[Result]) -> str:
    return describe_times(
        (f"{variant.name}, depth {depth}", variant.times(results, depth)) for depth in DEPTHS for variant in VARIANTS
    )


def table(results: Sequence[Result]) -> str:
    """The table of the documentation: by depth and settings, the share that learned, and the times."""
    lines = ["| depth | settings | learned | learning times, by seed |", "|---|---|---|---|"]
    for depth in DEPTHS:
        for variant in VARIANTS:
            times = variant.times(results, depth)
            if len(times):
                shown = ", ".join("never" if np.isinf(time) else f"{time:g}" for time in times)
                learned = f"{np.isfinite(times).sum()} of {len(times)}"
                lines.append(f"| {depth} | {variant.name} | {learned} | {shown} |")
    return "\n".join(lines)


def draw(report: FigureReport, path: Path, caption: str) -> Path:
    path = check_path(path)
    colors, markers = ("#D55E00", "#999999", "#56B4E9"), "osD"
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(WIDTH, 3.2), layout="constrained")
        for place, variant in enumerate(VARIANTS):
            for depth in DEPTHS:
                times = np.sort(variant.times(report.results, depth))
                late = np.isinf(times)
                x = DEPTHS.index(depth) + 0.28 * (place - 1) + np.linspace(-0.1, 0.1, len(times))
                name = variant.name if depth == DEPTHS[0] and len(times) else None
                style = {"color": colors[place], "ms": 4.5, "alpha": 0.75, "mew": 0, "ls": ""}
                axes.plot(x[~late], times[~late], marker=markers[place], label=name, **style)
                axes.plot(x[late], np.full(late.sum(), BUDGET), "^", mec=colors[place], mfc="white", ms=5)
        axes.plot([], [], "^", mec="0.3", mfc="white", ms=5, label=f"not learned in {BUDGET:,} episodes")
        axes.set_xticks(range(len(DEPTHS)), [str(depth) for depth in DEPTHS])
        axes.set(yscale="log", xlabel="depth N", ylabel="learning time (episodes)", ylim=(10, BUDGET * 1.3))
        axes.set_yticks([10, 50, 100, 500, 1000, 5000], ["10", "50", "100", "500", "1,000", "5,000"])
        axes.set_xlim(-0.5, len(DEPTHS) - 0.5)
        for boundary in range(1, len(DEPTHS)):
            axes.axvline(boundary - 0.5, color="0.8", lw=0.8)
        axes.set_yticks([], minor=True)
        grid(axes)
        figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=8)
        text = "Point: one seed, with an action mapping of its own, in the order of their times; no point: not run."
        return save(plt, figure, path, f"{caption}. {text}")


FIGURE = Figure(
    id="deeper_chain",
    label="One chain",
    title="One Langevin chain whose prior moves",
    jobs={
        "quick": merge(*(v.jobs(10, 3, 1000) for v in VARIANTS)),
        **dict.fromkeys(
            ("standard", "paper"),
            merge(
                *(v.jobs(depth, SEEDS, BUDGET) for v in VARIANTS[:2] for depth in DEPTHS),
                *(VARIANTS[2].jobs(depth, SEEDS, BUDGET) for depth in STAYS_DEPTHS),
            ),
        ),
    },
    claims=(
        Claim("sooner", "A chain whose prior moves learns sooner than the released settings.", _sooner, tested=True),
    ),
    note=f"{UPDATES} updates per step for all.",
    draw=draw,
    describe=lambda report: describe_results(report.results),
)
