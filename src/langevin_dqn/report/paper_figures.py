"""The paper's figures, each drawn from its runs, and told in words for those who do not see it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from langevin_dqn.analysis import bsuite_summary
from langevin_dqn.experiments.categories import scores_of
from langevin_dqn.report import bsuite_figures, insight_figures, sea_figures
from langevin_dqn.report.figures import label
from langevin_dqn.report.summary import FigureReport


class Drawing(NamedTuple):
    """How a figure is drawn and told.

    Attributes:
        draw: from a report to a picture at a path, with a caption below; None where there is nothing to see yet.
        tell: the same in words.
    """

    draw: Callable[[FigureReport, str | Path, str], Path | None]
    tell: Callable[[FigureReport], str]


def draw(report: FigureReport, path: str | Path) -> Path | None:
    """Draw a figure to a .png, .pdf or .svg file; None where it has no runs, or no picture."""
    drawing = DRAWINGS.get(report.figure.id)
    return None if drawing is None or _lacks_runs(report) else drawing.draw(report, path, caption(report))


def alt(report: FigureReport) -> str:
    """What the picture shows, in words."""
    if report.figure.id not in DRAWINGS or _lacks_runs(report):
        return f"{report.figure.title}: no runs yet."
    return f"{report.figure.title}. {DRAWINGS[report.figure.id].tell(report)}"


def caption(report: FigureReport) -> str:
    """Protocol, scale, how much of it is done, and which reading of the paper."""
    parts = [report.protocol] if report.results else []
    if report.planned:
        parts.append(f"scale {report.scale}, {len(report.results):,} of {report.planned:,} runs")
    parts += [presets(report)] if report.results else []
    return "; ".join(parts)


def presets(report: FigureReport) -> str:
    """``paper preset``, or which agent has which."""
    readings: dict[str, list[str]] = {}
    for agent, reading in sorted({(result.agent, result.preset) for result in report.results}):
        readings.setdefault(reading, []).append(label(agent))
    if len(readings) == 1:
        return f"{next(iter(readings))} preset"
    return ", ".join(f"{reading} preset: {' and '.join(agents)}" for reading, agents in readings.items())


def _lacks_runs(report: FigureReport) -> bool:
    """A figure without training has no runs, and is drawn all the same."""
    return bool(report.planned) and not report.results


def _by(report: FigureReport, column: str) -> dict[str, dict[str, float]]:
    """Scores by agent, then by ``experiment`` or ``tag``, averaged over passes."""
    import polars as pl

    scores = scores_of(report.results).filter(pl.col("score").is_not_nan())
    table = bsuite_summary.score_tags(scores) if column == "tag" else scores
    means = table.group_by("agent", column, maintain_order=True).agg(pl.col("score").mean())
    return {
        _with_members(report, str(agent)): dict(part.select(column, "score").rows())
        for (agent,), part in means.partition_by("agent", as_dict=True, maintain_order=True).items()
    }


def _with_members(report: FigureReport, agent: str) -> str:
    members = {result.setting("members", 1) for result in report.results if result.agent == agent}
    return f"{agent}:members={members.pop()}" if len(members) == 1 and members != {1} else agent


def _radar(report: FigureReport, path: str | Path, caption: str) -> Path | None:
    tags = _by(report, "tag")
    if len({tag for scores in tags.values() for tag in scores}) < 3:  # no polygon
        return None
    return bsuite_figures.radar(tags, path, caption)


def _bars(report: FigureReport, path: str | Path, caption: str) -> Path | None:
    scores = _by(report, "experiment")
    if not scores:
        return None
    rows = scores_of(report.results).select("agent", "experiment", "finished").rows()
    unfinished = {(_with_members(report, agent), name) for agent, name, finished in rows if not finished}
    return bsuite_figures.bars(scores, path, caption, unfinished)


def _tell_bsuite(column: str) -> Callable[[FigureReport], str]:
    def tell(report: FigureReport) -> str:
        scores = _by(report, column)
        styles = bsuite_figures.styles(scores)
        return "bsuite scores from 0 to 1. " + " ".join(
            f"{styles[agent].text}: "
            + ", ".join(f"{name.replace('_', ' ')} {score:.2f}" for name, score in sorted(by_name.items()))
            + "."
            for agent, by_name in scores.items()
        )

    return tell


_TIMES = Drawing(sea_figures.draw_times, sea_figures.tell_times)
_RADAR = Drawing(_radar, _tell_bsuite("tag"))
_BARS = Drawing(_bars, _tell_bsuite("experiment"))
_BY_COMPUTE = sea_figures.Scores("compute", "model updates per step (members × updates)")
_BY_UPDATES = sea_figures.Scores("updates", "updates per step")
_BY_MEMBERS = sea_figures.Scores("members", "members")

#: By figure.
DRAWINGS: dict[str, Drawing] = {
    "fig1": Drawing(insight_figures.draw_sea, insight_figures.tell_sea),
    "fig2": Drawing(sea_figures.draw_shares, sea_figures.tell_shares),
    "fig3": _TIMES,
    "fig4": Drawing(insight_figures.draw_triangles, insight_figures.tell_triangles),
    "fig5": Drawing(insight_figures.draw_maps, insight_figures.tell_maps),
    "fig6": Drawing(_BY_COMPUTE.draw, _BY_COMPUTE.tell),
    "fig7": Drawing(_BY_UPDATES.draw, _BY_UPDATES.tell),
    "fig8": _TIMES,
    "fig9": _RADAR,
    "fig10": _BARS,
    "fig11": Drawing(_BY_MEMBERS.draw, _BY_MEMBERS.tell),
    "fig12": _RADAR,
    "fig13": _BARS,
}
