"""``langevin-dqn bench``: what an update costs, here and elsewhere, in one run."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langevin_dqn import files
from langevin_dqn.cli import terminal
from langevin_dqn.cli.terminal import say
from langevin_dqn.errors import UserError, option_in_range
from langevin_dqn.runs.folders import check_writable


@dataclass
class Args:
    """Measure the speed of updates on one core, next to other implementations.

    pip install 'langevin-dqn[bench]' torch==2.13.0 installs the others.
    """

    environments: bool = False
    """Measure environment steps instead, and compare with bsuite, for every experiment."""
    quick: bool = False
    """Measure depths 10 and 50 only, without learning times; takes about two minutes."""
    out: str = "out/bench"
    """Folder for bench.json, bench.md and bench.png, or environments.json and environments.md."""
    repeats: int | None = None
    """Number of rounds. Default: 9, or 3 with --quick."""
    solve_limit: float = 120.0
    """Time limit in seconds for learning each of Deep Sea's depths 10, 20 and 30; 0 skips this part."""


def main(args: Args) -> int:
    out = Path(args.out)
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file", "pass a folder with --out")
    option_in_range("--repeats", args.repeats)
    if not args.solve_limit >= 0:
        raise UserError(f"--solve-limit {args.solve_limit:g} is out of range", "--solve-limit must be at least 0")
    check_writable(out)
    from langevin_dqn import machine
    from langevin_dqn.bench.timing import pin_to_one_core

    machine.prepare()
    core = pin_to_one_core()
    if args.environments:
        return _environments(args, out, core)
    contestants = _race(args)

    from langevin_dqn.bench import resources, solving, summary

    say("measuring memory and start-up")
    report: dict[str, Any] = {
        "core": core,
        "updates": [c.to_dict() for c in contestants],
        "ratios": summary.ratios(contestants),
        "peak_memory_mb": resources.peak_memory_mb(),
        "startup_seconds": resources.startup_seconds(),
        "solving": [],
    }
    if not args.quick and args.solve_limit > 0:
        report["solving"] = _solve(solving, args.solve_limit)
    out.mkdir(parents=True, exist_ok=True)
    files.write_text(out / "bench.json", json.dumps(report, indent=1) + "\n")
    summary.cost_against_depth(contestants, out / "bench.png")
    _print(report)
    files.write_text(out / "bench.md", summary.markdown(report) + "\n")
    print(f"wrote bench.json, bench.md and bench.png to {out}")
    return 0


def _environments(args: Args, out: Path, core: int | None) -> int:
    from importlib.util import find_spec

    if find_spec("bsuite") is None:
        raise UserError("bsuite is not installed", "pip install 'langevin-dqn[bench]'")
    from rich import box
    from rich.table import Table

    from langevin_dqn.bench import environments

    repeats = args.repeats or (3 if args.quick else 9)
    rows = environments.measure(repeats=repeats, seconds=0.05 if args.quick else 0.15, say=say)
    out.mkdir(parents=True, exist_ok=True)
    files.write_text(out / "environments.json", json.dumps({"core": core, "steps": rows}, indent=1) + "\n")
    files.write_text(out / "environments.md", environments.markdown(rows) + "\n")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), title="Environment steps per second")
    for number, column in enumerate(environments.HEADER):
        table.add_column(column, no_wrap=number == 0)
    for row in rows:
        table.add_row(*environments.cells(row))
    terminal.console().print(table)
    print(f"wrote environments.json and environments.md to {out}")
    return 0


def _race(args: Args) -> list:
    from functools import partial

    from langevin_dqn.bench import ours, peers, summary
    from langevin_dqn.bench.timing import Contestant, race
    from langevin_dqn.presets import AGENTS

    depths = (10, 50) if args.quick else (10, 20, 50, 100, 200)
    repeats = args.repeats or (3 if args.quick else 9)
    everything: list[Contestant] = []
    floors = [Contestant(summary.FLOOR, 0, m, partial(ours.build_floor, m)) for m in (1, 5, 20)]
    for depth in depths:
        mine = [
            Contestant(agent, depth, members, partial(ours.build, agent, depth, members))
            for agent in ((summary.ENSEMBLE,) if args.quick else AGENTS)
            for members in ((5,) if args.quick else (1, 5))
        ]
        variants: dict[str, dict[str, Any]] = {summary.SHARED: {}}
        if depth == 20:
            variants[summary.LAZY] = {"row_updates": "lazy"}
        mine += [
            Contestant(
                name,
                depth,
                members,
                partial(ours.build, summary.ENSEMBLE, depth, members, shared_minibatch=True, **changes),
            )
            for name, changes in variants.items()
            for members in ((5,) if args.quick else (5, 20))
        ]
        # Dense observations of deeper seas would not fit beside each other in memory.
        others = [
            Contestant(peer.name, depth, peer.members, partial(peer.build, depth))
            for peer in peers.installed()
            if depth <= 50
        ]
        race([*floors, *mine, *others], repeats=repeats, seconds=0.15 if args.quick else 0.25, say=say)
        everything += [*mine, *others]
    return floors + everything


def _solve(solving, limit: float) -> list[dict]:
    outcomes = []
    for depth in (10, 20, 30):
        say(f"learning depth {depth}, at most {limit:g} s each")
        outcomes.append(solving.ours(depth, limit))
        try:
            outcomes.append(solving.bsuite_boot_dqn(depth, limit))
        except ImportError:
            say("bsuite's agent is not installed")
    return outcomes


def _print(report: dict[str, Any]) -> None:
    from rich.table import Table

    from langevin_dqn.bench.summary import sentences

    console = terminal.console()
    table = Table("what", "depth", "members", "µs per member update", "quartiles", title="Updates")
    for row in report["updates"]:
        low, high = row["quartiles"]
        table.add_row(
            row["name"],
            str(row["depth"] or ""),
            str(row["members"]),
            f"{row['microseconds']:.0f}",
            f"{low:.0f}–{high:.0f}",
        )
    console.print(table)
    table = Table("agent (members)", "depth", "ratio", "times", title="Ratios")
    for row in report["ratios"]:
        table.add_row(row["agent"], str(row["depth"]), row["what"], f"{row['ratio']:.2f}")
    console.print(table)
    for line in sentences(report):
        console.print(line, highlight=False)
