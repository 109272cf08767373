"""``langevin-dqn report``: verdicts and pictures from a store of runs, as a page, a text or JSON."""

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from langevin_dqn import files
from langevin_dqn.cli import terminal
from langevin_dqn.cli.terminal import say
from langevin_dqn.errors import UserError
from langevin_dqn.runs.folders import check_file, check_writable, file_error

if TYPE_CHECKING:
    from langevin_dqn.paper.figure import FigureReport
    from langevin_dqn.runs.store import Store


@dataclass
class Args:
    """Test the claims about figures with the runs in a store, and draw the figures.

    By default, the report is written to report.html in the store.
    """

    store: str
    """Folder of stored runs."""
    figure: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Figure to report: fig2, fig7, ..., all, or a custom one, python:package.module:figure. May be repeated. Default:
    every figure of the paper."""
    scale: str | None = None
    """Size of the experiments: quick, standard or paper. Default: for each figure, the largest of which half of the
    runs are stored."""
    out: str | None = None
    """Write the report to this .html file."""
    markdown: str | None = None
    """Write the claims as a Markdown table to this .md file, followed by the pictures of --figures."""
    figures: str | None = None
    """Write the figures to this folder, as PNG and PDF."""
    json: bool = False
    """Print one JSON object per claim to stdout and nothing else."""


def main(args: Args) -> int:
    if args.scale is not None:
        from langevin_dqn.paper.jobs import check_scale

        check_scale(args.scale)
    for path, suffix in ((args.out, ".html"), (args.markdown, ".md")):
        if path is not None and Path(path).suffix != suffix:
            raise UserError(f"{path} does not end in {suffix}", f"use a file name that ends in {suffix}")
        if path is not None:
            check_file(Path(path))
    if args.figures is not None:
        check_writable(Path(args.figures))
    if not Path(args.store).exists():
        raise UserError(f"there is no store at {args.store}", "pass the folder that was given to --store")
    from langevin_dqn import machine

    machine.prepare()
    from langevin_dqn.paper.registry import choose
    from langevin_dqn.report import verdicts
    from langevin_dqn.report.summary import summarise
    from langevin_dqn.runs.store import Store

    chosen = choose(args.figure or ("all",))
    store = Store(args.store)
    reports = summarise(store, chosen, args.scale)
    for damaged in store.damaged:
        say(f"unreadable file, not used: {damaged}")
    if not any(report.results for report in reports) and any(report.planned for report in reports):
        which = " or ".join(args.figure) or "any figure"
        scale = f" at scale {args.scale}" if args.scale else ""
        raise UserError(f"{args.store} has no runs of {which}{scale}", "make some with langevin-dqn reproduce")
    if args.json:
        sys.stdout.write(verdicts.as_json_lines(reports))
    if not (args.out or args.markdown or args.figures or args.json):
        args.out = str(Path(args.store) / "report.html")
    write(store, reports, out=args.out, markdown=args.markdown, figures=args.figures)
    if not args.json:
        table(reports)
    return 0


def write(
    store: "Store",
    reports: Sequence["FigureReport"],
    *,
    out: str | Path | None = None,
    markdown: str | Path | None = None,
    figures: str | Path | None = None,
) -> None:
    """The files that were asked for: page, text, and a folder of pictures."""
    if not (out or markdown or figures):
        return
    from langevin_dqn.report import markdown as text
    from langevin_dqn.report import page

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(figures or scratch)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            drawn = _draw(reports, folder, ("png", "pdf") if figures else ("png",))
            if out:
                _write_text(Path(out), page.render(reports, drawn, made_with=page.origins(store, reports)))
            if markdown:
                home = Path(markdown).absolute().parent
                links = {name: Path(os.path.relpath(path.absolute(), home)).as_posix() for name, path in drawn.items()}
                _write_text(Path(markdown), text.document(reports, links if figures else None))
        except OSError as error:
            raise file_error(error) from None
    for path in filter(None, (figures, markdown, out)):
        say(f"wrote {path}")


def _draw(reports: Sequence["FigureReport"], folder: Path, suffixes: Sequence[str]) -> dict[str, Path]:
    """By figure, its PNG file."""
    from langevin_dqn.report import pictures

    drawn = {}
    for report in reports:
        for suffix in suffixes:
            path = pictures.draw(report, folder / f"{report.figure.id}.{suffix}")
            if path is not None and suffix == "png":
                drawn[report.figure.id] = path
    return drawn


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(path, text)


def table(reports: Sequence["FigureReport"]) -> None:
    """The verdicts, to stdout."""
    from rich.table import Table

    from langevin_dqn.report.correction import corrections
    from langevin_dqn.report.markdown import format_p, runs
    from langevin_dqn.report.verdicts import format_verdict

    corrected = corrections(reports)
    grid = Table(title="Replication results", show_lines=True)
    for name, whole in (("figure", True), ("verdict", True), ("claim, and what was found", False), ("runs", False)):
        grid.add_column(name, no_wrap=whole)
    for report in reports:
        for claim, finding in report.findings:
            verdict = format_verdict(finding.verdict)
            after = corrected.get((report.figure.id, claim.id))
            if after is not None and after.adjusted is not None:
                verdict += f"\nHolm's p: {format_p(after.adjusted)}"
            grid.add_row(report.figure.id, verdict, f"{claim.words}\n{finding.words}", runs(report))
    terminal.console().print(grid)
