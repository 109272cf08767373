"""``langevin-dqn status``: show progress, also from another terminal."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass
class Args:
    """Show which runs of the paper's figures a store has, and what a sweep into it is doing now."""

    store: str = "out/paper"
    """Folder of runs."""
    json: bool = False
    """Print one JSON object and nothing else."""


def main(args: Args) -> int:
    from langevin_dqn.errors import UserError

    folder = Path(args.store)
    if not folder.is_dir():
        raise UserError(f"there is no store at {folder}", "name the folder that --store named")
    from langevin_dqn.paper.figure import SCALES
    from langevin_dqn.paper.registry import figures
    from langevin_dqn.runs import progress_file
    from langevin_dqn.runs.store import Store

    names = Store(folder).names()
    counts = {
        figure.id: {scale: _count(figure.jobs[scale], names) for scale in SCALES}
        for figure in figures().values()
        if figure.jobs["paper"]
    }
    progress = progress_file.read(folder)
    if args.json:
        now = asdict(progress) | {"alive": progress.alive} if progress else None
        print(json.dumps({"runs": len(names), "figures": counts, "sweep": now}))
        return 0
    _print(folder, len(names), counts, progress)
    return 0


def _count(jobs, names: set[str]) -> list[int]:
    from langevin_dqn.runs.store import key_of

    keys = {key_of(job) for job in jobs}
    return [len(keys & names), len(keys)]


def _print(folder: Path, runs: int, counts: dict[str, dict[str, list[int]]], progress) -> None:
    from rich.console import Console
    from rich.table import Table

    from langevin_dqn.cli.sweep import headline
    from langevin_dqn.paper.figure import SCALES
    from langevin_dqn.report.durations import format_duration

    table = Table(title=f"{folder}: {runs} runs")
    table.add_column("figure")
    for scale in SCALES:
        table.add_column(scale, justify="right")
    for name, by_scale in counts.items():
        table.add_row(name, *(f"{done} of {total}" for done, total in by_scale.values()))
    console = Console(highlight=False)
    console.print(table)
    if progress is None:
        console.print("no sweep has run here")
    elif progress.alive:
        console.print(headline(progress))
        for run in progress.running:
            console.print(f"  {run.job}: {run.episodes:,} of {run.of or 0:,} episodes", soft_wrap=True)
    else:
        how = "ended" if progress.ended else "was cut off"
        console.print(
            f"the last sweep ({progress.what}) {how} after {format_duration(progress.seconds)}: "
            f"{progress.done} runs done"
        )
