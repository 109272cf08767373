"""Learning time in Deep Sea against depth: a panel for each number of model updates per step, a dot per seed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from langevin_dqn.analysis import learning_times
from langevin_dqn.plots.style import (
    LEGEND,
    MARKERS,
    WIDTH,
    check_path,
    drawing,
    grid,
    label,
    named_ticks,
    save,
    side_by_side,
    styles_of,
)
from langevin_dqn.runs.result import Result

if TYPE_CHECKING:
    import polars as pl


def draw_times_by_depth(results: Sequence[Result], path: str | Path, caption: str, budget: int) -> Path:
    """Learning times by depth and agent, for each number of model updates (members times updates) per step.

    Args:
        results: runs of Deep Sea.
        path: a .png, .pdf or .svg file.
        caption: the protocol, written below the axes.
        budget: episodes after which a run that has not learned stops; such runs are drawn there.
    """
    path = check_path(path)
    times = _table(results)
    styles, depths = styles_of(times["agent"]), sorted(set(times["depth"]))
    panels = sorted(set(times["compute"]))
    with drawing() as plt:
        from matplotlib import ticker

        figure, row = plt.subplots(
            1, len(panels), figsize=(WIDTH, 3.0), sharey=True, layout="constrained", squeeze=False
        )
        for axes, compute in zip(row[0], panels, strict=True):
            for i, (agent, style) in enumerate(styles.items()):
                aside = 0.36 * (i - (len(styles) - 1) / 2)
                own = times.filter(agent=agent, compute=compute)
                for depth, each in _by_depth(own):
                    place = depths.index(depth) + aside
                    late = ~np.isfinite(each)
                    x = place + side_by_side(len(each), 0.1)
                    looks = {"ls": "", "color": style.color, "marker": MARKERS[i % len(MARKERS)], "mew": 0}
                    axes.plot(x[~late], each[~late], ms=4, alpha=0.7, **looks)
                    axes.plot(x[late], np.full(late.sum(), budget), "^", mec=style.color, mfc="white", ms=5)
                    middle = float(np.median(each))
                    if np.isfinite(middle):
                        axes.plot([place - 0.15, place + 0.15], [middle, middle], "-", lw=2, color=style.color)
            named_ticks(axes, depths)
            axes.set(yscale="log", xlabel="depth", ylim=(20, budget * 1.4))
            axes.set_title(f"{compute} model updates per step", size=9)
            axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:,.0f}")
            axes.yaxis.set_minor_locator(ticker.NullLocator())
            axes.axhline(budget, color="0.6", lw=0.8, ls=":", zorder=0)
            grid(axes)
        row[0][0].set_ylabel("learning time (episodes)")
        for i, (agent, style) in enumerate(styles.items()):
            looks = {"ls": "", "color": style.color, "marker": MARKERS[i % len(MARKERS)], "mew": 0, "ms": 5}
            axes.plot([], [], label=style.text + _size(times, agent), **looks)
        axes.plot([], [], "^", mec="0.3", mfc="white", ms=5, label=f"not learned in {budget:,} episodes")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2, **LEGEND)
        return save(plt, figure, path, f"{caption}. Marker: one seed; dash: median over seeds; no marker: not run.")


def describe_times_by_depth(results: Sequence[Result]) -> str:
    """The same in words."""
    times = _table(results)
    parts = []
    for compute in sorted(set(times["compute"])):
        for agent in styles_of(times["agent"]):
            for depth, each in _by_depth(times.filter(agent=agent, compute=compute)):
                learned, middle = int(np.isfinite(each).sum()), float(np.median(each))
                median = f", median learning time {middle:g} episodes" if np.isfinite(middle) else ""
                name = f"{label(agent)}{_size(times, agent)}, {compute} model updates per step, depth {depth}"
                parts.append(f"{name}: {learned} of {len(each)} seeds learned{median}")
    return "; ".join(parts) + "."


def _table(results: Sequence[Result]) -> "pl.DataFrame":
    import polars as pl

    return learning_times.table(results).with_columns(compute=pl.col("members") * pl.col("updates"))


def _by_depth(times: "pl.DataFrame") -> Iterator[tuple[int, np.ndarray]]:
    """The learning times at each depth, in the order of the seeds."""
    for (depth,), group in times.sort("depth", "seed").partition_by("depth", as_dict=True, maintain_order=True).items():
        yield int(depth), group["time"].to_numpy()


def _size(times: "pl.DataFrame", agent: str) -> str:
    sizes = set(times.filter(agent=agent)["members"])
    return "" if sizes == {1} else f" ({', '.join(map(str, sorted(sizes)))})"
