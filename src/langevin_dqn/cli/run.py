"""``langevin-dqn run``: train an agent over seeds."""

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from langevin_dqn.comparison.grammar import parse_seeds
from langevin_dqn.config import parse_assignment, split_assignment
from langevin_dqn.errors import UserError
from langevin_dqn.extras import require
from langevin_dqn.ids import literal
from langevin_dqn.presets import AGENTS, DEFAULT_PRESET, preset
from langevin_dqn.runs.metric_log import DEFAULT_WRITERS, METRICS_EVERY


@dataclass
class Args:
    """Train an agent on an environment, once per seed, and report how fast it learned."""

    agent: str = ""
    """dqn, langevin_dqn, boot_dqn or ensemble_langevin_dqn, or one of your own: python:package.module:factory."""
    env: str = "deep_sea:depth=10"
    """Environment id: deep_sea:depth=20,mapping_seed=7, a bsuite id such as cartpole_noise/12, gym:CartPole-v1,
    gymnax:Breakout-MinAtar, xminigrid:MiniGrid-Empty-5x5, dm:package.module:factory, or one of your own,
    jax:package.module:factory; see list."""
    seeds: str = "0"
    """One seed, a range or a list: 3, 0-4 or 0,2,7."""
    episodes: int | None = None
    """Episodes per seed; without this and --steps, as many as bsuite runs for a bsuite id, else 1000."""
    steps: int | None = None
    """Environment steps per seed, at most."""
    updates_per_step: int | None = None
    """U, updates for each environment step; the preset's by default."""
    preset: str = DEFAULT_PRESET
    """recommended, paper (its tables) or released (the authors' code)."""
    network: str | None = None
    """Value network of your own, python:package.module:factory; by default the configuration's."""
    members: int | None = None
    """Models in the ensemble; the preset's by default."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Any field of the configuration, or argument of the agent's factory, as field=value."""
    stop_when_solved: bool = False
    """Stop each seed at the episode in which it has learned."""
    json: bool = False
    """Print one JSON object per seed to stdout and nothing else."""
    returns: bool = False
    """With --json: also returns and lengths, a number for each episode."""
    plot: str | None = None
    """Write the learning curves to this .png, .pdf or .svg file; against environment steps with --steps."""
    record: str | None = None
    """q: record the uncertainty of Q at every state, for --json and --maps; for environments observed as an index."""
    maps: str | None = None
    """Write the first seed's maps (--record q) to this .png, .pdf or .svg file, or an animation to a .gif."""
    mnist_dir: str | None = None
    """Folder with MNIST's training files, for the mnist environments; by default LANGEVIN_DQN_MNIST names it."""
    bsuite_csv: str | None = None
    """Write each seed's log to this folder in bsuite's format; several seeds get a folder each."""
    save: str | None = None
    """Write each seed's trained agent to this folder, as seed_0.npz and so on, for evaluate."""
    overwrite: bool = False
    """Let --bsuite-csv, --save and --log replace files that are there."""
    checkpoint: str | None = None
    """Save each seed in this folder from time to time. Ctrl-C and SIGTERM save first, with or without this."""
    checkpoint_every: float = 60.0
    """Seconds between two checkpoints."""
    resume: str | None = None
    """Go on with the seeds that were saved in this folder; other options are remembered, but for files to write."""
    log: str | None = None
    """Write metrics (return, loss, TD error and others) to this folder, in a folder for each seed."""
    log_to: str = ",".join(DEFAULT_WRITERS)
    """What to write: csv, json (lines), tensorboard and wandb, as a list."""
    metrics_every: int = METRICS_EVERY
    """Environment steps between two rows of metrics."""
    store: str | None = None
    """Keep each seed's run in this folder; seeds that it has are not run again."""
    workers: int | None = None
    """Seeds to run at a time; the number of cores by default."""
    runner: str = "threads"
    """threads (of this process) or processes (a crash of one does not stop the others)."""
    ray: str | None = None
    """Run on Ray: local, auto (this machine's cluster) or host:port."""


def check_workers(workers: int | None) -> None:
    """Refuse fewer than one worker."""
    if workers is not None and workers < 1:
        raise UserError(f"--workers {workers} is out of range", "--workers must be at least 1")


def changes_of(args: Args) -> dict[str, Any]:
    """The fields the options change; for a preset's agent, checked."""
    shortcuts = {name: getattr(args, name) for name in ("members", "updates_per_step")}
    given = {name: value for name, value in shortcuts.items() if value is not None}
    if args.agent.startswith("python:"):
        pairs = map(split_assignment, args.set)
        return {name: literal(value) for name, value in pairs} | given
    changes = dict(parse_assignment(text) for text in args.set) | given
    preset(args.agent, args.preset, env=args.env, **changes)
    return changes


def csv_folders(args: Args, seeds: list[int]) -> dict[int, Path]:
    """Where each seed's log goes; what would stop the writing later is an error now."""
    if args.bsuite_csv is None:
        return {}
    require("polars")
    from langevin_dqn.analysis.bsuite_log import csv_path

    root = Path(args.bsuite_csv)
    folders = {seed: root if len(seeds) == 1 else root / f"seed_{seed}" for seed in seeds}
    _check_writable([csv_path(folder, args.env) for folder in folders.values()], args.overwrite)
    return folders


def agent_files(args: Args, seeds: list[int]) -> dict[int, Path]:
    """Where each seed's trained agent goes, checked likewise."""
    if args.save is None:
        return {}
    files = {seed: Path(args.save) / f"seed_{seed}.npz" for seed in seeds}
    _check_writable(list(files.values()), args.overwrite)
    return files


def _check_writable(files: list[Path], overwrite: bool) -> None:
    """Find out before anything runs whether the files can be written after it."""
    for path in files:
        if path.exists() and not overwrite:
            raise UserError(f"{path} exists already", "name another folder, or add --overwrite")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path.parent):
                pass
        except OSError as error:
            raise UserError(f"cannot write to {path.parent}: {error.strerror}", "name another folder") from None


def check_maps(args: Args, environment: Any) -> None:
    """Refuse a record that would go nowhere and maps that could not be drawn, before anything runs."""
    if args.record is None and args.maps is not None:
        raise UserError("--maps needs --record", "add --record q")
    if args.record is not None and args.maps is None and not args.json:
        raise UserError("--record needs an output", "add --maps maps.png or --json")
    if args.maps is not None:
        from langevin_dqn.plots import uncertainty

        uncertainty.check(args.maps, args.env, environment)


def _write(result: Any, folders: dict[int, Path], agents: dict[int, Path]) -> None:
    """What was asked for of a seed that has ended."""
    if folders:
        from langevin_dqn.analysis.bsuite_log import write_csv

        write_csv(result, folders[result.seed])
    if agents:
        from langevin_dqn.saved_agent import save_agent

        save_agent(result, agents[result.seed])


def main(args: Args) -> int:
    from langevin_dqn.cli import checkpoints, stops

    args = args if args.resume is None else checkpoints.remembered(args)
    if not args.agent:
        raise UserError("missing option --agent", "name an agent, such as --agent langevin_dqn; see langevin-dqn list")
    if args.returns and not args.json:
        raise UserError("--returns needs --json", "add --json")
    changes, seeds = changes_of(args), parse_seeds(args.seeds)
    for option, count in (("--episodes", args.episodes), ("--steps", args.steps)):
        if count is not None and count < 1:
            raise UserError(f"{option} {count} is out of range", f"{option} must be at least 1")
    check_workers(args.workers)

    from langevin_dqn import machine

    machine.prepare()
    from langevin_dqn.agents.registry import resolve_agent
    from langevin_dqn.cli.progress import Board
    from langevin_dqn.cli.stored_runs import StoredRuns
    from langevin_dqn.environments import HostEnvironment, make_env
    from langevin_dqn.environments.bsuite import mnist_files
    from langevin_dqn.environments.registry import bsuite_episodes
    from langevin_dqn.plots.learning_curves import learning_curves
    from langevin_dqn.plots.style import check_path
    from langevin_dqn.runs.result import Result
    from langevin_dqn.runs.runners import Job
    from langevin_dqn.training import DEFAULT_EPISODES

    if args.mnist_dir is not None:
        os.environ[mnist_files.VARIABLE] = args.mnist_dir
    environment = make_env(args.env)  # a wrong id is an error before anything starts
    resolve_agent(
        args.agent,
        environment,
        preset=args.preset if args.agent in AGENTS else None,
        network=args.network,
        changes=changes,
        env=args.env,
    )
    if isinstance(environment, HostEnvironment):
        environment.close()
    if args.stop_when_solved and getattr(environment, "learned_regret", None) is None:
        raise UserError(
            f"{args.env} does not define when it is solved",
            "use --episodes or --steps instead of --stop-when-solved",
        )
    if args.plot:
        check_path(args.plot)
    check_maps(args, environment)
    runs = StoredRuns(args.store, args.runner, args.ray, args.workers, keep_agents=args.save is not None)
    folders, agents = csv_folders(args, seeds), agent_files(args, seeds)
    kept = checkpoints.Kept(args, seeds)
    by_default = None if args.steps else bsuite_episodes(args.env) or DEFAULT_EPISODES
    jobs = [
        Job(
            args.agent,
            args.env,
            seed,
            args.episodes or by_default,
            args.preset,
            args.stop_when_solved,
            changes,
            args.steps,
            args.record,
            keep_agent=True if agents else None,
            network=args.network,
            outputs=kept.outputs(seed),
        )
        for seed in seeds
    ]
    results: dict[int, Any] = {}
    printed = 0
    with stops.saved_first() as stop, Board(jobs, sys.stderr) as board:
        for index, result in runs.run(jobs, board.update):
            results[index] = result
            if isinstance(result, Result):
                board.finish(index, result)
                _write(result, folders, agents)
            while args.json and printed in results:  # in the order of the seeds, each as soon as it can be
                if isinstance(results[printed], Result):
                    print(json.dumps(results[printed].to_dict(returns=args.returns)), flush=True)
                printed += 1
    late = [results[i] for i in sorted(results) if i >= printed]  # had ended when the command was stopped
    for result in late if args.json else []:
        if isinstance(result, Result):
            print(json.dumps(result.to_dict(returns=args.returns)), flush=True)
    ordered = runs.without_failures([results[i] for i in sorted(results)])
    if not ordered and stop.stopped is None:
        return 1
    if ordered and not args.json:
        from langevin_dqn.cli.tables import seeds_table

        seeds_table(ordered)
    if stop.stopped is not None:
        return kept.explain(stop.stopped, [result.seed for result in ordered])
    if folders:
        print(f"wrote {len(folders)} logs to {args.bsuite_csv}", file=sys.stderr)
    if agents:
        print(f"wrote the agents of {len(agents)} seeds to {args.save}", file=sys.stderr)
    if args.plot:
        shown = "each seed up to where it stopped" if args.stop_when_solved else "median, quartiles as a band"
        over = "1 seed" if len(seeds) == 1 else f"{len(seeds)} seeds ({shown})"
        caption = f"{args.env}, {args.preset} preset, {over}"
        if all("regret" in r.measures and r.episodes == ordered[0].episodes for r in ordered):
            from langevin_dqn.plots.bandit_regret import regret_curves

            caption = caption.replace(shown, "mean, standard error as a band")
            path = regret_curves({"": {args.agent: [r.measures["regret"] for r in ordered]}}, args.plot, caption)
        else:
            axis = "episodes" if args.steps is None else "steps"
            path = learning_curves({args.agent: ordered}, args.plot, caption, axis)
        print(f"wrote {path}", file=sys.stderr)
    if args.maps:
        from langevin_dqn.plots import uncertainty

        print(f"wrote {uncertainty.draw(ordered[0], args.maps)}", file=sys.stderr)
    return 0 if len(ordered) == len(jobs) else 1
