"""Verdicts after Holm's correction for the number of tests.

The claims of a family that a statistical test decides are corrected together: the paper's figures are one family, those
about the recommended presets another, and a user's figure is one by itself. A claim that has no p-value yet counts as
p = 1. Two errors are kept to the level, each by a correction of its own: that some claim is said to hold and does not,
and that some claim is said not to hold and does.
"""

from collections.abc import Sequence
from typing import NamedTuple

from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE, LEVEL, NOT_ENOUGH, Claim, Finding, Verdict
from langevin_dqn.paper.figure import FigureReport
from langevin_dqn.paper.registry import family_of
from langevin_dqn.paper.statistics import holm


class Correction(NamedTuple):
    """What is left of a verdict after the correction."""

    tests: int
    """Tests that were corrected together."""
    p: float | None
    """The p-value of the verdict: of the opposite, if the claim does not hold. None where no test was made."""
    adjusted: float | None
    """Holm's p-value of it."""
    verdict: Verdict
    """The verdict by the adjusted p-value."""


#: By figure and claim.
Corrections = dict[tuple[str, str], Correction]


def corrections(reports: Sequence[FigureReport]) -> Corrections:
    """The tested claims of ``reports`` after the correction; claims without a test are left out."""
    families: dict[str, list[tuple[FigureReport, Claim, Finding]]] = {}
    for report in reports:
        for claim, finding in report.findings:
            if claim.tested or finding.is_tested:
                families.setdefault(family_of(report.figure.id), []).append((report, claim, finding))
    found = {}
    for family in families.values():
        claimed = holm([1.0 if finding.p is None else finding.p for *_, finding in family])
        opposite = holm([1.0 if finding.p_opposite is None else finding.p_opposite for *_, finding in family])
        for (report, claim, finding), p_claimed, p_opposite in zip(family, claimed, opposite, strict=True):
            fails = finding.verdict == FAILS
            p, adjusted = (finding.p_opposite, p_opposite) if fails else (finding.p, p_claimed)
            verdict = finding.verdict
            if p is not None and verdict in (HOLDS, FAILS) and adjusted > LEVEL:
                verdict = NOT_ENOUGH if len(report.results) < report.planned else INCONCLUSIVE
            key = (report.figure.id, claim.id)
            found[key] = Correction(len(family), p, None if p is None else float(adjusted), verdict)
    return found


def excluded(finding: Finding, correction: Correction | None) -> str:
    """For a claim that is not decided, or no longer, the effects that its runs exclude; empty for others."""
    undecided = finding.verdict not in (HOLDS, FAILS) or (correction and correction.verdict != finding.verdict)
    if not undecided or not finding.effects:
        return ""
    return "; ".join(filter(None, (effect.excluded for effect in finding.effects))) or "nothing"
