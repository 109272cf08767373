"""The report as one HTML file: no network, pictures inside, readable on a phone and on paper."""

import base64
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from langevin_dqn.paper.claims import LEVEL
from langevin_dqn.paper.figure import FigureReport
from langevin_dqn.plots.maps import Maps, color
from langevin_dqn.report import settings
from langevin_dqn.report.correction import corrections, excluded
from langevin_dqn.report.durations import format_duration
from langevin_dqn.report.markdown import format_p, runs
from langevin_dqn.report.pictures import alt_text, presets
from langevin_dqn.report.verdicts import SYMBOLS
from langevin_dqn.runs.store import Store


class Section(NamedTuple):
    """A figure on the page."""

    report: FigureReport
    picture: str | None
    maps: Maps | None


def render(
    reports: Sequence[FigureReport],
    pictures: Mapping[str, Path],
    *,
    made_with: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The page.

    Args:
        reports: what the runs show, figure by figure, in the order of the page.
        pictures: by figure, a PNG file.
        made_with: machines and versions, as ``origins`` finds them.
    """
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("langevin_dqn.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sections = [
        Section(
            report,
            _inline(pictures[report.figure.id]) if report.figure.id in pictures else None,
            report.figure.interactive(report) if report.figure.interactive is not None else None,
        )
        for report in reports
    ]
    verdicts = [finding.verdict for report in reports for _, finding in report.findings]
    return templates.get_template("page.html").render(
        sections=sections,
        claims=[(report, claim, finding) for report in reports for claim, finding in report.findings],
        counts={verdict: verdicts.count(verdict) for verdict in SYMBOLS},
        corrected=corrections(reports),
        excluded=excluded,
        format_p=format_p,
        symbols=SYMBOLS,
        level=LEVEL,
        tables=settings.tables(reports),
        made_with=made_with,
        seconds=_distinct_seconds(reports),
        alt_text=alt_text,
        runs=runs,
        presets=presets,
        duration=format_duration,
        scale=[color(i / 10) for i in range(11)],
    )


def origins(store: Store, reports: Sequence[FigureReport]) -> list[dict[str, Any]]:
    """Machines and versions that made the runs of ``reports``, and how many each made."""
    import polars as pl

    asked = {store.path(job).stem for report in reports for job in report.figure.jobs[report.scale]}
    columns = ["machine", "python", "jax", "package", "algorithm_version"]
    rows = store.load(columns=["key", "finished_at", *columns])
    if rows.is_empty():
        return []
    counted = rows.filter(pl.col("key").is_in(asked)).group_by(columns)
    times = pl.col("finished_at").dt.date()
    return counted.agg(pl.len().alias("runs"), first=times.min(), last=times.max()).sort(columns).to_dicts()


def _distinct_seconds(reports: Sequence[FigureReport]) -> float:
    """Run time in all; a run that serves two figures counts once."""
    kept = itertools.chain.from_iterable(report.results for report in reports)
    return sum(result.seconds for result in {id(result): result for result in kept}.values())


def _inline(path: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode("ascii")
