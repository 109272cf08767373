"""Figure 2: the share of seeds that learn, by depth, for several numbers of updates per step."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from langevin_dqn.analysis import learning_times
from langevin_dqn.paper.claims import FAILS, HOLDS, MIN_SEEDS, Claim, Finding, decide, inconclusive, ratio_of_times
from langevin_dqn.paper.contenders import DECAYING_DQN, LANGEVIN, LANGEVIN_AS_WRITTEN
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.paper.jobs import deep_sea_jobs, merge
from langevin_dqn.paper.statistics import share_interval, sign_test
from langevin_dqn.plots.learning_times import per_step
from langevin_dqn.plots.style import LEGEND, MARKERS, WIDTH, check_path, drawing, grid, label, save, styles_of
from langevin_dqn.runs.result import Result

_BOTH = (DECAYING_DQN, LANGEVIN)
_CELL = ("depth", "updates", "seed")


def _times(results: Sequence[Result]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """DQN's runs and those of the variant of Langevin DQN that the figure is about, where there are enough seeds."""
    times = learning_times.with_seeds(learning_times.table(results), ("agent", "preset", *_CELL[:2]), MIN_SEEDS)
    langevin = (pl.col("agent") == LANGEVIN.agent) & (pl.col("preset") == LANGEVIN.preset)
    return times.filter(agent="dqn"), times.filter(langevin)


def _shares(times: pl.DataFrame) -> dict[str, str]:
    counts = times.group_by("depth").agg(solved=pl.col("time").is_finite().sum(), runs=pl.len()).sort("depth")
    return {str(depth): f"{solved}/{runs}" for depth, solved, runs in counts.iter_rows()}


def langevin_goes_deeper(results: Sequence[Result]) -> Finding:
    dqn, langevin = _times(results)
    first, second = learning_times.paired(langevin, dqn, _CELL)
    if not len(first):
        return inconclusive(f"fewer than {MIN_SEEDS} seeds per depth and update count")
    p_for, p_against = sign_test(first, second), sign_test(second, first)
    solved_by_dqn = set(dqn.filter(pl.col("time").is_finite())["depth"])
    deeper = sorted(set(langevin.filter(pl.col("time").is_finite())["depth"]) - solved_by_dqn)
    verdict = decide(p_for, p_against)
    numbers = {"dqn": _shares(dqn), "langevin_dqn": _shares(langevin), "only_langevin_solves": deeper, "p": p_for}
    words = (
        f"Langevin DQN learned in {int((first < float('inf')).sum())} and DQN in "
        f"{int((second < float('inf')).sum())} of {len(first)} pairs of runs; depths that DQN never solved "
        f"and Langevin DQN did: {', '.join(map(str, deeper)) or 'none'}"
    )
    if verdict == HOLDS and not deeper:
        return Finding(FAILS, words, numbers, "some depth has to be solved by Langevin DQN alone")
    test = f"sign test on pairs of equal depth, updates and seed, p = {p_for:.2g}"
    effect = ratio_of_times("Langevin DQN to DQN", first, second, learning_times.least_budget(results))
    return Finding(verdict, words, numbers, test, p_for, p_against, (effect,))


def updates_help(results: Sequence[Result]) -> Finding:
    _, langevin = _times(results)
    counts = sorted(set(langevin["updates"]))
    if len(counts) < 2:
        return inconclusive(f"needs two update counts with {MIN_SEEDS} seeds per depth each")
    few, many = (langevin.filter(updates=count) for count in (counts[0], counts[-1]))
    slow, fast = learning_times.paired(few, many, ("depth", "seed"))
    p_for, p_against = sign_test(fast, slow), sign_test(slow, fast)
    by_updates = {
        str(count): f"{part['time'].is_finite().sum()}/{part.height}"
        for (count,), part in langevin.sort("updates").partition_by("updates", as_dict=True).items()
    }
    words = "learned, by updates per step: " + ", ".join(f"{count}: {share}" for count, share in by_updates.items())
    test = f"sign test of learning times, {counts[-1]} against {counts[0]} updates, p = {p_for:.2g}"
    names = f"{counts[-1]} to {counts[0]} updates per step"
    effect = ratio_of_times(names, fast, slow, learning_times.least_budget(results))
    numbers = {"learned": by_updates, "p": p_for}
    return Finding(decide(p_for, p_against), words, numbers, test, p_for, p_against, (effect,))


def _shares_by_depth(times: pl.DataFrame) -> Iterator[tuple[str, int, list[tuple[int, int, int]]]]:
    """By preset and number of updates: depth, seeds that learned, seeds."""
    for (preset, count), runs in (
        times.sort("preset", "updates").partition_by("preset", "updates", as_dict=True, maintain_order=True).items()
    ):
        by_depth = runs.group_by("depth").agg(pl.col("time").is_finite().sum(), pl.len()).sort("depth")
        yield str(preset), int(count), by_depth.rows()


def draw(report: FigureReport, path: Path, caption: str) -> Path:
    """A panel per agent, a line per number of updates; the variant as written in the text is lighter."""
    path = check_path(path)
    times = learning_times.table(report.results)
    styles, counts = styles_of(times["agent"]), sorted(set(times["updates"]))
    nudge = 0.04 * max(max(times["depth"]) - min(times["depth"]), 4)
    as_written = (LANGEVIN_AS_WRITTEN.agent, LANGEVIN_AS_WRITTEN.preset)
    with drawing() as plt:
        figure, panels = plt.subplots(
            1, len(styles), figsize=(WIDTH, 3.1), sharey=True, layout="constrained", squeeze=False
        )
        for axes, (agent, style) in zip(panels[0], styles.items(), strict=True):
            for preset, count, runs in _shares_by_depth(times.filter(agent=agent)):
                place = counts.index(count)
                light = (agent, preset) == as_written
                shift = nudge * (place - (len(counts) - 1) / 2)
                depths = np.array([depth for depth, _, _ in runs]) + shift
                known = {depth: solved / seeds for depth, solved, seeds in runs}
                every_depth = sorted(set(times["depth"]))  # a depth that was not run interrupts the line
                shares = [known.get(depth, np.nan) for depth in every_depth]
                color = _pale("#777777" if light else style.color, place, len(counts))
                ends = [share_interval(solved, seeds) for _, solved, seeds in runs]
                axes.vlines(depths, *zip(*ends, strict=True), color=color, lw=0.7, alpha=0.35 if light else 0.6)
                line = {"color": color, "marker": MARKERS[place], "ms": 4.5 if light else 5, "zorder": 3 - light}
                line |= {"ls": (0, (2, 2)), "lw": 0.9, "mfc": "white"} if light else {"ls": "-", "lw": 1.5}
                axes.plot(np.array(every_depth) + shift, shares, **line)
            axes.set_title(style.text, size=9)
            axes.set(xlabel="depth", xticks=sorted(set(times["depth"])), ylim=(-0.05, 1.05), yticks=(0, 0.5, 1))
            grid(axes)
        panels[0][0].set_ylabel("share of seeds that learn")
        handles = [plt.Line2D([], [], lw=0, label="updates per step:")]
        for i, count in enumerate(counts):
            handles.append(plt.Line2D([], [], color="0.25", marker=MARKERS[i], ms=5, lw=1.5, label=str(count)))
        if as_written in times.select("agent", "preset").unique().rows():
            handles.append(
                plt.Line2D([], [], color="0.5", ls=(0, (2, 2)), lw=0.9, label="the text's σ_w² = 0.005 N, λ = 1")
            )
        figure.legend(handles=handles, loc="outside upper center", ncols=7, columnspacing=1.4, **LEGEND)
        return save(plt, figure, path, f"{caption}. Whiskers: Wilson's 95% interval.")


def _pale(color: str, place: int, places: int) -> Any:
    """``color`` for the last of several places, mixed with white for those before."""
    from matplotlib.colors import to_rgb

    white = 0.55 * (places - 1 - place) / max(places - 1, 1)
    return tuple(channel + (1 - channel) * white for channel in to_rgb(color))


def describe(report: FigureReport) -> str:
    times = learning_times.table(report.results)
    parts = []
    for agent in styles_of(times["agent"]):
        for preset, count, runs in _shares_by_depth(times.filter(agent=agent)):
            shares = ", ".join(f"{solved} of {seeds} at depth {depth}" for depth, solved, seeds in runs)
            parts.append(f"{label(agent)} ({preset} preset), {per_step(count)}: {shares}")
    return "Seeds that learned. " + "; ".join(parts) + "."


FIGURE = Figure(
    id="fig2",
    label="Figure 2",
    title="DQN and Langevin DQN: share of seeds that learn, by depth",
    jobs={
        "quick": deep_sea_jobs(_BOTH, depths=(10, 20), updates=(1, 5), seeds=3, episodes=5000),
        "standard": merge(
            deep_sea_jobs(_BOTH, depths=range(10, 21, 2), updates=(1, 5, 25), seeds=3, episodes=5000),
            deep_sea_jobs((LANGEVIN_AS_WRITTEN,), depths=(10, 20), updates=(1, 5, 25), seeds=3, episodes=5000),
        ),
        "paper": deep_sea_jobs(
            (*_BOTH, LANGEVIN_AS_WRITTEN),
            depths=range(10, 21, 2),
            updates=(1, 5, 25, 100),
            seeds=5,
            episodes=5000,
        ),
    },
    claims=(
        Claim("deeper", "Langevin DQN solves depths at which DQN solves none.", langevin_goes_deeper, tested=True),
        Claim("updates", "Langevin DQN solves more with more updates per step.", updates_help, tested=True),
    ),
    note="Langevin DQN as in the released code: its σ is a standard deviation, 0.005, and not scaled with depth.",
    draw=draw,
    describe=describe,
)
