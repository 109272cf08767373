"""The table of a comparison, printed at the end of the command."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table

from langevin_dqn.cli import terminal
from langevin_dqn.comparison.intervals import LEAST_SEEDS
from langevin_dqn.comparison.summary import ALL, SCORES
from langevin_dqn.plots.comparison import agent_text, env_texts

if TYPE_CHECKING:
    import polars as pl


def print_table(
    summary: "pl.DataFrame", runs: "pl.DataFrame", *, budget: str, reference: Mapping[str, tuple[float, float]]
) -> None:
    """A section per environment, one over all of them, and what the columns mean, to stdout."""
    console = terminal.console()
    with_learned = summary["learned"].count() > 0
    table = Table(title=budget, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("")
    columns = ("IQM", f"{summary['level'][0]:.0%} interval", *(["learned"] if with_learned else []), "seeds")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    names = env_texts([env for env in summary["env"].unique(maintain_order=True) if env != ALL])
    for (env,), own in summary.group_by("env", maintain_order=True):
        table.add_row(names.get(str(env), f"all {len(names)}, normalised"), style="bold")
        decimals = _decimals(own)
        for i, row in enumerate(own.iter_rows(named=True)):
            table.add_row(*_cells(row, decimals, with_learned), end_section=i == own.height - 1)
    console.print(table)
    for line in _notes(summary, runs, reference):
        console.print(line)


def _decimals(own: "pl.DataFrame") -> int:
    """Decimals that show three digits of the largest number."""
    numbers = own.select("iqm", "low", "high").to_numpy().astype(float)
    largest = float(np.nanmax(np.abs(numbers))) if np.isfinite(numbers).any() else 0.0
    return min(max(2 - math.floor(math.log10(largest)), 0), 6) if largest > 0 else 2


def _cells(row: Mapping[str, Any], decimals: int, with_learned: bool) -> list[str]:
    overall, of = row["env"] == ALL, row["seeds"] + row["without_score"]
    middle, low, high = ("–" if row[n] is None else f"{row[n]:,.{decimals}f}" for n in ("iqm", "low", "high"))
    ends = "–" if row["low"] is None else f"{low} to {high}"
    learned = "" if overall or row["learned"] is None else f"{row['learned']} of {of}"
    seeds = f"{row['seeds']} of {of}" if row["without_score"] else f"{row['seeds']}"
    return [f"  {agent_text(row['agent'])}", middle, ends, *([learned] if with_learned else []), seeds]


def _notes(summary: "pl.DataFrame", runs: "pl.DataFrame", reference: Mapping[str, tuple[float, float]]) -> list[str]:
    """What the columns mean, and what is to be known about single runs."""
    first = summary.row(0, named=True)
    notes = [
        f"IQM: interquartile mean over seeds of the score, the {SCORES[first['score']]}.",
        f"Interval: {first['level']:.0%}, percentile bootstrap over seeds"
        + (", stratified by environment" if ALL in summary["env"] else "")
        + f", {first['resamples']:,} resamples; no interval for fewer than {LEAST_SEEDS} seeds.",
    ]
    if ALL in summary["env"]:
        notes.append(_normalisation(set(runs["env"]), reference))
    if summary["learned"].count():
        notes.append("Learned: seeds whose regret fell below the environment's threshold.")
    for (env,), own in summary.group_by("env", maintain_order=True):
        if own["normalised"].count() == 0 and own["seeds"].sum() > 0:
            notes.append(f"{env} is left out of the normalised scores, because all its runs have the same score.")
    for row in runs.filter(runs["diverged"].is_not_null()).iter_rows(named=True):
        notes.append(f"{row['agent']} on {row['env']}, seed {row['seed']}, diverged: {row['diverged']}")
    silent = runs.filter((runs["episodes"] == 0) & runs["diverged"].is_null()).height
    if silent:
        notes.append(f"{silent} runs finished no episode and have no score; increase --steps or --episodes.")
    return notes


def _normalisation(envs: set[str], reference: Mapping[str, tuple[float, float]]) -> str:
    given = "; ".join(f"{low:g} and {high:g} in {env}" for env, (low, high) in reference.items())
    if envs <= reference.keys():
        return f"Normalised: 0 and 1 are {given}."
    rest = f"{given}; elsewhere " if given else ""
    return (
        f"Normalised: 0 and 1 are {rest}the lowest and the highest score of any run in this table, so they depend "
        "on what is compared."
    )
