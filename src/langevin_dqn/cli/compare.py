"""``langevin-dqn compare``: agents on environments over seeds, as one table with intervals and one picture."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

from langevin_dqn.cli.run import check_workers
from langevin_dqn.cli.terminal import print_json, say
from langevin_dqn.comparison.grammar import grid_of, parse_reference, parse_seeds, split_list
from langevin_dqn.config import split_assignment
from langevin_dqn.errors import UserError, counted, option_in_range, unknown
from langevin_dqn.presets import DEFAULT_PRESET

if TYPE_CHECKING:
    from langevin_dqn.comparison.contenders import Entry
    from langevin_dqn.runs.store import Store

_SCORES = {"final": "final_return", "mean": "mean_return"}
_AXES = ("episodes", "steps")


@dataclass
class Args:
    """Compare agents on environments over seeds: a table of scores with intervals.

    Finished runs are stored; repeat the command to continue an interrupted one.

    A comma separates two entries, unless a number or setting=value follows it.
    """

    agents: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Agents, with settings after a colon: dqn,ensemble_langevin_dqn:members=10. A custom agent is
    python:package.module:factory:setting=value."""
    env: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Environment ids, as for run: deep_sea:depth=20,mapping_seed=7,gym:CartPole-v1."""
    seeds: str = "0-4"
    """Random seeds: one (3), a range (0-4) or a list (0,2,7)."""
    grid: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Values of a setting to cross with every agent that has it: noise_variance=1e-5,1e-4; for one agent only,
    langevin_dqn:noise_variance=1e-5,1e-4; hidden=50,50;100,100. Several grids are crossed with each other."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Set a field of every agent that has it, as field=value. May be repeated."""
    episodes: int | None = None
    """Episodes per run. Default without --steps: bsuite's number of episodes for a bsuite id, otherwise 1000."""
    steps: int | None = None
    """Maximum number of environment steps per run."""
    preset: str = DEFAULT_PRESET
    """Settings of the agent: recommended, paper (the paper's tables) or released (the authors' code)."""
    store: str = "out/compare"
    """Folder of stored runs."""
    score: str = "final"
    """Score of a run: final (mean return of the last tenth of its episodes) or mean (of all its episodes)."""
    reference: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Scores that count as 0 and 1 in an environment when environments are averaged: gym:CartPole-v1=20,500; by
    default the lowest and the highest score of any run."""
    plot: str | None = None
    """Write learning curves, one panel per environment, to this file (.png, .pdf or .svg)."""
    x: str | None = None
    """Horizontal axis of --plot: episodes or steps. Default: steps if --steps is given."""
    json: bool = False
    """Print one JSON object per agent and environment to stdout and nothing else."""
    workers: int | None = None
    """Number of runs in parallel. Default: the number of cores."""
    runner: str = "threads"
    """Where to run: threads, or processes (a crash of one does not stop the others)."""
    ray: str | None = None
    """Run on a Ray cluster: local (start one), auto (the one on this machine) or host:port."""


def main(args: Args) -> int:
    if not args.agents:
        raise UserError("no agents to compare", "for example, --agents dqn,langevin_dqn")
    if not args.env:
        raise UserError("no environments to run", "for example, --env deep_sea:depth=10,gym:CartPole-v1")
    agents, envs = split_list(args.agents, "--agents"), split_list(args.env, "--env")
    seeds, grid, reference = parse_seeds(args.seeds), grid_of(args.grid), parse_reference(args.reference)
    common = dict(map(split_assignment, args.set))
    option_in_range("--episodes", args.episodes)
    option_in_range("--steps", args.steps)
    check_workers(args.workers)
    if args.score not in _SCORES:
        raise unknown("score", args.score, _SCORES)
    axis = args.x or ("steps" if args.steps else "episodes")
    if axis not in _AXES:
        raise unknown("axis", axis, _AXES)
    for env in reference:
        if env not in envs:
            raise unknown("environment of --reference", env, envs)

    from langevin_dqn import machine

    machine.prepare()
    from langevin_dqn.cli.comparison_table import print_table
    from langevin_dqn.cli.sweep import runner_of
    from langevin_dqn.comparison.running import entries_of, stored
    from langevin_dqn.comparison.summary import summarise
    from langevin_dqn.comparison.table import table_of
    from langevin_dqn.plots.comparison import draw_comparison
    from langevin_dqn.plots.style import check_path
    from langevin_dqn.runs.store import Store

    if args.plot:
        check_path(args.plot)
    runner_of(args.runner, args.ray, args.workers)
    store = Store(args.store)
    entries = entries_of(
        agents,
        envs,
        seeds=seeds,
        episodes=args.episodes,
        steps=args.steps,
        preset=args.preset,
        grid=grid,
        common=common,
    )
    failures = _run(args, store, entries)
    runs = table_of(entries, stored(entries, store))
    if runs.is_empty():
        return 1
    summary = summarise(runs, score=_SCORES[args.score], reference=reference)
    if args.json:
        for row in summary.iter_rows(named=True):
            print_json(row)
    else:
        print_table(summary, runs, budget=_budget(args), reference=reference)
    if args.plot:
        say(f"wrote {draw_comparison(runs, args.plot, axis=axis, caption=_budget(args) + '.')}")
    return 1 if failures else 0


def _run(args: Args, store: "Store", entries: "list[Entry]") -> int:
    """Run what the store does not have, the longest first; the number of runs that failed."""
    from langevin_dqn.cli.sweep import run_missing, runner_of
    from langevin_dqn.paper.plan import plan_of

    store.prepare()
    jobs = [entry.job for entry in entries]
    plan = plan_of(jobs, store)
    for path in store.damaged:
        say(f"unreadable file, not used: {path}")
    say(f"{counted(len(jobs), 'run')}, {len(jobs) - len(plan.missing)} of them in {args.store}")
    run = runner_of(args.runner, args.ray, args.workers)
    failures = []
    if plan.missing:
        failures = run_missing("compare", store, plan.missing, plan.seconds, run, ray=args.ray is not None)
    for failure in failures:
        say(f"failed: {failure}")
    if failures:
        say(f"{counted(len(failures), 'run')} failed; the others are stored. Repeat the command to try again")
    return len(failures)


def _budget(args: Args) -> str:
    """The protocol in a few words."""
    parts = [f"{count:,} {unit}" for count, unit in ((args.episodes, "episodes"), (args.steps, "steps")) if count]
    budget = " and ".join(parts) if parts else "bsuite's number of episodes, or 1,000"
    words = ", ".join([f"{'at most ' if args.steps else ''}{budget} per run", f"{args.preset} presets", *args.set])
    return words[0].upper() + words[1:]
