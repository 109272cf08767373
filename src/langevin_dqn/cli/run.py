"""``langevin-dqn run``: train an agent over seeds."""

import json
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from langevin_dqn.config import parse_assignment
from langevin_dqn.errors import UserError
from langevin_dqn.presets import preset


@dataclass
class Args:
    """Train an agent on an environment, once per seed, and say how fast it learned."""

    agent: str
    """dqn, langevin_dqn, boot_dqn or ensemble_langevin_dqn."""
    env: str = "deep_sea:depth=10"
    """Environment id: deep_sea:depth=20,mapping_seed=7, a bsuite id such as deep_sea/3, gym:CartPole-v1, or
    dm:package.module:factory."""
    seeds: str = "0"
    """One seed, a range or a list: 3, 0-4 or 0,2,7."""
    episodes: int | None = None
    """Episodes per seed; 1000 unless --steps is given."""
    steps: int | None = None
    """Environment steps per seed, at most."""
    updates_per_step: int | None = None
    """U, updates for each environment step; the preset's by default."""
    preset: str = "paper"
    """Reading of the paper: paper or released."""
    members: int | None = None
    """Models in the ensemble; the preset's by default."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Any field of the configuration, as field=value."""
    stop_when_solved: bool = False
    """Stop each seed at the episode in which it has learned."""
    json: bool = False
    """Print one JSON object per seed to stdout and nothing else."""
    plot: str | None = None
    """Write the learning curves to this .png, .pdf or .svg file."""
    workers: int | None = None
    """Seeds to run at a time; the number of cores by default."""


def parse_seeds(text: str) -> list[int]:
    """``3``, ``0-4`` or ``0,2,7`` as a list without repeats."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UserError(f"seeds {text!r} cannot be read", "write 3, 0-4 or 0,2,7")
        if dash and int(last) < int(first):
            raise UserError(f"seed range {part!r} is empty", f"did you mean {last}-{first}?")
        seeds += range(int(first), int(last if dash else first) + 1)
    return list(dict.fromkeys(seeds))


def changes_of(args: Args) -> dict[str, Any]:
    """The fields the options change, checked."""
    changes = dict(parse_assignment(text) for text in args.set)
    for name in ("members", "updates_per_step"):
        if getattr(args, name) is not None:
            changes[name] = getattr(args, name)
    preset(args.agent, args.preset, **changes)
    return changes


def main(args: Args) -> int:
    changes, seeds = changes_of(args), parse_seeds(args.seeds)
    for option, count in (("--episodes", args.episodes), ("--steps", args.steps)):
        if count is not None and count < 1:
            raise UserError(f"{option} {count} leaves nothing to run", "use at least 1")
    if args.workers is not None and args.workers < 1:
        raise UserError(f"--workers {args.workers} leaves nobody to run", "use at least 1 worker")

    from langevin_dqn import machine

    machine.prepare()
    from langevin_dqn.cli.progress import Board
    from langevin_dqn.environments import HostEnvironment, make_env
    from langevin_dqn.report import figures
    from langevin_dqn.runners import Job, run_jobs
    from langevin_dqn.training import DEFAULT_EPISODES

    environment = make_env(args.env)  # a wrong id is an error before anything starts
    if isinstance(environment, HostEnvironment):
        environment.close()
    if args.plot:
        figures.check_path(args.plot)
    episodes = args.episodes if args.episodes or args.steps else DEFAULT_EPISODES
    jobs = [
        Job(args.agent, args.env, seed, episodes, args.preset, args.stop_when_solved, changes, args.steps)
        for seed in seeds
    ]
    results: dict[int, Any] = {}
    printed = 0
    with Board(jobs, sys.stderr) as board:
        for index, result in run_jobs(jobs, workers=args.workers, progress=board.update):
            results[index] = result
            board.finish(index, result)
            while args.json and printed in results:  # in the order of the seeds, each as soon as it can be
                print(json.dumps(results[printed].to_dict()), flush=True)
                printed += 1
    ordered = [results[i] for i in sorted(results)]
    if not args.json:
        from langevin_dqn.cli.tables import seeds_table

        seeds_table(ordered)
    if args.plot:
        shown = "each seed up to where it stopped" if args.stop_when_solved else "median, quartiles as a band"
        caption = f"{args.env}, {args.preset} preset, {len(seeds)} seeds ({shown})"
        path = figures.learning_curves({args.agent: ordered}, args.plot, caption)
        print(f"wrote {path}", file=sys.stderr)
    return 0
