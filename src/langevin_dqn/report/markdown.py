"""Claims, verdicts and pictures in Markdown, for a README or a page of documentation."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from langevin_dqn.errors import visible
from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE, NOT_ENOUGH, Verdict
from langevin_dqn.paper.figure import FigureReport
from langevin_dqn.report.pictures import caption
from langevin_dqn.report.verdicts import format_verdict


def document(reports: Sequence[FigureReport], pictures: Mapping[str, str] | None = None) -> str:
    """How many claims hold, a line for each claim, then what was found, figure by figure.

    Args:
        reports: what the runs show.
        pictures: by figure, where its picture is, as a link from where the text will be.
    """
    papers = all(report.figure.id.startswith("fig") for report in reports)
    lines = ["# Replication results" if papers else "# Results", "", *_introduction(reports), ""]
    lines += ["| figure | claim | verdict |", "|---|---|---|"]
    for report in reports:
        for claim, finding in report.findings:
            figure = f"[{report.figure.id}](#{report.figure.id})"
            lines.append(f"| {figure} | {_cell(claim.words)} | {format_verdict(finding.verdict)} |")
    for report in reports:
        lines += _section(report, (pictures or {}).get(report.figure.id))
    return "\n".join(lines) + "\n"


def _introduction(reports: Sequence[FigureReport]) -> list[str]:
    """The count of verdicts, and what they mean."""
    found = Counter(finding.verdict for report in reports for _, finding in report.findings)
    parts = [f"{found[verdict]} {words[found[verdict] > 1]}" for verdict, words in _COUNTED.items() if found[verdict]]
    count = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    return [
        f"Of {found.total()} claims, {count}. A claim is *inconclusive* when all planned runs do not decide it, and",
        "has *not enough runs* while some are missing; the number of runs is given with each figure. Below the table",
        "is what was found, and by which test or rule.",
    ]


#: By verdict, what is said of one claim, and of several.
_COUNTED: dict[Verdict, tuple[str, str]] = {
    HOLDS: ("holds", "hold"),
    FAILS: ("does not hold", "do not hold"),
    INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    NOT_ENOUGH: ("has not enough runs", "have not enough runs"),
}


def _section(report: FigureReport, picture: str | None) -> list[str]:
    """A figure: its picture, its protocol, and what was found about each of its claims."""
    figure = report.figure
    title = f"{figure.label}: {figure.title}"
    lines = ["", f'<a id="{figure.id}"></a>', "", f"## {title}"]
    if picture is not None:
        lines += ["", f"![{title}]({picture})"]
    words = caption(report)
    if words or figure.note:
        lines += ["", " ".join(filter(None, [f"{words}." if words else "", figure.note]))]
    for claim, finding in report.findings:
        test = f" *{'Test' if finding.is_tested else 'Rule'}: {finding.test}.*" if finding.test else ""
        lines += [
            "",
            f"**{format_verdict(finding.verdict)}**: {_line(claim.words)} Found: {_line(finding.words)}.{test}",
        ]
    return lines


def runs(report: FigureReport) -> str:
    """``24 of 24, quick``; nothing where there is nothing to train."""
    return f"{len(report.results):,} of {report.planned:,}, {report.scale}" if report.planned else ""


def _line(text: str) -> str:
    """One line without tags and links: words of a store may be among these. A comparison, p < 0.05, stays as it is."""
    return _TAG.sub("&lt;", visible(" ".join(text.split()))).replace("](", r"]\(")


_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def _cell(text: str) -> str:
    return _line(text).replace("|", r"\|")
