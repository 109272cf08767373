"""A figure over bsuite, drawn by category (a radar) or by experiment (bars)."""

from pathlib import Path
from typing import TYPE_CHECKING

from langevin_dqn.analysis import bsuite_summary
from langevin_dqn.paper.categories import scores_of
from langevin_dqn.paper.figure import FigureReport
from langevin_dqn.plots import bsuite

if TYPE_CHECKING:
    import polars as pl


def draw_radar(report: FigureReport, path: Path, caption: str) -> Path | None:
    """Scores by category; None for fewer than three, which make no polygon."""
    tags = _means(report, "tag")
    if len({tag for scores in tags.values() for tag in scores}) < 3:
        return None
    return bsuite.radar(tags, path, caption, _ranges(report, "tag"))


def describe_radar(report: FigureReport) -> str:
    """The same in words."""
    return _describe(_means(report, "tag"))


def draw_bars(report: FigureReport, path: Path, caption: str) -> Path | None:
    """Scores by experiment; None where there are none."""
    scores = _means(report, "experiment")
    if not scores:
        return None
    rows = scores_of(report.results).select("agent", "experiment", "finished").rows()
    unfinished = {(_with_members(report, agent), name) for agent, name, finished in rows if not finished}
    return bsuite.bars(scores, path, caption, unfinished, _ranges(report, "experiment"))


def describe_bars(report: FigureReport) -> str:
    """The same in words."""
    return _describe(_means(report, "experiment"))


def _describe(scores: dict[str, dict[str, float]]) -> str:
    styles = bsuite.styles(scores)
    return "bsuite scores from 0 to 1. " + " ".join(
        f"{styles[agent].text}: "
        + ", ".join(f"{name.replace('_', ' ')} {score:.2f}" for name, score in sorted(by_name.items()))
        + "."
        for agent, by_name in scores.items()
    )


def _means(report: FigureReport, column: str) -> dict[str, dict[str, float]]:
    """Scores by agent, then by ``experiment`` or ``tag``, averaged over passes."""
    import polars as pl

    table = _passes(report, column).group_by("agent", column, maintain_order=True).agg(pl.col("score").mean())
    return {
        _with_members(report, str(agent)): dict(part.select(column, "score").rows())
        for (agent,), part in table.partition_by("agent", as_dict=True, maintain_order=True).items()
    }


def _ranges(report: FigureReport, column: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Lowest and highest score of the passes, where there are several."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for (agent, name), part in _passes(report, column).group_by("agent", column, maintain_order=True):
        if part.height > 1:
            low, high = part["score"].sort()[[0, -1]]
            found.setdefault(_with_members(report, str(agent)), {})[str(name)] = (low, high)
    return found


def _passes(report: FigureReport, column: str) -> "pl.DataFrame":
    """Scores pass by pass."""
    import polars as pl

    scores = scores_of(report.results).filter(pl.col("score").is_not_nan())
    return bsuite_summary.score_tags(scores) if column == "tag" else scores


def _with_members(report: FigureReport, agent: str) -> str:
    """``boot_dqn:members=10`` where an agent has one ensemble size."""
    members = {result.setting("members", 1) for result in report.results if result.agent == agent}
    return f"{agent}:members={members.pop()}" if len(members) == 1 and members != {1} else agent
