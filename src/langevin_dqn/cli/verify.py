"""``langevin-dqn verify``: check a store of runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from langevin_dqn import machine
from langevin_dqn.cli.terminal import say
from langevin_dqn.errors import UserError, counted, visible

if TYPE_CHECKING:
    from langevin_dqn.runs.store import Store


@dataclass
class Args:
    """Check a store of runs (--store) or saved agents (--agents): every file must be intact.

    A stored run must also match its key. With --rerun, repeated runs must give the same returns. With --verdicts, the
    verdicts in a file must follow from the stored runs.
    """

    store: str = ""
    """Folder of stored runs."""
    agents: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """File written by run --save, or a folder of them, whose content must match its checksum. May be repeated."""
    rerun: int = 0
    """Number of runs to repeat (short ones of different kinds). Every return and length must be identical, or those of
    the first ten episodes where the run was made on another processor or version of JAX."""
    verdicts: str | None = None
    """File with the output of report --json, whose verdicts must follow from the runs."""
    figure: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Figures of that file, as they were given to report. Default: every figure of the paper."""
    scale: str | None = None
    """Scale of that file, if one was given to report."""
    workers: int | None = None
    """Number of runs in parallel. Default: the number of cores."""
    trust: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Id of an agent, environment or network that --rerun may import, such as python:package.module:factory. Other ids
    in a store are not imported, and their runs are not repeated. May be repeated."""


def main(args: Args) -> int:
    from langevin_dqn.cli.run import check_workers

    check_workers(args.workers)
    if args.scale is not None:
        from langevin_dqn.paper.jobs import check_scale

        check_scale(args.scale)
    if args.rerun < 0:
        raise UserError(f"--rerun must be at least 0, not {args.rerun}", "use 0 or more")
    if not (args.store or args.agents):
        raise UserError("nothing to verify", "pass --store FOLDER, --agents FOLDER or both")
    if not args.store and (args.rerun or args.verdicts):
        raise UserError("--rerun and --verdicts need a store", "add --store FOLDER")
    if args.store and not Path(args.store).exists():
        raise UserError(f"there is no store at {args.store}", "pass the folder that was given to --store")
    machine.prepare()
    complaints = _changed_agents(args.agents) if args.agents else []
    if args.store:
        complaints += _complaints_of_store(args)
    for complaint in complaints:
        print(visible(complaint))
    outcome = f"{counted(len(complaints), 'check')} failed" if complaints else "all checks passed"
    print(f"{visible(args.store or ', '.join(args.agents))}: {outcome}")
    return 1 if complaints else 0


def _complaints_of_store(args: Args) -> list[str]:
    from langevin_dqn.runs.store import Store

    store = Store(args.store)
    rows = store.load(afresh=True).to_dicts()
    complaints = _misnamed(store, rows)
    if args.rerun:
        complaints += _different(store, rows, args)
    if args.verdicts:
        complaints += _contradicted(store, args.verdicts, args.figure, args.scale)
    return complaints


def _changed_agents(names: tuple[str, ...]) -> list[str]:
    """Saved agents that cannot be read, or whose content is not what was written. Nothing in them is built."""
    from langevin_dqn.array_files import ArrayFile
    from langevin_dqn.cli.evaluate import files_of

    complaints, unchecked, files = [], 0, files_of(names)
    for path in files:
        try:
            file = ArrayFile.open(path, links=True)
            file.load()
            unchecked += file.checksum is None
        except (OSError, ValueError) as error:
            complaints.append(f"unreadable file: {path}: {getattr(error, 'strerror', None) or error}")
    say(f"{counted(len(files), 'saved agent')} read, {len(files) - len(complaints):,} intact")
    if unchecked:
        say(f"{unchecked} of them have no checksum: they were saved by version 0.1")
    return complaints


def _misnamed(store: "Store", rows: list[dict[str, Any]]) -> list[str]:
    """Files that cannot be read, or that do not match their keys."""
    from langevin_dqn.runs import checksum
    from langevin_dqn.runs.stored_jobs import job_of

    complaints = [f"unreadable file: {path}" for path in store.damaged]
    if not rows and not complaints:
        raise UserError(f"{store.folder} has no runs", "make some with langevin-dqn reproduce")
    strangers = [row["key"] for row in rows if job_of(row) is None]
    complaints += [f"{key}.parquet does not match its key" for key in strangers]
    say(f"{counted(len(rows), 'run')} read, {len(rows) - len(strangers):,} match their keys")
    unchecked = sum(row.get(checksum.COLUMN) is None for row in rows)
    if unchecked:
        say(f"{unchecked} of them have no checksum: they were stored by version 0.1")
    return complaints


def _different(store: "Store", rows: list[dict[str, Any]], args: Args) -> list[str]:
    """Runs that come out differently when they are repeated, and not by rounding alone."""
    from langevin_dqn.runs.repeating import compare, made_with
    from langevin_dqn.runs.runners import run_jobs
    from langevin_dqn.runs.stored_jobs import job_of, learner_of, sample

    chosen = [row for row in sample(_allowed(rows, args.trust), args.rerun) if job_of(row)]
    jobs = [job for row in chosen if (job := job_of(row))]
    lazy = sum(learner_of(row) == "lazy" for row in chosen)
    say(f"{counted(len(jobs), 'run')} to repeat, {lazy} of them with lazy rows")
    complaints, rounded = [], set()
    for index, again in run_jobs(jobs, workers=args.workers):
        row, kept = chosen[index], store.get(jobs[index])
        outcome = "different" if kept is None else compare(kept, again, row)
        say(f"{outcome}: {jobs[index]}, {again.episodes} episodes, {again.seconds:.1f} s")
        if kept is None:
            complaints.append(f"describe() of the agent has changed since the run was stored: {jobs[index]}")
        elif outcome == "different":
            complaints.append(f"different returns when repeated: {jobs[index]}")
        elif outcome == "differs in rounding":
            rounded.add(made_with(row))
    if rounded:
        say(f"made with {'; '.join(sorted(rounded))}")
        say(f"repeated with {made_with(machine.describe())}, which may round differently")
    return complaints


def _allowed(rows: list[dict[str, Any]], trusted: tuple[str, ...]) -> list[dict[str, Any]]:
    """The rows whose runs may be repeated: those that import no code but what the user named."""
    from langevin_dqn.agents.registry import agent_names
    from langevin_dqn.presets import configured
    from langevin_dqn.runs.stored_jobs import imports_of, job_of

    allowed, refused = [], set()
    for row in rows:
        job = job_of(row)
        if job is None:
            continue
        foreign = set(imports_of(job)) - set(trusted)
        refused |= foreign
        if foreign:
            continue
        if configured(job.agent) or job.agent in agent_names() or job.agent.startswith("python:"):
            allowed.append(row)
        else:
            say(f"not repeated, because {job.agent!r} is not a known agent: {job}")
    if refused:
        names = ", ".join(sorted(refused))
        say(f"not repeated, because it would import code: runs of {names}")
        say("hint: add --trust ID for each id whose code you trust")
    return allowed


def _contradicted(store: "Store", file: str, named: tuple[str, ...], scale: str | None) -> list[str]:
    """Verdicts in ``file`` that the runs do not bear out."""
    from langevin_dqn.paper.registry import choose
    from langevin_dqn.report import verdicts
    from langevin_dqn.report.summary import summarise

    written = verdicts.read(file)  # first, because a wrong file is found out at once
    different = verdicts.differences(summarise(store, choose(named or ("all",)), scale), written)
    say(f"the verdicts of {file} {'do not all follow' if different else 'follow'} from the runs")
    return different
