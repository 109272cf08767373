"""Table 1 and Table 2 as they were run, from the runs' own configurations."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from langevin_dqn.config import FIELD_TYPES
from langevin_dqn.paper.figure import FigureReport
from langevin_dqn.plots.style import label
from langevin_dqn.presets import preset

TABLES = {"Table 1": ("dqn", "langevin_dqn"), "Table 2": ("boot_dqn", "ensemble_langevin_dqn")}

#: What figures vary.
_VARIED = ("members", "updates_per_step")


class Cell(NamedTuple):
    """A value, and whether the paper's table has another."""

    text: str
    differs: bool


class SettingsTable(NamedTuple):
    """Settings side by side: for each column an agent, its preset and the figures that use it; for each row a field."""

    name: str
    columns: list[tuple[str, str, str]]
    rows: list[tuple[str, list[Cell]]]


def tables(reports: Sequence[FigureReport]) -> list[SettingsTable]:
    """For each table of the paper the fields in which its agents differ, and what figures vary."""
    return [table for name, agents in TABLES.items() if (table := _table(name, agents, reports)).columns]


def _table(name: str, agents: Sequence[str], reports: Sequence[FigureReport]) -> SettingsTable:
    figures: dict[tuple, dict[str, None]] = {}
    varied: dict[tuple, dict[str, set[int]]] = {}
    for report in reports:
        for result in report.results:
            if result.agent in agents:
                fixed = tuple(result.setting(field) for field in _FIXED)
                key = (agents.index(result.agent), result.preset, fixed)
                figures.setdefault(key, {})[report.figure.label] = None
                seen = varied.setdefault(key, {field: set() for field in _VARIED})
                for field in _VARIED:
                    seen[field].add(result.setting(field, 1))
    keys = sorted(figures, key=lambda key: key[0])  # figures in their order, as they came
    columns = [(label(agents[key[0]]), key[1], ", ".join(figures[key])) for key in keys]
    rows = [(field, [Cell(_text(sorted(varied[key][field])), False) for key in keys]) for field in _VARIED]
    for place, field in enumerate(_FIXED):
        used = [key[2][place] for key in keys]
        if len(set(used)) > 1:
            paper = [getattr(preset(agents[key[0]], "paper"), field) for key in keys]
            rows.append((field, [Cell(_text(v), v != p) for v, p in zip(used, paper, strict=True)]))
    return SettingsTable(name, columns, rows)


_FIXED = tuple(field for field in FIELD_TYPES if field not in _VARIED)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
