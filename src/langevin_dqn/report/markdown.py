"""Claims, verdicts and pictures in Markdown, for a README or a page of documentation."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langevin_dqn.errors import visible
from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE, LEVEL, NOT_ENOUGH, Verdict
from langevin_dqn.paper.figure import FigureReport
from langevin_dqn.report.correction import Corrections, corrections, excluded
from langevin_dqn.report.pictures import caption
from langevin_dqn.report.summary import to_dicts
from langevin_dqn.report.verdicts import format_verdict

#: By how the ids of all figures start.
_TITLES = {"fig": "Replication results", "deeper": "Results of the recommended settings"}


def document(reports: Sequence[FigureReport], pictures: Mapping[str, str] | None = None) -> str:
    """How many claims hold, a line for each claim, then what was found, figure by figure.

    Args:
        reports: what the runs show.
        pictures: by figure, where its picture is, as a link from where the text will be.
    """
    starts = {report.figure.id.rstrip("0123456789").partition("_")[0] for report in reports}
    title = _TITLES[starts.pop()] if len(starts) == 1 and starts <= _TITLES.keys() else "Results"
    lines = [f"# {title}", "", *_introduction(reports), ""]
    lines += ["| figure | claim | verdict | after correction |", "|---|---|---|---|"]
    lines += [row(claim) for claim in to_dicts(reports)]
    corrected = corrections(reports)
    for report in reports:
        lines += _section(report, (pictures or {}).get(report.figure.id), corrected)
    return "\n".join(lines) + "\n"


def row(claim: Mapping[str, Any]) -> str:
    """A line of the table of claims, from an object of ``report --json``."""
    p = claim["p_opposite"] if claim["verdict"] == FAILS else claim["p"]
    verdicts = [_with_p(claim["verdict"], p), _with_p(claim["verdict_adjusted"], claim["p_adjusted"])]
    if claim["tests"] is None:  # a rule decides, and nothing is corrected
        verdicts[1] = "no test"
    cells = [f"[{claim['label']}](#{claim['figure']})", _cell(claim["words"]), *verdicts]
    return f"| {' | '.join(cells)} |"


def _with_p(verdict: Verdict, p: float | None) -> str:
    return format_verdict(verdict) + ("" if p is None else f", p = {format_p(p)}")


def format_p(p: float | None) -> str:
    """A p-value in two digits; empty if there is none."""
    return "" if p is None else f"{p:.2g}"


def _introduction(reports: Sequence[FigureReport]) -> list[str]:
    """The count of verdicts, what they mean, and what is left of them after the correction."""
    claims = to_dicts(reports)
    tested = sum(claim["tests"] is not None for claim in claims)
    sentences = [
        f"Of {len(claims)} claims, {_count(claim['verdict'] for claim in claims)}, at level {LEVEL} for each claim.",
        "A claim is *inconclusive* if all planned runs do not decide it, and has *not enough runs* while some are "
        "missing.",
        "The sections below the table give the runs, the findings, and the test or rule of each claim.",
    ]
    begun = [report.figure.label for report in reports if report.findings and len(report.results) < report.planned]
    if begun:
        sentences.append(f"Verdicts are interim where planned runs are missing: {_list(begun)}.")
    lines = [" ".join(sentences)]
    if tested:
        sentences = [
            f"A statistical test decides {tested} of the claims, and a rule the others.",
            "After Holm's correction for the number of tests,",
            f"{_count(claim['verdict_adjusted'] for claim in claims)}.",
            "In the table, p is the p-value of the test (of the opposite, if a claim does not hold); that in the last "
            "column is corrected.",
        ]
        lines += ["", " ".join(sentences)]
    return lines


def _count(verdicts: Iterable[Verdict]) -> str:
    """``2 hold and 1 is inconclusive``."""
    found = Counter(verdicts)
    return _list(f"{found[name]} {words[found[name] > 1]}" for name, words in _COUNTED.items() if found[name])


def _list(parts: Iterable[str]) -> str:
    *first, last = list(parts) or [""]
    return f"{', '.join(first)} and {last}" if first else last


#: By verdict, what is said of one claim, and of several.
_COUNTED: dict[Verdict, tuple[str, str]] = {
    HOLDS: ("holds", "hold"),
    FAILS: ("does not hold", "do not hold"),
    INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    NOT_ENOUGH: ("has not enough runs", "have not enough runs"),
}


def _section(report: FigureReport, picture: str | None, corrected: Corrections) -> list[str]:
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
        correction = corrected.get((figure.id, claim.id))
        line = f"**{format_verdict(finding.verdict)}**: {_line(claim.words)} Found: {_line(finding.words)}."
        line += f" *{'Test' if finding.is_tested else 'Rule'}: {finding.test}.*" if finding.test else ""
        if correction and correction.adjusted is not None:
            line += f" *After Holm's correction for {correction.tests} tests: p = {format_p(correction.adjusted)}"
            line += f", {correction.verdict}.*" if correction.verdict != finding.verdict else ".*"
        if left_out := excluded(finding, correction):
            line += f" *Excluded at level {LEVEL}: {_line(left_out)}.*"
        lines += ["", line]
    return lines


def runs(report: FigureReport) -> str:
    """``24 of 24, quick``; without the scale if all have the same runs, and nothing where there is nothing to train."""
    counts = f"{len(report.results):,} of {report.planned:,}" if report.planned else ""
    return f"{counts}, {report.scale}" if counts and report.has_scales else counts


def _line(text: str) -> str:
    """One line without tags and links: words of a store may be among these. A comparison, p < 0.05, stays as it is."""
    return _TAG.sub("&lt;", visible(" ".join(text.split()))).replace("](", r"]\(")


_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def _cell(text: str) -> str:
    return _line(text).replace("|", r"\|")
