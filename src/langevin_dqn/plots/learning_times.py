"""Learning time in Deep Sea against updates per step: a dot per seed, a line through the medians.

Points at the same place are drawn side by side, so that none hides another.
"""

from collections.abc import Sequence
from pathlib import Path

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
    log_ticks,
    save,
    styles_of,
)
from langevin_dqn.runs.result import Result


def draw_times(results: Sequence[Result], path: str | Path, caption: str, budget: int) -> Path:
    """Learning times by agent and number of updates.

    Args:
        results: runs of Deep Sea.
        path: a .png, .pdf or .svg file.
        caption: the protocol, written below the axes.
        budget: episodes after which a run that has not learned stops; such runs are drawn there.
    """
    import polars as pl

    path = check_path(path)
    times = learning_times.table(results)
    styles, counts = styles_of(times["agent"]), sorted(set(times["updates"]))
    with drawing() as plt:
        from matplotlib import ticker

        size = (WIDTH, 3.4) if len(counts) > 2 else (0.75 * WIDTH, 2.8)
        figure, axes = plt.subplots(figsize=size, layout="constrained")
        for i, (agent, style) in enumerate(styles.items()):
            color = style.color
            own, shift = times.filter(agent=agent), 1.25 ** (i - (len(styles) - 1) / 2)
            medians = own.group_by("updates").agg(pl.col("time").median()).sort("updates")
            middle = medians["time"].to_numpy()
            shown = np.where(np.isfinite(middle), middle, np.nan)
            line = {"color": color, "ls": style.dashes, "lw": 1.6, "marker": "_", "ms": 11, "mew": 2}
            axes.plot(medians["updates"].to_numpy() * shift, shown, label=style.text, **line)
            for count in sorted(set(own["updates"])):
                each = own.filter(updates=count).sort("seed")["time"].to_numpy()
                step = min(1.035, 1.3 ** (1 / max(len(each) - 1, 1)))  # many seeds stay clear of the next count
                x = count * shift * step ** (np.arange(len(each)) - (len(each) - 1) / 2)
                late = ~np.isfinite(each)
                axes.plot(x[~late], each[~late], MARKERS[i % len(MARKERS)], color=color, ms=4, alpha=0.7, mew=0)
                axes.plot(x[late], np.full(late.sum(), budget), "^", mec=color, mfc="white", ms=5.5)
        if times["time"].is_infinite().any():
            axes.plot([], [], "^", mec="0.3", mfc="white", ms=5.5, label="not learned within the budget")
        axes.axhline(budget, color="0.6", lw=0.8, ls=":", zorder=0)
        axes.set(xscale="log", yscale="log", xlabel="updates per step", ylabel="learning time (episodes)")
        log_ticks(axes, counts)
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_minor_locator(ticker.NullLocator())
        axes.set_ylim(min(*times["time"], budget / 3) / 1.3, budget * 1.25)
        grid(axes)
        figure.legend(loc="outside upper center", ncols=3, **LEGEND)
        return save(plt, figure, path, f"{caption}. Dot: one seed; dash: median over seeds.")


def describe_times(results: Sequence[Result]) -> str:
    """The same in words."""
    times = learning_times.table(results)
    parts = []
    for agent in styles_of(times["agent"]):
        for (count,), own in times.filter(agent=agent).sort("updates").partition_by("updates", as_dict=True).items():
            learned, middle = own["time"].is_finite().sum(), float(np.median(own["time"]))
            median = f", median learning time {middle:g} episodes" if np.isfinite(middle) else ""
            parts.append(f"{label(agent)}, {per_step(count)}: {learned} of {own.height} seeds learned{median}")
    return "; ".join(parts) + "."


def per_step(count: object) -> str:
    """A number of updates per step, with the right plural."""
    return f"{count} update{'' if count == 1 else 's'} per step"
