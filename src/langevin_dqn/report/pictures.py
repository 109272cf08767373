"""A figure's picture, its caption, and its text alternative."""

from pathlib import Path

from langevin_dqn.paper.figure import FigureReport
from langevin_dqn.plots.style import label


def draw(report: FigureReport, path: str | Path) -> Path | None:
    """Draw a figure to a .png, .pdf or .svg file; None where it has no runs, or no picture.

    The protocol is part of .pdf and .svg files. A .png goes into a page whose text has it.
    """
    if report.figure.draw is None or _lacks_runs(report):
        return None
    path = Path(path)
    return report.figure.draw(report, path, "" if path.suffix == ".png" else caption(report))


def alt_text(report: FigureReport) -> str:
    """What the picture shows, in words; the findings where the figure does not describe itself."""
    if _lacks_runs(report):
        return f"{report.figure.title}: no runs yet."
    if report.figure.describe is not None:
        return f"{report.figure.title}. {report.figure.describe(report)}"
    return " ".join([f"{report.figure.title}.", *(f"{finding.words}." for _, finding in report.findings)])


def caption(report: FigureReport) -> str:
    """Protocol, scale if there are several, how many runs are done, and the presets."""
    parts = [report.protocol] if report.results else []
    if report.planned:
        scale = f"scale {report.scale}, " if report.has_scales else ""
        parts.append(f"{scale}{len(report.results):,} of {report.planned:,} runs")
    parts += [presets(report)] if report.results else []
    return "; ".join(parts)


def presets(report: FigureReport) -> str:
    """``paper preset``, or which agent has which."""
    agents_of: dict[str, list[str]] = {}
    for agent, preset in sorted({(result.agent, result.preset) for result in report.results}):
        agents_of.setdefault(preset, []).append(label(agent))
    if len(agents_of) == 1:
        return f"{next(iter(agents_of))} preset"
    return ", ".join(f"{preset} preset: {' and '.join(agents)}" for preset, agents in agents_of.items())


def _lacks_runs(report: FigureReport) -> bool:
    """A figure without training has no runs, and is drawn all the same."""
    return bool(report.planned) and not report.results
