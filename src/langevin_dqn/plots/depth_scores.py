"""The share of depths of Deep Sea that each seed solves, against one number of the protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class DepthScores:
    """Scores of agents against what varies.

    Attributes:
        column: ``updates``, ``members``, or ``compute``, the product of both.
        axis: the same in words.
    """

    column: str
    axis: str

    def draw(self, results: Sequence[Result], path: str | Path, caption: str) -> Path | None:
        """Mean and range per agent, joined where there are more than two; None where no depth was run by all agents."""
        path = check_path(path)
        scores = self._table(results)
        if scores.is_empty():
            return None
        styles, values = styles_of(scores["agent"]), sorted(set(scores[self.column]))
        with drawing() as plt:
            figure, axes = plt.subplots(figsize=(WIDTH if len(values) > 2 else 0.75 * WIDTH, 3.2), layout="constrained")
            for i, (agent, style) in enumerate(styles.items()):
                color = style.color
                own, shift = scores.filter(agent=agent), 1.03 ** (i - (len(styles) - 1) / 2)
                groups = own.group_by(self.column).agg(*_mean_and_range()).sort(self.column)
                x = groups[self.column].to_numpy() * shift
                joined = len(values) > 2
                if joined:
                    axes.fill_between(x, groups["low"], groups["high"], color=color, alpha=0.12, lw=0)
                axes.vlines(x, groups["low"], groups["high"], color=color, lw=1, alpha=0.5)
                dashes = style.dashes if joined else ""
                line = {"color": color, "ls": dashes, "lw": 1.6, "marker": MARKERS[i % len(MARKERS)], "ms": 5.5}
                axes.plot(x, groups["score"], label=style.text + self._size(results, agent), **line)
                axes.plot(own[self.column].to_numpy() * shift, own["score"], ".", color=color, ms=4, alpha=0.6, mew=0)
            axes.set(xscale="log", xlabel=self.axis, ylabel="score (share of depths solved)", ylim=(-0.04, 1.04))
            log_ticks(axes, values)
            grid(axes)
            figure.legend(loc="outside upper center", ncols=2, **LEGEND)
            parts = "line: mean over seeds; band" if len(values) > 2 else "large marker: mean over seeds; bar"
            shown = f"over {max(scores['depths'])} depths; {parts}: worst and best seed"
            return save(plt, figure, path, f"{caption}. Score {shown}.")

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
        import polars as pl

        times = learning_times.table(results).with_columns(compute=pl.col("members") * pl.col("updates"))
        return learning_times.scores(times, ("agent", self.column))

    def _size(self, results: Sequence[Result], agent: str) -> str:
        """`` (5)`` after an ensemble whose size the picture does not vary."""
        sizes = {result.setting("members", 1) for result in results if result.agent == agent}
        return f" ({sizes.pop()})" if len(sizes) == 1 and sizes != {1} and self.column != "members" else ""


def _mean_and_range() -> list[Any]:
    import polars as pl

    score = pl.col("score")
    return [score.mean(), score.min().alias("low"), score.max().alias("high")]
