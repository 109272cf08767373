"""The report as one HTML file: no network, pictures inside, readable on a phone and on paper."""

import base64
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from langevin_dqn.experiments.claims import LEVEL
from langevin_dqn.report import durations, settings
from langevin_dqn.report.maps import Maps, color
from langevin_dqn.report.markdown import runs
from langevin_dqn.report.paper_figures import alt, presets
from langevin_dqn.report.summary import FigureReport
from langevin_dqn.report.verdicts import SYMBOLS
from langevin_dqn.runs.store import Store


class Section(NamedTuple):
    """A figure on the page."""

    id: str
    title: str
    report: FigureReport | None
    picture: str | None
    maps: Maps | None


def render(
    reports: Sequence[FigureReport],
    pictures: Mapping[str, Path],
    *,
    made_with: Sequence[Mapping[str, Any]] = (),
    maps: Mapping[str, Maps] | None = None,
) -> str:
    """The page.

    Args:
        reports: what the runs say, figure by figure.
        pictures: by figure, a PNG file.
        made_with: machines and versions, as :func:`origins` finds them.
        maps: by figure, maps for a slider to move through.
    """
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("langevin_dqn.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    by_id = {report.figure.id: report for report in reports}
    sections = [
        Section(
            name,
            by_id[name].figure.title if name in by_id else (maps or {})[name].title,
            by_id.get(name),
            _inline(pictures[name]) if name in pictures else None,
            (maps or {}).get(name),
        )
        for name in sorted({*by_id, *(maps or {})}, key=lambda name: int(name.removeprefix("fig")))
    ]
    verdicts = [finding.verdict for report in reports for _, finding in report.findings]
    return templates.get_template("page.html").render(
        sections=sections,
        claims=[(report, claim, finding) for report in reports for claim, finding in report.findings],
        counts={verdict: verdicts.count(verdict) for verdict in SYMBOLS},
        symbols=SYMBOLS,
        level=LEVEL,
        tables=settings.tables(reports),
        made_with=made_with,
        seconds=_distinct_seconds(reports),
        alt=alt,
        runs=runs,
        presets=presets,
        duration=durations.told,
        scale=[color(i / 10) for i in range(11)],
    )


def origins(store: Store, reports: Sequence[FigureReport]) -> list[dict[str, Any]]:
    """Machines and versions that made the runs of ``reports``, and how many each made."""
    import polars as pl

    rows = store.load()
    if rows.is_empty():
        return []
    asked = {store.path(job).stem for report in reports for job in report.figure.jobs[report.scale]}
    columns = ("machine", "python", "jax", "package", "algorithm_version")
    counted = rows.filter(pl.col("key").is_in(asked)).group_by(columns)
    times = pl.col("finished_at").dt.date()
    return counted.agg(pl.len().alias("runs"), first=times.min(), last=times.max()).sort(columns).to_dicts()


def _distinct_seconds(reports: Sequence[FigureReport]) -> float:
    """Run time in all; a run that serves two figures counts once."""
    kept = itertools.chain.from_iterable(report.results for report in reports)
    return sum(result.seconds for result in {id(result): result for result in kept}.values())


def _inline(path: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode("ascii")
