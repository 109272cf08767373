"""``langevin-dqn list``: what there is to choose from."""

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langevin_dqn.cli import terminal
from langevin_dqn.cli.terminal import print_json

if TYPE_CHECKING:
    from rich.table import Table

#: Ids of environments that other packages and the user have.
_ELSEWHERE = {
    "gym:CartPole-v1": "any Gymnasium environment with a finite number of actions",
    "gymnax:Breakout-MinAtar": "any gymnax environment with a finite number of actions; compiled",
    "xminigrid:MiniGrid-Empty-5x5": "any XLand-MiniGrid environment without rulesets; compiled",
    "dm:package.module:factory": "any dm_env environment with a finite number of actions",
    "jax:package.module:factory": "a custom compiled environment",
}


@dataclass
class Args:
    """List agents, presets, environments and configuration fields."""

    fields: bool = False
    """Show every field of an agent's configuration, with its default and description."""
    json: bool = False
    """Print one JSON object instead of tables."""


def main(args: Args) -> int:
    if args.fields:
        return _fields(args.json)
    from langevin_dqn.config import AgentConfig
    from langevin_dqn.environments.bsuite.sweeps import SWEEPS
    from langevin_dqn.environments.registry import FACTORIES
    from langevin_dqn.presets import AGENTS, PRESETS, preset

    agents = {agent: {variant: preset(agent, variant).to_dict() for variant in PRESETS} for agent in AGENTS}
    defaults = AgentConfig().to_dict()
    if args.json:
        environments = {
            "names": list(FACTORIES),
            "bsuite": {
                name: {"settings": len(sweep.settings), "episodes": sweep.episodes, "tags": sweep.tags}
                for name, sweep in SWEEPS.items()
            },
        }
        print_json({"agents": agents, "environments": environments, "fields": defaults})
        return 0

    console = terminal.console()
    for variant in PRESETS:
        table = _table("field", *AGENTS, title=f"Agents, {variant} preset", whole=True)
        for name, default in defaults.items():
            cells = [_short(agents[agent][variant][name]) for agent in AGENTS]
            if set(cells) != {_short(default)}:
                table.add_row(name, *cells)
        console.print(table, "")
    console.print("Only fields that differ between agents are shown; langevin-dqn list --fields shows all.\n")
    _print_environments(console, FACTORIES)
    total = sum(len(sweep.settings) for sweep in SWEEPS.values())
    table = _table("ids", "settings", "episodes", "tags", title=f"bsuite experiments, {total} ids")
    for name, sweep in SWEEPS.items():
        count = len(sweep.settings)
        table.add_row(f"{name}/0 … {count - 1}", str(count), f"{sweep.episodes:,}", ", ".join(sweep.tags))
    console.print(table)
    return 0


def _print_environments(console: Any, factories: Any) -> None:
    from langevin_dqn.field_docs import without_marks

    table = _table("name", "description and settings", title="Environments")
    for name, factory in factories.items():
        settings = ", ".join(f"{k}={p.default}" for k, p in inspect.signature(factory).parameters.items())
        about = without_marks((factory.__doc__ or "").split("\n")[0])
        table.add_row(name, f"{about}\n{settings}" if settings else about)
    for name, about in _ELSEWHERE.items():
        table.add_row(name, about)
    console.print(table, "")


def _fields(as_json: bool) -> int:
    """Every field: its default, and what it is for."""
    from langevin_dqn.config import FIELD_TYPES, SETTINGS, AgentConfig
    from langevin_dqn.field_docs import descriptions

    about, defaults = descriptions(AgentConfig), AgentConfig().to_dict()
    if as_json:
        found = {
            name: {
                "default": default,
                "type": getattr(FIELD_TYPES[name], "__name__", str(FIELD_TYPES[name])),
                "choices": list(SETTINGS[name].choices) if name in SETTINGS else [],
                "about": about.get(name, ""),
            }
            for name, default in defaults.items()
        }
        print_json(found)
        return 0

    table = _table("field", "default", "what it is", title="Fields of an agent's configuration")
    for name, default in defaults.items():
        table.add_row(name, _short(default), about.get(name, ""))
    console = terminal.console()
    console.print(table)
    console.print("Set one with --set field=value, or as an argument of langevin_dqn.train.")
    return 0


def _table(*columns: str, title: str, whole: bool = False) -> "Table":
    """A table whose first column is never cut; with ``whole``, no column is."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=whole or number == 0, overflow="fold")
    return table


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
