"""``langevin-dqn run``: train an agent over seeds."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from langevin_dqn.cli.terminal import print_json, say
from langevin_dqn.comparison.grammar import parse_seeds
from langevin_dqn.config import parse_assignment, split_assignment
from langevin_dqn.errors import UserError, counted, option_in_range
from langevin_dqn.extras import require
from langevin_dqn.ids import literal
from langevin_dqn.presets import AGENTS, DEFAULT_PRESET, preset
from langevin_dqn.runs.folders import check_writable
from langevin_dqn.runs.metric_log import DEFAULT_WRITERS, METRICS_EVERY


@dataclass
class Args:
    """Train an agent on an environment, once per seed, and report how fast it learned."""

    agent: str = ""
    """Agent: dqn, langevin_dqn, boot_dqn, ensemble_langevin_dqn, or a custom one, python:package.module:factory."""
    env: str = "deep_sea:depth=10"
    """Environment id, such as deep_sea:depth=20,mapping_seed=7, cartpole_noise/12 (bsuite), gym:CartPole-v1,
    gymnax:Breakout-MinAtar, xminigrid:MiniGrid-Empty-5x5, dm:package.module:factory, or a custom environment,
    jax:package.module:factory. langevin-dqn list shows all names."""
    seeds: str = "0"
    """Random seeds: one (3), a range (0-4) or a list (0,2,7)."""
    episodes: int | None = None
    """Episodes per seed. Default without --steps: bsuite's number of episodes for a bsuite id, otherwise 1000."""
    steps: int | None = None
    """Maximum number of environment steps per seed."""
    updates_per_step: int | None = None
    """Updates per environment step (U). Default: the preset's."""
    preset: str = DEFAULT_PRESET
    """Settings of the agent: recommended, paper (the paper's tables) or released (the authors' code)."""
    network: str | None = None
    """Custom value network, python:package.module:factory. Default: the configuration's."""
    members: int | None = None
    """Number of models in the ensemble. Default: the preset's."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Set a field of the configuration, or an argument of the agent's factory, as field=value. May be repeated."""
    stop_when_solved: bool = False
    """Stop each seed at the episode at which it has learned."""
    json: bool = False
    """Print one JSON object per seed to stdout and nothing else."""
    returns: bool = False
    """Include the return and the length of every episode in the output of --json."""
    plot: str | None = None
    """Write learning curves to this file (.png, .pdf or .svg); against environment steps with --steps."""
    record: str | None = None
    """q: record the uncertainty of Q at every state, for --json and --maps. Requires index observations."""
    maps: str | None = None
    """Write the maps of --record q for the first seed to this file (.png, .pdf or .svg; .gif for an animation)."""
    mnist_dir: str | None = None
    """Folder of MNIST's training files, for the mnist environments. Default: the variable LANGEVIN_DQN_MNIST."""
    bsuite_csv: str | None = None
    """Write each seed's log in bsuite's format to this folder; with several seeds, to a subfolder for each."""
    save: str | None = None
    """Write each seed's trained agent (seed_0.npz, ...) to this folder, for langevin-dqn evaluate."""
    overwrite: bool = False
    """Allow --bsuite-csv, --save and --log to replace existing files."""
    checkpoint: str | None = None
    """Folder for checkpoints of each seed. Without it, runs are saved only when Ctrl-C or SIGTERM stops them."""
    checkpoint_every: float = 60.0
    """Seconds between checkpoints."""
    resume: str | None = None
    """Resume the runs saved in this folder, with the options of the first command, except those for output."""
    log: str | None = None
    """Write metrics (return, loss, TD error, ...) to this folder, in a subfolder for each seed."""
    log_to: str = ",".join(DEFAULT_WRITERS)
    """Formats of --log, separated by commas: csv, json (JSON lines), tensorboard, wandb."""
    metrics_every: int = METRICS_EVERY
    """Environment steps between rows of metrics."""
    store: str | None = None
    """Store the run of each seed in this folder. Seeds that are already stored are not run again."""
    workers: int | None = None
    """Number of seeds to run in parallel. Default: the number of cores."""
    runner: str = "threads"
    """Where to run: threads, or processes (a crash of one does not stop the others)."""
    ray: str | None = None
    """Run on a Ray cluster: local (start one), auto (the one on this machine) or host:port."""


def check_workers(workers: int | None) -> None:
    """Refuse fewer than one worker."""
    option_in_range("--workers", workers)


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
            raise UserError(f"{path} exists already", "use another folder, or add --overwrite")
        check_writable(path.parent)


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


def done_by(outcome: Any) -> Any:
    """What a seed did: its result, or that of a run which its environment has ended; None if there is none."""
    return getattr(outcome, "result", None) if hasattr(outcome, "reason") else outcome


def _print_json(outcome: Any, returns: bool) -> None:
    done = done_by(outcome)
    if done is not None:
        print_json(done.to_dict(returns=returns) | {"failed": getattr(outcome, "reason", None)})


def main(args: Args) -> int:
    from langevin_dqn.cli import checkpoints, stops

    args = args if args.resume is None else checkpoints.remembered(args)
    if not args.agent:
        raise UserError("missing option --agent", "for example, --agent langevin_dqn; langevin-dqn list shows all")
    if args.returns and not args.json:
        raise UserError("--returns needs --json", "add --json")
    changes, seeds = changes_of(args), parse_seeds(args.seeds)
    option_in_range("--episodes", args.episodes)
    option_in_range("--steps", args.steps)
    check_workers(args.workers)

    from langevin_dqn import machine

    machine.prepare()
    from langevin_dqn.agents.registry import resolve_agent
    from langevin_dqn.cli.progress import Board
    from langevin_dqn.cli.stored_runs import StoredRuns
    from langevin_dqn.environments import HostEnvironment, make_env
    from langevin_dqn.environments.bsuite import mnist_files
    from langevin_dqn.environments.registry import bsuite_episodes
    from langevin_dqn.loops import memory
    from langevin_dqn.plots.learning_curves import learning_curves
    from langevin_dqn.plots.style import check_path
    from langevin_dqn.runs.result import Result
    from langevin_dqn.runs.runners import Job
    from langevin_dqn.runs.runners.job import available_cores
    from langevin_dqn.training import DEFAULT_EPISODES

    if args.mnist_dir is not None:
        os.environ[mnist_files.VARIABLE] = args.mnist_dir
    environment = make_env(args.env)  # a wrong id is an error before anything starts
    found = resolve_agent(
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
    by_default = None if args.steps else bsuite_episodes(args.env) or DEFAULT_EPISODES
    if args.ray is None:
        at_once = min(args.workers or available_cores(), len(seeds))
        memory.check(found.agent, environment, args.episodes or by_default, args.steps, at_once)
    kept = checkpoints.Kept(args, seeds)
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
            if (done := done_by(result)) is not None:
                _write(done, folders, agents)
            while args.json and printed in results:  # in the order of the seeds, each as soon as it can be
                with board.paused():
                    _print_json(results[printed], args.returns)
                printed += 1
    kept.remember()
    late = [results[i] for i in sorted(results) if i >= printed]  # had ended when the command was stopped
    for result in late if args.json else []:
        _print_json(result, args.returns)
    ordered = runs.without_failures([results[i] for i in sorted(results)])
    if not ordered and stop.stopped is None:
        return 1
    if ordered and not args.json:
        from langevin_dqn.cli.tables import seeds_table

        seeds_table(ordered)
    if stop.stopped is not None:
        return kept.explain(stop.stopped, [result.seed for result in ordered])
    if folders:
        say(f"wrote {counted(len(folders), 'log')} to {args.bsuite_csv}")
    if agents:
        say(f"wrote {counted(len(agents), 'agent')} to {args.save}")
    if args.plot:
        shown = "each seed up to where it stopped" if args.stop_when_solved else "median, quartiles as a band"
        over = counted(len(seeds), "seed") + ("" if len(seeds) == 1 else f" ({shown})")
        caption = f"{args.env}, {args.preset} preset, {over}"
        if all("regret" in r.measures and r.episodes == ordered[0].episodes for r in ordered):
            from langevin_dqn.plots.bandit_regret import regret_curves

            caption = caption.replace(shown, "mean, standard error as a band")
            path = regret_curves({"": {args.agent: [r.measures["regret"] for r in ordered]}}, args.plot, caption)
        else:
            axis = "episodes" if args.steps is None else "steps"
            path = learning_curves({args.agent: ordered}, args.plot, caption, axis)
        say(f"wrote {path}")
    if args.maps:
        from langevin_dqn.plots import uncertainty

        say(f"wrote {uncertainty.draw(ordered[0], args.maps)}")
    return 0 if len(ordered) == len(jobs) else 1
