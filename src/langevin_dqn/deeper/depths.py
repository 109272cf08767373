"""Learning time against depth, 10 to 100, beside what others need."""

import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from langevin_dqn.deeper.variants import BOOT, ENSEMBLE, MORE_NOISE, Variant, describe_times, every_seed
from langevin_dqn.paper.claims import Claim, Finding
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.paper.jobs import merge
from langevin_dqn.plots.style import LEGEND, STYLES, WIDTH, check_path, drawing, grid, save, typeset
from langevin_dqn.runs import metrics
from langevin_dqn.runs.result import Result

#: By depth: seeds, and the episodes within which all of them have to learn.
DEPTHS = {10: (20, 1000), 20: (10, 1000), 30: (20, 1500), 50: (10, 2000), 100: (5, 7500)}
BOOT_DEPTHS = {10: (10, 1000), 20: (10, 1000), 30: (20, 1500)}
MORE_NOISE_DEPTHS = {10: (20, 1000), 20: (10, 1000), 30: (20, 1500), 50: (6, 2000), 100: (1, 7500)}
#: As in the paper's text, one update per step.
PAPER = Variant("the paper's settings (5 members)", "ensemble_langevin_dqn", "paper")
PAPER_DEPTHS = {10: (5, 1000), 20: (5, 2000), 30: (5, 5000)}

#: How much later than N²/2 the median may be.
SLACK = 1.2


def _learns(depth: int, median: bool) -> Claim:
    seeds, budget = DEPTHS[depth]
    bound = SLACK * depth**2 / 2

    def check(results: Sequence[Result]) -> Finding:
        times = ENSEMBLE.times(results, depth)
        late = bool(median and len(times) > 0 and np.median(times) > bound)
        test = "every run has to learn"
        if median:
            test += f", half of them within {bound:g} = {SLACK} · N²/2"
        return every_seed(times, seeds, f"depth {depth}", late, test)

    words = f"With one update per step it learns depth {depth} within {budget:,} episodes in all of {seeds} seeds"
    return Claim(f"depth_{depth}", f"{words}, in the median within 1.2 · N²/2." if median else f"{words}.", check)


@functools.cache
def rlsvi_medians(depths: tuple[int, ...]) -> tuple[float, ...]:
    """Median learning times of exact tabular RLSVI, 5 seeds each."""
    from langevin_dqn.insight import rlsvi

    return tuple(
        float(np.median([metrics.learning_time(r, 0.99) or np.inf for r in rlsvi.run(depth, seeds=5, episodes=3000)]))
        for depth in depths
    )


_SERIES = (
    (ENSEMBLE, DEPTHS, STYLES["ensemble_langevin_dqn"].color, "o", "-"),
    (BOOT, BOOT_DEPTHS, STYLES["boot_dqn"].color, "s", (0, (5, 2))),
    (PAPER, PAPER_DEPTHS, "#CC79A7", "D", (0, (3, 1, 1, 1))),
    (MORE_NOISE, MORE_NOISE_DEPTHS, "#56B4E9", "v", (0, (1, 1))),
)


def draw(report: FigureReport, path: Path, caption: str) -> Path:
    path = check_path(path)
    with drawing() as plt:
        from matplotlib import ticker

        figure, axes = plt.subplots(figsize=(WIDTH, 3.9), layout="constrained")
        depths = np.geomspace(8, 110, 100)
        axes.plot(depths[depths < 13.5], 2 ** depths[depths < 13.5], color="0.6", lw=1, ls=":")
        axes.annotate("$2^N$", (12.3, 7800), color="0.4", size=8, ha="right", va="top")
        axes.plot(depths, depths**2 / 2, color="0.6", lw=1, ls="--")
        axes.annotate("$N^2/2$", (104, 104**2 / 2), color="0.4", size=8, ha="right", va="bottom")
        exact = (10, 20, 30, 50)
        axes.plot(exact, rlsvi_medians(exact), "x", color="0.3", ms=5, label="tabular RLSVI (exact posterior), median")
        for place, (variant, plan, color, marker, dashes) in enumerate(_SERIES):
            found = {depth: variant.times(report.results, depth) for depth in plan}
            found = {depth: times for depth, times in found.items() if len(times)}
            if not found:
                continue
            shift = 1.02 ** (0, 2, -2, 4)[place]  # the first in the middle
            middles = [float(np.median(times)) for times in found.values()]
            shown = [np.nan if np.isinf(middle) else middle for middle in middles]
            axes.plot(shift * np.array(list(found)), shown, color=color, ls=dashes, lw=1.6)
            line = {"color": color, "ls": dashes, "lw": 1.6, "marker": marker, "ms": 4, "mew": 0}
            axes.plot([], [], label=typeset(variant.name), **line)
            for depth, times in found.items():
                x = shift * depth * 1.02 ** np.linspace(-0.8, 0.8, len(times))
                late = np.isinf(times)
                axes.plot(x[~late], np.sort(times[~late]), marker, color=color, ms=3.2, alpha=0.65, mew=0)
                axes.plot(x[late], np.full(late.sum(), plan[depth][1]), "^", mec=color, mfc="white", ms=4.5)
        axes.plot([], [], "^", mec="0.3", mfc="white", ms=4.5, label="not learned within its budget")
        axes.set(xscale="log", yscale="log", xlabel="depth N", ylabel="learning time (episodes)", ylim=(25, 9000))
        axes.set_xticks(list(DEPTHS), [str(depth) for depth in DEPTHS])
        axes.xaxis.set_minor_locator(ticker.NullLocator())
        axes.set_yticks([50, 100, 200, 500, 1000, 2000, 5000])
        axes.yaxis.set_minor_locator(ticker.NullLocator())
        axes.yaxis.set_major_formatter("{x:,.0f}")
        grid(axes)
        figure.legend(loc="outside upper center", ncols=2, **LEGEND)
        return save(plt, figure, path, f"{caption}. Point: one seed, with an action mapping of its own; line: median.")


def table(results: Sequence[Result]) -> str:
    """The table of the documentation: by depth, the ensemble's learning times and what they took."""
    lines = [
        "| depth | N²/2 | learned | median | range | seconds, median (beside other work) |",
        "|---|---|---|---|---|---|",
    ]
    config = ENSEMBLE.config
    for depth, (seeds, budget) in DEPTHS.items():
        times = ENSEMBLE.times(results, depth)
        if not len(times):
            continue
        start = f"deep_sea:depth={depth},"
        seconds = np.median([r.seconds for r in results if r.env.startswith(start) and r.config == config])
        middle, last = float(np.median(times)), float(times.max())
        ends = [f"{end:g}" for end in (times.min(), last) if np.isfinite(end)]
        if len(ends) < 2:
            ends.append(f"more than {budget:,}")
        planned = f" (of {seeds} planned)" if len(times) < seeds else ""
        lines.append(
            f"| {depth} | {depth**2 / 2:g} | {np.isfinite(times).sum()} of {len(times)}{planned} | "
            f"{f'{middle:g}' if np.isfinite(middle) else f'> {budget:,}'} | {' to '.join(ends)} | {seconds:.0f} |"
        )
    return "\n".join(lines)


def describe(report: FigureReport) -> str:
    return describe_times(
        (f"{variant.name}, depth {depth}", variant.times(report.results, depth))
        for variant, plan, *_ in _SERIES
        for depth in plan
    )


FIGURE = Figure(
    id="deeper_depths",
    label="Depth",
    title="Learning time against depth, recommended settings",
    jobs={
        "quick": merge(*(ENSEMBLE.jobs(depth, 3, DEPTHS[depth][1]) for depth in (10, 20))),
        **dict.fromkeys(
            ("standard", "paper"),
            merge(*(v.jobs(depth, *plan[depth]) for v, plan, *_ in _SERIES for depth in plan)),
        ),
    },
    claims=(_learns(30, True), _learns(50, True), _learns(100, False)),
    note="One update per step. Seeds from 1000 on, none of which was used to choose the settings.",
    draw=draw,
    describe=describe,
)
