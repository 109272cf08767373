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
    named_ticks,
    save,
    side_by_side,
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
    few = len(counts) <= 2  # a place for each, no line between them, and how many learned below
    with drawing() as plt:
        from matplotlib import ticker

        figure, axes = plt.subplots(figsize=(WIDTH, 3.0 if few else 3.4), layout="constrained")
        for i, (agent, style) in enumerate(styles.items()):
            color, marker = style.color, MARKERS[i % len(MARKERS)]
            own, aside = times.filter(agent=agent), i - (len(styles) - 1) / 2
            medians = own.group_by("updates").agg(pl.col("time").median()).sort("updates")
            middle = medians["time"].to_numpy()
            shown = np.where(np.isfinite(middle), middle, np.nan)
            x = np.array([_place(count, counts, aside) for count in medians["updates"]])
            if few:
                axes.plot(x, shown, color=color, ls="-", lw=0, marker="_", ms=34, mew=2)
                axes.plot([], [], color=color, ls="", marker=marker, ms=5, label=style.text)
            else:
                dashes = style.dashes if np.isfinite(middle).sum() > 2 else "None"  # two points are no line
                line = {"color": color, "ls": dashes, "lw": 1.6, "marker": "_", "ms": 11, "mew": 2}
                axes.plot(x, shown, label=style.text, **line)
            for count in counts:
                each = own.filter(updates=count).sort("seed")["time"].to_numpy()
                late = ~np.isfinite(each)
                x = _places(count, counts, aside, len(each))
                looks = {"ls": "None", "color": color, "marker": marker, "mew": 0}
                axes.plot(x[~late], each[~late], ms=5 if few else 4, alpha=0.7, **looks)
                axes.plot(x[late], np.full(late.sum(), budget), "^", mec=color, mfc="white", ms=5.5)
                if few:
                    words = f"{(~late).sum()} of {len(each)}\nlearned" if len(each) else "not\nrun"
                    at = (_place(count, counts, aside), 0.02)
                    looks = {"color": color, "bbox": {"fc": "white", "ec": "none", "pad": 1}}  # no line behind words
                    axes.annotate(
                        words, at, xycoords=("data", "axes fraction"), ha="center", va="bottom", size=8, **looks
                    )
        if times["time"].is_infinite().any():
            axes.plot([], [], "^", mec="0.3", mfc="white", ms=5.5, label=f"not learned in {budget:,} episodes")
            axes.axhline(budget, color="0.6", lw=0.8, ls=":", zorder=0)
        axes.set(yscale="log", xlabel="updates per step", ylabel="learning time (episodes)")
        if few:
            named_ticks(axes, counts)
        else:
            axes.set_xscale("log")
            log_ticks(axes, counts)
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_minor_locator(ticker.NullLocator())
        axes.set_ylim(min(*times["time"], budget / 3) / (2.2 if few else 1.3), budget * 1.25)
        grid(axes)
        handles, _ = axes.get_legend_handles_labels()
        if len(handles) > 1:
            figure.legend(loc="outside upper center", ncols=3, columnspacing=1.4, **LEGEND)
        return save(plt, figure, path, f"{caption}. Marker: one seed; dash: median over seeds.")


def _place(count: int, counts: Sequence[int], aside: float) -> float:
    """Where an agent's runs with this number of updates are, beside those of the others."""
    return counts.index(count) + 0.4 * aside if len(counts) <= 2 else count * 1.25**aside


def _places(count: int, counts: Sequence[int], aside: float, runs: int) -> np.ndarray:
    """A place for each run."""
    if len(counts) <= 2:
        return _place(count, counts, aside) + side_by_side(runs, 0.045)
    step = min(1.035, 1.3 ** (1 / max(runs - 1, 1)))  # many seeds stay clear of the next count
    return _place(count, counts, aside) * step ** side_by_side(runs, 1)


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
