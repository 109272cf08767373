"""Closing tables for people."""

from collections.abc import Mapping, Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from langevin_dqn.report.figures import label
from langevin_dqn.training import Result


def median_learning_time(results: Sequence[Result]) -> str:
    """Median over seeds, those that never learned counting as the longest; a bound if it is among them."""
    times = [r.learning_time or np.inf for r in results]
    middle = float(np.median(times)) if times else np.inf
    return f"{middle:g}" if np.isfinite(middle) else f"> {max((r.episodes for r in results), default=0)}"


def seeds_table(results: Sequence[Result]) -> None:
    """One row per seed and a summary, to stdout."""
    console = Console()
    first = results[0]
    table = Table(title=f"{label(first.agent)} on {first.env} ({first.preset})")
    if first.max_return is None:
        return _returns_table(results, table)
    for column in ("seed", "learned at", "first success", "success, last 100", "regret", "updates", "seconds"):
        table.add_column(column, justify="right")
    for r in results:
        learned = "diverged" if r.diverged else str(r.learning_time or "never")
        share = "" if r.success_share is None else f"{r.success_share:.0%}"
        regret = "" if r.regret is None else f"{r.regret:.1f}"
        table.add_row(
            str(r.seed), learned, str(r.first_success or "never"), share, regret, f"{r.updates:,}", f"{r.seconds:.1f}"
        )
    console.print(table)
    solved = sum(r.solved for r in results)
    diverged = sum(bool(r.diverged) for r in results)
    failures = f" ({diverged} diverged)" if diverged else ""
    median = f"median learning time {median_learning_time(results)} episodes"
    console.print(f"{solved} of {len(results)} seeds learned{failures}; {median}", highlight=False)
    for r in results:
        if r.diverged:
            console.print(f"seed {r.seed} diverged: {r.diverged}", highlight=False, soft_wrap=True)


def _returns_table(results: Sequence[Result], table: Table) -> None:
    """Where no best return is known, nobody can say who has learned: the returns speak."""
    for column in ("seed", "episodes", "steps", "return, last 100", "best return", "updates", "seconds"):
        table.add_column(column, justify="right")
    for r in results:
        recent = "diverged" if r.diverged else "" if r.recent_return is None else f"{r.recent_return:.4g}"
        best = f"{r.returns.max():.4g}" if r.episodes else ""
        table.add_row(
            str(r.seed), f"{r.episodes:,}", f"{r.steps:,}", recent, best, f"{r.updates:,}", f"{r.seconds:.1f}"
        )
    Console().print(table)


def agents_table(groups: Mapping[str, Sequence[Result]], title: str) -> None:
    """One row per agent, to stdout."""
    table = Table(title=title)
    for column, justify in (("agent", "left"), ("solved", "right"), ("median learning time", "right"),
                            ("updates per step", "right"), ("seconds per seed", "right")):  # fmt: skip
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    for name, results in groups.items():
        table.add_row(
            label(name),
            f"{sum(r.solved for r in results)} of {len(results)}",
            median_learning_time(results),
            str(results[0].config.updates_per_step),
            f"{np.mean([r.seconds for r in results]):.1f}",
        )
    Console().print(table)
