"""Pictures of deep-sea runs: shares that learn, learning times, scores.

Each picture comes as a pair: a function that draws it and one that says the same in words,
for readers who do not see it. Points of one place are set side by side, so that none hides another.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from langevin_dqn.analysis import seas
from langevin_dqn.experiments.contenders import LANGEVIN_AS_WRITTEN
from langevin_dqn.report.figures import STYLES, check_path, drawing, label, wrapped
from langevin_dqn.report.summary import FigureReport
from langevin_dqn.statistics import share_interval

if TYPE_CHECKING:
    import polars as pl

_MARKERS = "osD^vP*X"
_WIDTH = 5.5
_LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 8}
#: The text's own reading of Langevin DQN, drawn lighter beside the one that a figure is about.
_LIGHT = (LANGEVIN_AS_WRITTEN.agent, LANGEVIN_AS_WRITTEN.preset)


def draw_shares(report: FigureReport, path: str | Path, caption: str) -> Path:
    """fig2: the share of seeds that learn, by depth; a panel per agent, a line per number of updates."""
    path = check_path(path)
    times = seas.table(report.results)
    agents, counts = _agents(times), sorted(set(times["updates"]))
    nudge = 0.025 * max(max(times["depth"]) - min(times["depth"]), 4)
    with drawing() as plt:
        figure, panels = plt.subplots(
            1, len(agents), figsize=(_WIDTH, 3.1), sharey=True, layout="constrained", squeeze=False
        )
        for axes, agent in zip(panels[0], agents, strict=True):
            for preset, count, runs in _shares(times.filter(agent=agent)):
                place = counts.index(count)
                light = (agent, preset) == _LIGHT
                middle = place - (len(counts) - 1) / 2
                depths = np.array([depth for depth, _, _ in runs]) + nudge * middle
                shares = [solved / seeds for _, solved, seeds in runs]
                color = _pale("#777777" if light else STYLES[agent][0], place, len(counts))
                ends = [share_interval(solved, seeds) for _, solved, seeds in runs]
                axes.vlines(depths, *zip(*ends, strict=True), color=color, lw=0.7, alpha=0.35 if light else 0.6)
                line = {"color": color, "marker": _MARKERS[place], "ms": 4.5 if light else 5, "zorder": 3 - light}
                line |= {"ls": (0, (2, 2)), "lw": 0.9, "mfc": "white"} if light else {"ls": "-", "lw": 1.5}
                axes.plot(depths, shares, **line)
            axes.set_title(label(agent), size=9)
            axes.set(xlabel="depth", xticks=sorted(set(times["depth"])), ylim=(-0.05, 1.05), yticks=(0, 0.5, 1))
            _grid(axes)
        panels[0][0].set_ylabel("share of seeds that learn")
        handles = [plt.Line2D([], [], lw=0, label="updates per step:")]
        for i, count in enumerate(counts):
            handles.append(plt.Line2D([], [], color="0.25", marker=_MARKERS[i], ms=5, lw=1.5, label=str(count)))
        if any((agent, preset) == _LIGHT for agent, preset in times.select("agent", "preset").unique().rows()):
            handles.append(plt.Line2D([], [], color="0.5", ls=(0, (2, 2)), lw=0.9, label="σ and λ as in the text"))
        figure.legend(handles=handles, loc="outside upper center", ncols=7, columnspacing=1.4, **_LEGEND)
        return _finish(plt, figure, path, f"{caption}. Whiskers: Wilson's 95% interval.")


def tell_shares(report: FigureReport) -> str:
    times = seas.table(report.results)
    parts = []
    for agent in _agents(times):
        for preset, count, runs in _shares(times.filter(agent=agent)):
            told = ", ".join(f"{solved} of {seeds} at depth {depth}" for depth, solved, seeds in runs)
            parts.append(f"{label(agent)} ({preset} preset), {_per_step(count)}: {told}")
    return "Seeds that learned. " + "; ".join(parts) + "."


def draw_times(report: FigureReport, path: str | Path, caption: str) -> Path:
    """fig3 and fig8: learning time against updates per step: a dot per seed, a line through the medians."""
    import polars as pl

    path = check_path(path)
    times = seas.table(report.results)
    agents, counts = _agents(times), sorted(set(times["updates"]))
    budget = max(job.episodes or 0 for job in report.figure.jobs[report.scale])
    with drawing() as plt:
        from matplotlib import ticker

        figure, axes = plt.subplots(figsize=(_WIDTH, 3.4), layout="constrained")
        for i, agent in enumerate(agents):
            color, dashes, text = STYLES[agent]
            own, shift = times.filter(agent=agent), 1.25 ** (i - (len(agents) - 1) / 2)
            medians = own.group_by("updates").agg(pl.col("time").median()).sort("updates")
            middle = medians["time"].to_numpy()
            line = {"color": color, "ls": dashes, "lw": 1.6, "marker": "_", "ms": 11, "mew": 2}
            axes.plot(
                medians["updates"].to_numpy() * shift, np.where(np.isfinite(middle), middle, np.nan), label=text, **line
            )
            for count in sorted(set(own["updates"])):
                each = own.filter(updates=count).sort("seed")["time"].to_numpy()
                step = min(1.035, 1.3 ** (1 / max(len(each) - 1, 1)))  # many seeds stay clear of the next count
                x = count * shift * step ** (np.arange(len(each)) - (len(each) - 1) / 2)
                late = ~np.isfinite(each)
                axes.plot(x[~late], each[~late], _MARKERS[i], color=color, ms=4, alpha=0.7, mew=0)
                axes.plot(x[late], np.full(late.sum(), budget), "^", mec=color, mfc="white", ms=5.5)
        if times["time"].is_infinite().any():
            axes.plot([], [], "^", mec="0.3", mfc="white", ms=5.5, label="not learned within the budget")
        axes.axhline(budget, color="0.6", lw=0.8, ls=":", zorder=0)
        axes.set(xscale="log", yscale="log", xlabel="updates per step", ylabel="learning time (episodes)")
        _log_ticks(axes, counts)
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_minor_locator(ticker.NullLocator())
        axes.set_ylim(min(*times["time"], budget / 5) / 1.3, budget * 1.25)
        _grid(axes)
        figure.legend(loc="outside upper center", ncols=3, **_LEGEND)
        return _finish(plt, figure, path, f"{caption}. A dot is a seed, a dash a median over seeds.")


def tell_times(report: FigureReport) -> str:
    times = seas.table(report.results)
    parts = []
    for agent in _agents(times):
        for (count,), own in times.filter(agent=agent).sort("updates").partition_by("updates", as_dict=True).items():
            learned, middle = own["time"].is_finite().sum(), float(np.median(own["time"]))
            median = f", median learning time {middle:g} episodes" if np.isfinite(middle) else ""
            parts.append(f"{label(agent)}, {_per_step(count)}: {learned} of {own.height} seeds learned{median}")
    return "; ".join(parts) + "."


class Scores:
    """fig6, fig7 and fig11: the share of depths that a seed solves, against one number of the protocol."""

    def __init__(self, column: str, axis: str):
        self.column = column
        self.axis = axis

    def _table(self, report: FigureReport) -> "pl.DataFrame":
        """A row per agent, value of the column and seed."""
        import polars as pl

        times = seas.table(report.results).with_columns(compute=pl.col("members") * pl.col("updates"))
        return seas.scores(times, ("agent", self.column))

    def draw(self, report: FigureReport, path: str | Path, caption: str) -> Path | None:
        path = check_path(path)
        scores = self._table(report)
        if scores.is_empty():  # no depth yet that all of them ran
            return None
        agents, values = _agents(scores), sorted(set(scores[self.column]))
        with drawing() as plt:
            figure, axes = plt.subplots(figsize=(_WIDTH, 3.2), layout="constrained")
            for i, agent in enumerate(agents):
                color, dashes, text = STYLES[agent]
                own, shift = scores.filter(agent=agent), 1.03 ** (i - (len(agents) - 1) / 2)
                groups = own.group_by(self.column).agg(*_mean_and_range()).sort(self.column)
                x = groups[self.column].to_numpy() * shift
                axes.fill_between(x, groups["low"], groups["high"], color=color, alpha=0.12, lw=0)
                axes.vlines(x, groups["low"], groups["high"], color=color, lw=1, alpha=0.5)
                line = {"color": color, "ls": dashes, "lw": 1.6, "marker": _MARKERS[i], "ms": 5.5}
                axes.plot(x, groups["score"], label=text + self._size(report, agent), **line)
                axes.plot(own[self.column].to_numpy() * shift, own["score"], ".", color=color, ms=4, alpha=0.6, mew=0)
            axes.set(xscale="log", xlabel=self.axis, ylabel="score (share of depths solved)", ylim=(-0.04, 1.04))
            _log_ticks(axes, values)
            _grid(axes)
            figure.legend(loc="outside upper center", ncols=2, **_LEGEND)
            shown = f"over {max(scores['depths'])} depths; line: mean over seeds; band: worst and best seed"
            return _finish(plt, figure, path, f"{caption}. Score {shown}.")

    def tell(self, report: FigureReport) -> str:
        scores = self._table(report)
        parts = [
            f"{label(agent)}{self._size(report, agent)}, {self.axis} {value}: {score:.2f}"
            for agent, value, score in scores.group_by("agent", self.column)
            .agg(_mean_and_range()[0])
            .sort("agent", self.column)
            .rows()
        ]
        return "Mean share of depths solved. " + "; ".join(parts) + "."

    def _size(self, report: FigureReport, agent: str) -> str:
        """`` (5)`` after an ensemble whose size the picture does not vary."""
        sizes = {result.setting("members", 1) for result in report.results if result.agent == agent}
        return f" ({sizes.pop()})" if len(sizes) == 1 and sizes != {1} and self.column != "members" else ""


def _mean_and_range() -> list[Any]:
    import polars as pl

    score = pl.col("score")
    return [score.mean(), score.min().alias("low"), score.max().alias("high")]


def _agents(times: "pl.DataFrame") -> list[str]:
    """The agents of a table, in one order everywhere."""
    return [agent for agent in STYLES if agent in set(times["agent"])]


def _shares(times: "pl.DataFrame") -> Iterator[tuple[str, int, list[tuple[int, int, int]]]]:
    """By preset and number of updates: depth, seeds that learned, seeds."""
    import polars as pl

    for (preset, count), runs in (
        times.sort("preset", "updates").partition_by("preset", "updates", as_dict=True, maintain_order=True).items()
    ):
        by_depth = runs.group_by("depth").agg(pl.col("time").is_finite().sum(), pl.len()).sort("depth")
        yield str(preset), int(count), by_depth.rows()


def _per_step(count: object) -> str:
    return f"{count} update{'' if count == 1 else 's'} per step"


def _pale(color: str, place: int, places: int) -> Any:
    """``color`` for the last of several places, mixed with white for those before."""
    from matplotlib.colors import to_rgb

    white = 0.55 * (places - 1 - place) / max(places - 1, 1)
    return tuple(channel + (1 - channel) * white for channel in to_rgb(color))


def _log_ticks(axes, values: Sequence[int]) -> None:
    """A tick at each value that was run, and none between."""
    axes.set_xticks(values, [str(value) for value in values])
    axes.set_xticks([], minor=True)
    axes.set_xlim(min(values) / 1.35, max(values) * 1.35)


def _grid(axes) -> None:
    axes.grid(axis="y", color="0.9", lw=0.6)
    axes.set_axisbelow(True)


def _finish(plt, figure, path: Path, caption: str) -> Path:
    figure.supxlabel(wrapped(caption, _WIDTH), size=7, color="0.35")
    figure.savefig(path, dpi=300)
    plt.close(figure)
    return path
