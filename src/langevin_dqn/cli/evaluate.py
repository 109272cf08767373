"""``langevin-dqn evaluate``: greedy episodes of agents that ``run --save`` wrote."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from langevin_dqn.cli import terminal
from langevin_dqn.cli.terminal import print_json, say
from langevin_dqn.errors import MOST_SEED, UserError, option_in_range

#: Said of an agent whose values mean nothing.
DIVERGED = "its parameters are not finite, because its training diverged"


@dataclass
class Args:
    """Evaluate saved agents: run greedy episodes, without exploration or learning."""

    agents: tyro.conf.Positional[tuple[str, ...]]
    """Files written by run --save, or folders of them."""
    env: str | None = None
    """Environment id. Default: the one on which each agent was trained. An id that imports code (jax:, dm:, some gym:
    ids) is never taken from a file: pass it here."""
    agent: str | None = None
    """Id of a custom agent, python:package.module:factory."""
    network: str | None = None
    """Id of a custom network, python:package.module:factory."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Argument of the agent's factory, as field=value; the same as in training. May be repeated."""
    episodes: int = 20
    """Episodes per agent."""
    seed: int = 0
    """Random seed."""
    json: bool = False
    """Print one JSON object per agent to stdout and nothing else."""


def main(args: Args) -> int:
    option_in_range("--episodes", args.episodes)
    option_in_range("--seed", args.seed, least=0, most=MOST_SEED)
    files = files_of(args.agents)
    from langevin_dqn import machine

    machine.prepare()
    rows = []
    for file in files:
        rows.append(_evaluated(file, args))
        if rows[-1]["diverged"]:
            say(f"{file}: {DIVERGED}; it was not evaluated")
        if args.json:
            print_json(rows[-1])
    evaluated = [row for row in rows if not row["diverged"]]
    if evaluated and not args.json:
        _tables(evaluated)
    return 0 if len(evaluated) == len(rows) else 1


def files_of(names: tuple[str, ...]) -> list[Path]:
    """Each file, and each folder's files in the order of their seeds."""
    if not names:
        raise UserError("no agent to evaluate", "pass files or folders written by run --save")
    files: list[Path] = []
    for path in map(Path, names):
        found = sorted(path.glob("*.npz"), key=lambda p: (len(p.stem), p.stem)) if path.is_dir() else [path]
        for linked in (file for file in found if file != path and file.is_symlink()):
            raise UserError(f"{linked} is a symbolic link", "remove it, or pass the file that it leads to")
        if not found:
            raise UserError(f"{path} has no .npz files", "pass a folder written by run --save")
        files += found
    return files


def _evaluated(file: Path, args: Args) -> dict[str, Any]:
    import numpy as np

    from langevin_dqn import ids
    from langevin_dqn.config import split_assignment
    from langevin_dqn.environments import HostEnvironment, make_env
    from langevin_dqn.loops.evaluation import evaluate
    from langevin_dqn.saved_agent import load_agent

    changes = {name: ids.literal(value) for name, value in map(split_assignment, args.set)}
    saved = load_agent(file, args.env, agent=args.agent, network=args.network, **changes)
    if args.env is None:
        ids.refuse_import(saved.env, str(file), f"if you trust it, pass it explicitly: --env {saved.env}")
    if not saved.has_checksum:
        say(f"{file} has no checksum: it was saved by version 0.1")
    if args.env not in (None, saved.env):
        say(f"{file} was trained on {saved.env}, and is evaluated on {args.env}")
    environment = make_env(args.env or saved.env)
    try:
        saved.check_fits(environment, args.env or saved.env)
        diverged = not saved.trained.is_finite
        returns = np.zeros(0)
        if not diverged:
            returns = evaluate(saved.trained, environment, args.episodes, args.seed).astype(float)
    finally:
        if isinstance(environment, HostEnvironment):
            environment.close()
    return {
        "file": str(file),
        "agent": saved.agent,
        "preset": saved.preset,
        "trained_on": saved.env,
        "trained_episodes": saved.episodes,
        "seed": saved.seed,
        "env": args.env or saved.env,
        "episodes": len(returns),
        "diverged": DIVERGED if diverged else None,
        "mean_return": float(returns.mean()) if len(returns) else None,
        "standard_error": float(returns.std(ddof=1) / len(returns) ** 0.5) if len(returns) > 1 else None,
        "max_return": environment.max_return,
        "returns": returns.tolist(),
    }


def _tables(all_rows: list[dict[str, Any]]) -> None:
    """A table for each agent and environment, a row for each file."""
    from rich.table import Table

    from langevin_dqn.plots.style import label

    console = terminal.console()
    for agent, env in dict.fromkeys((row["agent"], row["env"]) for row in all_rows):
        rows = [row for row in all_rows if (row["agent"], row["env"]) == (agent, env)]
        table = Table(title=f"{label(agent)} on {env}, {rows[0]['episodes']} greedy episodes each")
        table.add_column("file", overflow="fold")
        for column in ("trained for", "mean return", "std. error", "least", "most"):
            table.add_column(column, justify="right")
        for row in rows:
            error = "" if row["standard_error"] is None else f"{row['standard_error']:.2g}"
            ends = (f"{end(row['returns']):.4g}" for end in (min, max))
            trained = f"{row['trained_episodes']:,} episodes"
            table.add_row(row["file"], trained, f"{row['mean_return']:.4g}", error, *ends)
        console.print(table)
        if rows[0]["max_return"] is not None:
            console.print(f"best possible return {rows[0]['max_return']:.4g}", highlight=False)
