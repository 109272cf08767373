"""``langevin-dqn list``: what there is to choose from."""

import inspect
import json
from dataclasses import dataclass
from typing import Any


@dataclass
class Args:
    """List agents, presets, environments and the fields that --set takes."""

    json: bool = False
    """Print one JSON object instead of tables."""


def main(args: Args) -> int:
    from langevin_dqn.config import AgentConfig
    from langevin_dqn.environments.bsuite.sweeps import SWEEPS
    from langevin_dqn.environments.registry import FACTORIES
    from langevin_dqn.presets import AGENTS, PRESETS, preset

    agents = {agent: {variant: preset(agent, variant).to_dict() for variant in PRESETS} for agent in AGENTS}
    environments = {
        "names": list(FACTORIES),
        "bsuite": {
            name: {"settings": len(sweep.settings), "episodes": sweep.episodes, "tags": sweep.tags}
            for name, sweep in SWEEPS.items()
        },
    }
    defaults = AgentConfig().to_dict()
    if args.json:
        print(json.dumps({"agents": agents, "environments": environments, "fields": defaults}))
        return 0

    from rich.console import Console
    from rich.table import Table

    console = Console()
    for variant in PRESETS:
        table = Table("field", *AGENTS, title=f"Agents, {variant} preset")
        for name, default in defaults.items():
            cells = [_short(agents[agent][variant][name]) for agent in AGENTS]
            # What every agent leaves at its default is the same for both presets: shown once.
            if variant == PRESETS[0] or set(cells) != {_short(default)}:
                table.add_row(name, *cells)
        console.print(table)
    table = Table("name", "settings", "what it is", title="Environments")
    for name, factory in FACTORIES.items():
        settings = ", ".join(f"{k}={p.default}" for k, p in inspect.signature(factory).parameters.items())
        table.add_row(name, settings, (factory.__doc__ or "").split("\n")[0])
    table.add_row("gym:CartPole-v1", "", "any Gymnasium environment with a finite number of actions")
    table.add_row("dm:package.module:factory", "", "any dm_env environment with a finite number of actions")
    table.add_row("jax:package.module:factory", "", "a compiled environment of your own")
    console.print(table)
    total = sum(len(sweep.settings) for sweep in SWEEPS.values())
    table = Table("ids", "settings", "episodes", "tags", title=f"bsuite experiments, {total} ids")
    for name, sweep in SWEEPS.items():
        count = len(sweep.settings)
        table.add_row(f"{name}/0 … {count - 1}", str(count), f"{sweep.episodes:,}", ", ".join(sweep.tags))
    console.print(table)
    return 0


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
