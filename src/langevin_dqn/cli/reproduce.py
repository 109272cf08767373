"""``langevin-dqn reproduce``: run what figures need, draw them and check their claims."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import tyro

from langevin_dqn.cli import terminal
from langevin_dqn.cli.terminal import say

if TYPE_CHECKING:
    from langevin_dqn.paper.figure import Figure
    from langevin_dqn.paper.plan import Plan
    from langevin_dqn.runs.store import Store


@dataclass
class Args:
    """Run the experiments of the paper's figures, and test the claims about them.

    Finished runs are stored; repeat the command to continue an interrupted one.
    """

    figures: tyro.conf.Positional[tuple[str, ...]]
    """Figures: fig2, fig7, ..., or all; deeper for those about the recommended presets; or a custom one,
    python:package.module:figure."""
    scale: str = "quick"
    """Size of the experiments: quick (about half an hour for all figures on two cores), standard (about ten hours) or
    paper (the full protocol)."""
    store: str = "out/paper"
    """Folder of stored runs; the figures and the report are written there too."""
    workers: int | None = None
    """Number of runs in parallel. Default: the number of cores."""
    runner: str = "threads"
    """Where to run: threads, or processes (a crash of one does not stop the others)."""
    ray: str | None = None
    """Run on a Ray cluster: local (start one), auto (the one on this machine) or host:port."""
    plan: bool = False
    """Show what would be run, and stop."""


def main(args: Args) -> int:
    from langevin_dqn import machine
    from langevin_dqn.errors import UserError

    if not args.figures:
        raise UserError("no figure to reproduce", "for example, fig2 fig7, or all")
    machine.prepare()
    from langevin_dqn.cli.sweep import run_missing, runner_of
    from langevin_dqn.paper.jobs import check_scale
    from langevin_dqn.paper.plan import figures_plan
    from langevin_dqn.paper.registry import choose
    from langevin_dqn.runs.runners.job import available_cores
    from langevin_dqn.runs.store import Store

    figures, scale = choose(args.figures), check_scale(args.scale)
    run = runner_of(args.runner, args.ray, args.workers)
    store = Store(args.store)
    if not args.plan:
        store.prepare()
    plan = figures_plan(figures, scale, store)
    for path in store.damaged:
        say(f"unreadable file, not used: {path}")
    workers = args.workers or available_cores()
    _show_plan(figures, scale, store, plan, workers)
    if args.plan:
        return 0
    failures = []
    if plan.missing:
        what = f"{' '.join(args.figures)} ({scale})"
        failures = run_missing(what, store, plan.missing, plan.seconds, run, ray=args.ray is not None)
    for failure in failures:
        say(f"failed: {failure}")
    _report(figures, scale, store)
    return 1 if failures else 0


def _show_plan(figures: "list[Figure]", scale: str, store: "Store", plan: "Plan", workers: int) -> None:
    """A line per figure: its runs, and those to do, each counted for the first figure that needs it."""
    from rich.table import Table

    from langevin_dqn.report.durations import format_duration
    from langevin_dqn.runs.store import key_of

    table = Table(title=f"Plan, scale {scale}")
    for name, side in (
        ("figure", "left"),
        ("shows", "left"),
        ("runs", "right"),
        ("to do", "right"),
        ("at most", "right"),
    ):
        table.add_column(name, justify=side, no_wrap=name == "figure")  # type: ignore[arg-type]
    counted: set[str] = set()
    listed = 0
    for figure in figures:
        keys = {key_of(job) for job in figure.jobs[scale]}
        new = keys & plan.seconds.keys() - counted
        counted |= new
        listed += len(keys)
        table.add_row(
            figure.id,
            figure.title,
            str(len(keys)),
            str(len(new)),
            format_duration(sum(plan.seconds[k] for k in new) / workers),
        )
    console = terminal.console(stderr=True)
    console.print(table)
    if listed > len(plan.jobs):
        console.print(
            f"Figures share runs: {listed} in the table are {len(plan.jobs)} distinct ones. A run that several figures "
            'need is made once, and is counted under "to do" for the first of them.',
            highlight=False,
        )
    total = sum(plan.seconds.values()) / workers
    done = len(plan.jobs) - len(plan.missing)
    console.print(
        f"{len(plan.jobs)} distinct runs, {done} of them in {store.folder}; at most {format_duration(total)} "
        f"with {workers} at a time, less where runs learn early",
        highlight=False,
        soft_wrap=True,
    )


def _report(figures: "list[Figure]", scale: str, store: "Store") -> None:
    """Pictures, page and verdicts of what was asked for."""
    from langevin_dqn.cli import report
    from langevin_dqn.report.summary import summarise

    reports = summarise(store, figures, scale)
    report.write(store, reports, out=store.folder / "report.html", figures=store.folder / "figures")
    report.table(reports)
