"""What the runs of a store show: per figure its runs and the verdict on each of its claims."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from langevin_dqn.paper.claims import INCONCLUSIVE, NOT_ENOUGH, Claim, Finding
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.paper.jobs import SCALES
from langevin_dqn.report.correction import Correction, corrections
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store, key_of


def summarise(store: Store, figures: Iterable[Figure], scale: str | None = None) -> list[FigureReport]:
    """Check the claims of ``figures`` against the runs in ``store``.

    Args:
        store: where the runs are.
        figures: which figures.
        scale: whose runs to use. By default, figure by figure, the largest scale of which
            at least half of the runs are done or, where there is none, the one with the largest share; without any
            run, the smallest.
    """
    figures, scales = list(figures), (scale,) if scale else SCALES
    asked = {key_of(job): job for figure in figures for name in scales for job in figure.jobs[name]}
    found = dict(zip(asked, store.get_all(list(asked.values())), strict=True))

    def stored(jobs: Iterable[Job]) -> tuple[Result, ...]:
        return tuple(result for job in jobs if (result := found[key_of(job)]) is not None)

    reports = []
    for figure in figures:
        done = {name: stored(figure.jobs[name]) for name in scales}
        share = {name: len(done[name]) / max(len(figure.jobs[name]), 1) for name in done}
        chosen = (
            max(done, key=lambda name: (min(share[name], 0.5), SCALES.index(name))) if any(done.values()) else scales[0]
        )
        missing = len(figure.jobs[chosen]) - len(done[chosen])
        findings = tuple((claim, _find(claim, done[chosen], missing)) for claim in figure.claims)
        reports.append(FigureReport(figure, chosen, done[chosen], len(figure.jobs[chosen]), findings))
    return reports


def _find(claim: Claim, results: tuple[Result, ...], missing: int) -> Finding:
    """What the runs show; where they decide nothing and some are missing, more runs may."""
    finding = claim.check(results)
    return replace(finding, verdict=NOT_ENOUGH) if missing and finding.verdict == INCONCLUSIVE else finding


def to_dicts(reports: Sequence[FigureReport]) -> list[dict[str, Any]]:
    """One object per claim, as ``langevin-dqn report --json`` prints them."""
    corrected = corrections(reports)
    return [
        {
            "figure": report.figure.id,
            "label": report.figure.label,
            "claim": claim.id,
            "words": claim.words,
            "verdict": finding.verdict,
            "finding": finding.words,
            "test": finding.test,
            "numbers": _plain(finding.numbers),
            "runs": len(report.results),
            "planned": report.planned,
            "scale": report.scale,
            "p": finding.p,
            "p_opposite": finding.p_opposite,
            "effects": [_plain(effect._asdict()) for effect in finding.effects],
        }
        | _after(corrected.get((report.figure.id, claim.id)), finding)
        for report in reports
        for claim, finding in report.findings
    ]


def _after(correction: Correction | None, finding: Finding) -> dict[str, Any]:
    """After Holm's correction; a claim without a test stays as it is."""
    if correction is None:
        return {"tests": None, "p_adjusted": None, "verdict_adjusted": finding.verdict}
    return {
        "tests": correction.tests,
        "p_adjusted": correction.adjusted,
        "verdict_adjusted": correction.verdict,
    }


def _plain(value: Any) -> Any:
    """JSON has no infinity: a median over runs that did not learn is null."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
