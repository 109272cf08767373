"""Claims, verdicts and pictures in Markdown, for a README or a page of documentation."""

from collections.abc import Mapping, Sequence

from langevin_dqn.paper.figure import FigureReport
from langevin_dqn.report.pictures import caption
from langevin_dqn.report.verdicts import format_verdict


def document(reports: Sequence[FigureReport], pictures: Mapping[str, str] | None = None) -> str:
    """A table of claims, then the figures.

    Args:
        reports: what the runs show.
        pictures: by figure, where its picture is, as a link from where the text will be.
    """
    lines = ["# Replication results", ""]
    lines += ["| figure | claim | verdict | found | test | runs |", "|---|---|---|---|---|---|"]
    for report in reports:
        for claim, finding in report.findings:
            verdict = format_verdict(finding.verdict)
            cells = [report.figure.id, claim.words, verdict, finding.words, finding.test, runs(report)]
            lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    for report in reports:
        if report.figure.id in (pictures or {}):
            title = f"{report.figure.label}: {report.figure.title}"
            lines += ["", f"**{title}**", "", f"![{title}]({(pictures or {})[report.figure.id]})"]
            lines += [
                "",
                " ".join(filter(None, [f"{words}." if (words := caption(report)) else "", report.figure.note])),
            ]
    return "\n".join(lines) + "\n"


def runs(report: FigureReport) -> str:
    """``24 of 24, quick``; nothing where there is nothing to train."""
    return f"{len(report.results):,} of {report.planned:,}, {report.scale}" if report.planned else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")
