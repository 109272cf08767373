"""The share of depths of Deep Sea that each seed solves, against one number of the protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    styles_of,
)
from langevin_dqn.runs.result import Result

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class DepthScores:
    """Scores of agents against what varies.

    Attributes:
        column: ``updates`` or ``members``.
        axis: the same in words.
    """

    column: str
    axis: str

    def draw(self, results: Sequence[Result], path: str | Path, caption: str) -> Path | None:
        """Means over seeds: joined, with a band, or as points with the seeds beside them where there are at most two.

        None where no depth was run by all agents.
        """
        path = check_path(path)
        scores = self._table(results)
        if scores.is_empty():
            return None
        styles, values = styles_of(scores["agent"]), sorted(set(scores[self.column]))
        joined = len(values) > 2
        with drawing() as plt:
            figure, axes = plt.subplots(figsize=(WIDTH, 3.2 if joined else 2.8), layout="constrained")
            for i, (agent, style) in enumerate(styles.items()):
                looks = {"color": style.color, "marker": MARKERS[i % len(MARKERS)]}
                name = style.text + self._size(results, agent)
                own = scores.filter(agent=agent)
                aside = i - (len(styles) - 1) / 2
                if joined:
                    self._line(axes, own, aside, looks | {"ls": style.dashes, "label": name})
                else:
                    self._points(axes, own, [values.index(value) for value in own[self.column]], aside, looks, name)
            axes.set(xlabel=self.axis, ylabel="share of depths solved", ylim=(-0.04, 1.04))
            if joined:
                axes.set_xscale("log")
                log_ticks(axes, values)
            else:
                named_ticks(axes, values)
            grid(axes)
            figure.legend(loc="outside upper center", ncols=2, **LEGEND)
            parts = "Line: mean over seeds; band" if joined else "Large: mean; small: one seed; bar"
            key = f"{parts}: worst to best seed; {self._depths(results)}."
            return save(plt, figure, path, f"{caption}. {key}")

    def _line(self, axes, own: "pl.DataFrame", aside: float, looks: dict[str, Any]) -> None:
        groups = own.group_by(self.column).agg(*_mean_and_range()).sort(self.column)
        x = groups[self.column].to_numpy() * 1.03**aside
        axes.fill_between(x, groups["low"], groups["high"], color=looks["color"], alpha=0.12, lw=0)
        axes.vlines(x, groups["low"], groups["high"], color=looks["color"], lw=1, alpha=0.5)
        axes.plot(x, groups["score"], lw=1.6, ms=5.5, **looks)
        seeds = own[self.column].to_numpy() * 1.03**aside
        axes.plot(seeds, own["score"], ".", color=looks["color"], ms=4, alpha=0.6, mew=0)

    def _points(self, axes, own: "pl.DataFrame", places: list[int], aside: float, looks: dict, name: str) -> None:
        """Mean and range at each value, and each seed to the right of them."""
        import polars as pl

        for place, group in own.with_columns(place=pl.Series(places)).group_by("place", maintain_order=True):
            score = group["score"].sort()
            x = place[0] + 0.36 * aside - 0.06
            axes.vlines(x, score.min(), score.max(), color=looks["color"], lw=1.4)
            axes.plot(x, score.mean(), ls="", ms=8, **looks)
            beside = x + 0.05 + 0.03 * np.arange(len(score))
            axes.plot(beside, score, ls="", ms=4, alpha=0.55, mew=0, **looks)
        axes.plot([], [], ls="", ms=8, label=name, **looks)

    def _depths(self, results: Sequence[Result]) -> str:
        """``depths 10, 14 and 20``; many by their number."""
        depths = learning_times.common_depths(learning_times.table(results), ("agent", self.column))
        words = [str(depth) for depth in depths]
        if len(words) > 6:
            return f"{len(words)} depths, {words[0]} to {words[-1]}"
        return f"depths {', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else f"depth {words[0]}"

    def describe(self, results: Sequence[Result]) -> str:
        """The same in words."""
        means = self._table(results).group_by("agent", self.column).agg(_mean_and_range()[0]).sort("agent", self.column)
        parts = [
            f"{label(agent)}{self._size(results, agent)}, {self.axis} {value}: {score:.2f}"
            for agent, value, score in means.rows()
        ]
        return "Mean share of depths solved. " + "; ".join(parts) + "."

    def _table(self, results: Sequence[Result]) -> "pl.DataFrame":
        """A row per agent, value of the column and seed."""
        return learning_times.scores(learning_times.table(results), ("agent", self.column))

    def _size(self, results: Sequence[Result], agent: str) -> str:
        """`` (5)`` after an ensemble whose size the picture does not vary."""
        sizes = {result.setting("members", 1) for result in results if result.agent == agent}
        return f" ({sizes.pop()})" if len(sizes) == 1 and sizes != {1} and self.column != "members" else ""


def _mean_and_range() -> list[Any]:
    import polars as pl

    score = pl.col("score")
    return [score.mean(), score.min().alias("low"), score.max().alias("high")]
