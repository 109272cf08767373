"""``langevin-dqn bsuite``: run agents over bsuite, score them, draw the radar and the bars."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from langevin_dqn.cli.run import check_workers, parse_seeds
from langevin_dqn.cli.terminal import print_json, say
from langevin_dqn.config import parse_assignment
from langevin_dqn.errors import UserError, counted
from langevin_dqn.presets import DEFAULT_PRESET, preset

if TYPE_CHECKING:
    from langevin_dqn.paper.bsuite_protocol import Protocol


@dataclass
class Args:
    """Run agents on bsuite, score them as bsuite does, and draw the scores.

    Finished runs are stored; repeat the command to continue an interrupted one.
    """

    agents: str = "dqn,langevin_dqn"
    """Names of agents, with settings after a colon: dqn,boot_dqn:members=10."""
    settings: str = "quick"
    """quick (a subset), all (468 settings), or ids and experiments: deep_sea/3,catch."""
    seeds: str = "0"
    """Seeds, one pass over the settings for each: 3, 0-4 or 0,2,7."""
    episodes_scale: float = 1.0
    """Multiply bsuite's number of episodes by this; rounded to an episode that bsuite logs."""
    store: str = "out/bsuite"
    """Folder of stored runs; the radar and bar charts are written there too, as PNG and PDF."""
    updates_per_step: int | None = None
    """Updates per environment step (U). Default: the preset's. Figures 9 and 10 of the paper use 5."""
    preset: str = DEFAULT_PRESET
    """Settings of the agent: recommended, paper (the paper's tables) or released (the authors' code)."""
    members: int | None = None
    """Number of models in each ensemble. Default: the preset's. Agents without an ensemble are not affected."""
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Set a field of every agent's configuration, as field=value. May be repeated."""
    deep_sea_threshold: float = 0.8
    """Fraction of bad episodes below which Deep Sea is solved: 0.8 (the paper), or 0.9 (bsuite since 0.3.6)."""
    mnist_dir: str | None = None
    """Folder of MNIST's training files. Default: the variable LANGEVIN_DQN_MNIST. Without it, MNIST is left out."""
    json: bool = False
    """Print one JSON object per agent to stdout and nothing else."""
    workers: int | None = None
    """Number of runs in parallel. Default: the number of cores."""
    runner: str = "threads"
    """Where to run: threads, or processes (a crash of one does not stop the others)."""
    ray: str | None = None
    """Run on a Ray cluster: local (start one), auto (the one on this machine) or host:port."""


def parse_agents(args: Args) -> dict[str, tuple[str, dict[str, Any]]]:
    """``dqn,boot_dqn:members=10,epsilon=0.1`` as names and changed fields, by what the user called each."""
    words: list[str] = []
    for word in filter(None, args.agents.split(",")):
        if "=" in word and ":" not in word and words:  # one more field of the agent before it
            words[-1] += f",{word}"
        else:
            words.append(word)
    if not words:
        raise UserError("no agents to run", "for example, --agents dqn,langevin_dqn")
    common = dict(parse_assignment(text) for text in args.set)
    if args.updates_per_step is not None:
        common["updates_per_step"] = args.updates_per_step
    agents = {}
    for word in words:
        name, _, settings = word.partition(":")
        ensemble = preset(name, args.preset).members > 1
        shared = common | ({"members": args.members} if args.members is not None and ensemble else {})
        own = dict(parse_assignment(text) for text in filter(None, settings.split(",")))
        preset(name, args.preset, **shared | own)  # a wrong value is an error now
        agents[word] = (name, shared | own)
    return agents


def main(args: Args) -> int:
    agents, seeds = parse_agents(args), parse_seeds(args.seeds)
    check_workers(args.workers)
    if not 0 < args.deep_sea_threshold <= 1:
        message = f"--deep-sea-threshold must be above 0 and at most 1, not {args.deep_sea_threshold:g}"
        raise UserError(message, "use 0.8 or 0.9")
    from langevin_dqn import machine

    machine.prepare()
    from langevin_dqn.paper.bsuite_protocol import jobs_of, protocol
    from langevin_dqn.runs.store import Store

    chosen = _leave_out_mnist(args, protocol(args.settings, args.episodes_scale))
    store = Store(args.store)
    jobs = {
        label: jobs_of(name, chosen, seeds=seeds, preset=args.preset, changes=changes)
        for label, (name, changes) in agents.items()
    }
    if not _run(args, store, [job for some in jobs.values() for job in some]):
        return 1
    summaries = [_summary(args, store, label, jobs[label], chosen) for label in agents]
    if args.json:
        for summary in summaries:
            print_json(summary)
    else:
        from langevin_dqn.cli.tables import bsuite_tables

        bsuite_tables(summaries)
    _draw(args, summaries, _caption(args, chosen, len(seeds)))
    return 0


def _leave_out_mnist(args: Args, chosen: "Protocol") -> "Protocol":
    """MNIST is not part of the package, so a sweep leaves it out; asking for it alone is an error."""
    from langevin_dqn.environments import make_env
    from langevin_dqn.environments.bsuite import mnist_files

    if args.mnist_dir is not None:
        os.environ[mnist_files.VARIABLE] = args.mnist_dir
    images = [name for name in chosen.experiments if name.startswith("mnist")]
    if images and not os.environ.get(mnist_files.VARIABLE) and len(images) < len(chosen.experiments):
        say(f"leaving out {', '.join(images)}: pass the folder of MNIST's files with --mnist-dir to run them")
        return chosen.without(images)
    if images:
        make_env(f"{images[0]}/0")  # complains about files that are missing or broken
    return chosen


def _run(args: Args, store, jobs: list) -> bool:
    """Run what the store does not have, the longest first; false if a run failed, which leaves nothing to score."""
    from langevin_dqn.cli.sweep import run_missing, runner_of
    from langevin_dqn.paper.plan import plan_of

    run = runner_of(args.runner, args.ray, args.workers)
    store.prepare()
    plan = plan_of(jobs, store)
    for path in store.damaged:
        say(f"unreadable file, not used: {path}")
    say(f"{counted(len(jobs), 'run')}, {len(jobs) - len(plan.missing)} of them in {args.store}")
    failures = []
    if plan.missing:
        failures = run_missing("bsuite", store, plan.missing, plan.seconds, run, ray=args.ray is not None)
    for failure in failures:
        say(f"failed: {failure}")
    if failures:
        say(f"{counted(len(failures), 'run')} failed; the others are stored. Repeat the command to try again")
    return not failures


def _summary(args: Args, store, label: str, jobs: list, chosen: "Protocol") -> dict[str, Any]:
    """An agent's scores by experiment and tag, averaged over seeds."""
    import polars as pl

    from langevin_dqn.analysis import bsuite_log, bsuite_summary
    from langevin_dqn.paper.bsuite_protocol import pass_of

    results = store.get_all(jobs)
    logs = pl.concat(
        [
            bsuite_log.logs_of([result]).with_columns(agent=pl.lit(label), seed=pass_of(job))
            for job, result in zip(jobs, results, strict=True)
        ],
        how="diagonal",
    )
    scores = bsuite_summary.score_agents(logs, episodes=chosen.episodes, solved_share=args.deep_sea_threshold)
    broken = [f"{result.env} (seed {result.seed}): {result.diverged}" for result in results if result.diverged]
    mean = pl.col("score").mean()
    return {
        "agent": label,
        "preset": args.preset,
        "settings": len(chosen.ids),
        "seeds": len({pass_of(job) for job in jobs}),
        "scores": _by(scores.filter(pl.col("score").is_not_nan()).group_by("experiment").agg(mean), "experiment"),
        "tags": _by(bsuite_summary.score_tags(scores).group_by("tag").agg(mean), "tag"),
        "unfinished": sorted(set(scores.filter(~pl.col("finished"))["experiment"])),
        "diverged": broken,
        "episodes": {name: chosen.episodes[name] for name in chosen.experiments},
        "seconds": round(sum(result.seconds for result in results), 1),
        "config": results[0].to_dict()["config"],
    }


def _by(table, column: str) -> dict[str, float]:
    return dict(table.sort(column).select(column, "score").iter_rows())


def _draw(args: Args, summaries: list[dict[str, Any]], caption: str) -> None:
    from langevin_dqn.plots import bsuite as bsuite_figures

    scores = {summary["agent"]: summary["scores"] for summary in summaries}
    tags = {summary["agent"]: summary["tags"] for summary in summaries}
    unfinished = {(summary["agent"], name) for summary in summaries for name in summary["unfinished"]}
    for suffix in ("png", "pdf"):
        bsuite_figures.bars(scores, Path(args.store) / f"bars.{suffix}", caption, unfinished)
        if len(set().union(*tags.values())) >= 3:  # fewer make no polygon
            bsuite_figures.radar(tags, Path(args.store) / f"radar.{suffix}", caption)
    say(f"wrote figures to {args.store}")


def _caption(args: Args, chosen: "Protocol", seeds: int) -> str:
    """The protocol in a line."""
    most = max(chosen.episodes[name] for name in chosen.experiments)
    parts = [f"bsuite, {len(chosen.ids)} of 468 settings", f"up to {most:,} episodes", f"{args.preset} preset"]
    if args.updates_per_step is not None:
        parts.append(f"{args.updates_per_step} updates per step")
    return ", ".join([*parts, *args.set, f"{seeds} seed{'s' if seeds > 1 else ''}"])
