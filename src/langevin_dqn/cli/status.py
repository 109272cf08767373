"""``langevin-dqn status``: show progress, also from another terminal."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from langevin_dqn.cli import terminal
from langevin_dqn.cli.terminal import print_json

if TYPE_CHECKING:
    from langevin_dqn.runs.progress_file import Progress
    from langevin_dqn.runs.store import Store


@dataclass
class Args:
    """Show the runs in a store, by figure and by agent, and the progress of a sweep."""

    store: str = "out/paper"
    """Folder of stored runs."""
    json: bool = False
    """Print one JSON object and nothing else."""


def main(args: Args) -> int:
    from langevin_dqn.errors import UserError

    folder = Path(args.store)
    if not folder.is_dir():
        raise UserError(f"there is no store at {folder}", "pass the folder that was given to --store")
    from langevin_dqn.paper.figure import SCALES
    from langevin_dqn.paper.registry import figures
    from langevin_dqn.runs import progress_file
    from langevin_dqn.runs.store import Store

    store = Store(folder)
    names = store.names()
    counts = {
        figure.id: {scale: _count(figure.jobs[scale], names) for scale in SCALES}
        for figure in figures().values()
        if figure.jobs["paper"]
    }
    progress = progress_file.read(folder)
    if args.json:
        now = asdict(progress) | {"alive": progress.alive} if progress else None
        print_json({"runs": len(names), "figures": counts, "sweep": now})
        return 0
    begun = _begun(counts, progress)
    _print(folder, len(names), begun, progress)
    if progress is None or (names and not begun):
        _print_contents(store)
    return 0


def _begun(counts: dict[str, dict[str, list[int]]], progress: "Progress | None") -> dict[str, dict[str, list[int]]]:
    """The figures that have runs, and those that the last sweep makes."""
    named = set(progress.what.split()) if progress else set()
    return {
        name: by_scale
        for name, by_scale in counts.items()
        if named & {name, "all"} or any(done for done, _ in by_scale.values())
    }


def _count(jobs, names: set[str]) -> list[int]:
    from langevin_dqn.runs.store import key_of

    keys = {key_of(job) for job in jobs}
    return [len(keys & names), len(keys)]


def _print(folder: Path, runs: int, begun: dict[str, dict[str, list[int]]], progress: "Progress | None") -> None:
    from rich.table import Table

    from langevin_dqn.cli.sweep import headline
    from langevin_dqn.errors import counted
    from langevin_dqn.paper.figure import SCALES
    from langevin_dqn.report.durations import format_duration

    console = terminal.console()
    table = Table(title=f"{folder}: {counted(runs, 'run')}")
    table.add_column("figure", no_wrap=True)
    for scale in SCALES:
        table.add_column(scale, justify="right")
    for name, by_scale in begun.items():
        table.add_row(name, *(f"{done} of {total}" for done, total in by_scale.values()))
    if begun:
        console.print(table)
    else:
        console.print(f"{folder}: {counted(runs, 'run')}, none of the paper's figures", soft_wrap=True)
    if progress is None:
        console.print("no sweep is running; the store has these runs:" if runs else "no sweep is running")
    elif progress.alive:
        console.print(headline(progress))
        for run in progress.running:
            of = f" of {run.of:,}" if run.of else ""
            console.print(f"  {run.job}: {run.episodes:,}{of} episodes", soft_wrap=True)
    else:
        is_complete = progress.ended and progress.done + progress.failed == progress.total
        failed = f", {progress.failed} failed" if progress.failed else ""
        console.print(
            f"the last sweep, {progress.what}, {'ended' if is_complete else 'was interrupted'} after "
            f"{format_duration(progress.seconds)}: {progress.done} of {progress.total} runs done{failed}",
            soft_wrap=True,
        )
        if not is_complete:
            console.print("hint: repeat the command of the sweep to continue")


#: Rows of the table of contents.
_ROWS = 20


def _print_contents(store: "Store") -> None:
    """The runs of a store by agent and environment."""
    import polars as pl
    from rich.table import Table

    from langevin_dqn.report.durations import format_duration

    console = terminal.console()
    rows = store.load(columns=["agent", "preset", "env", "seed", "seconds"])
    for path in store.damaged:
        console.print(f"unreadable file, not used: {path}", soft_wrap=True)
    if rows.is_empty():
        return console.print("hint: langevin-dqn reproduce, compare and bsuite store their runs")
    groups = rows.group_by("agent", "preset", "env", maintain_order=True).agg("seed", pl.col("seconds").sum())
    table = Table()
    for name in ("agent", "preset", "environment"):
        table.add_column(name, overflow="fold")
    for name in ("runs", "seeds", "run time"):
        table.add_column(name, justify="right")
    for agent, preset, env, seeds, seconds in groups.head(_ROWS).iter_rows():
        table.add_row(agent, preset, env, str(len(seeds)), span(seeds), format_duration(seconds))
    console.print(table)
    if groups.height > _ROWS:
        rest = groups.height - _ROWS
        console.print(f"and {rest} more rows; langevin_dqn.load_results({str(store.folder)!r}) has all of them")


def span(seeds: Iterable[int]) -> str:
    """Seeds in short: ``0-4``, or ``0, 2, 7-9``; many pieces are counted only."""
    pieces: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if pieces and seed == pieces[-1][1] + 1:
            pieces[-1][1] = seed
        else:
            pieces.append([seed, seed])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in pieces]
    return ", ".join(words) if len(words) <= 3 else f"{sum(b - a + 1 for a, b in pieces)} seeds"
