"""What a comparison has to run, and running what of it is not stored yet."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langevin_dqn.comparison.contenders import AgentChoice, Contender, Entry, contenders_of
from langevin_dqn.comparison.grammar import seeds_of, split_list
from langevin_dqn.errors import UserError, whole_number
from langevin_dqn.extras import require
from langevin_dqn.presets import AGENTS, DEFAULT_PRESET
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Failure, Job
from langevin_dqn.runs.runners.choosing import runner_of
from langevin_dqn.runs.store import Store, key_of

if TYPE_CHECKING:
    import polars as pl


def entries_of(
    agents: str | Iterable[str] | Mapping[str, AgentChoice],
    envs: str | Iterable[str],
    *,
    seeds: str | Iterable[int],
    episodes: int | None = None,
    steps: int | None = None,
    preset: str = DEFAULT_PRESET,
    grid: Mapping[str, Iterable[Any]] | None = None,
    common: Mapping[str, Any] | None = None,
) -> list[Entry]:
    """Every run of a comparison, by agent, environment and seed; see ``sweep`` for the arguments.

    Whatever cannot be run is an error here: nothing has started then.
    """
    for unit, count in (("episodes", episodes), ("steps", steps)):
        if count is not None:
            whole_number(unit, count, least=1)
    numbers, ids = seeds_of(seeds), _envs(envs)
    contenders = contenders_of(agents, grid=grid, common=common, variant=preset)
    from langevin_dqn.environments.registry import bsuite_episodes
    from langevin_dqn.training import DEFAULT_EPISODES

    for env in ids:
        _check_agents(contenders, env)
    by_default = {env: None if steps else bsuite_episodes(env) or DEFAULT_EPISODES for env in ids}
    entries = [
        Entry(one, Job(one.agent, env, seed, episodes or by_default[env], one.preset, changes=one.changes, steps=steps))
        for one in contenders
        for env in ids
        for seed in numbers
    ]
    _check_distinct(entries)
    return entries


def sweep(
    agents: str | Iterable[str] | Mapping[str, AgentChoice],
    envs: str | Iterable[str],
    *,
    seeds: str | Iterable[int] = range(5),
    episodes: int | None = None,
    steps: int | None = None,
    preset: str = DEFAULT_PRESET,
    grid: Mapping[str, Iterable[Any]] | None = None,
    store: str | Path | None = None,
    runner: str = "threads",
    ray: str | None = None,
    workers: int | None = None,
    progress: Callable[[int, int, Result | Failure], None] | None = None,
    **changes: Any,
) -> "pl.DataFrame":
    """Run agents on environments over seeds, and return one row per run; ``langevin-dqn compare`` does the same.

    With a store, runs that it has are not run again: the same call continues where it was interrupted. Everything
    is checked before the first run starts.

    Args:
        agents: presets' names or ids, with settings after a colon if any: ``["dqn", "boot_dqn:members=10"]``. Or
            labels, and what each stands for: such a name, ``(name, settings)``, or an
            ``AgentConfig``.
        envs: ids of environments.
        seeds: whole numbers, or a text such as ``"0-4"``.
        episodes: per run; without this and ``steps``, as many as bsuite runs for a bsuite id, else 1000.
        steps: environment steps per run, at most.
        preset: ``recommended``, ``paper`` or ``released``, for agents that are presets' names.
        grid: by setting, values to cross with everything else, ``{"noise_variance": [1e-5, 1e-4]}``. A setting
            crosses every agent that has it; ``"langevin_dqn:noise_variance"`` crosses that agent only.
        store: a folder that keeps every run; without one, runs are kept in memory only.
        runner: ``threads`` or ``processes``; see ``docs/guide/parallel.md``.
        ray: the address of a Ray cluster to run on instead: ``local``, ``auto`` or ``host:port``.
        workers: runs at a time; the number of cores by default.
        progress: called after each run with the number done, the number to do and what the run gave.
        **changes: settings of every agent that has them.

    Returns:
        A polars table. ``agent`` is the label, with its settings; ``name``, ``preset`` and ``settings`` (JSON) are what
        it stands for, and each setting of the grid is a column too. ``docs/guide/compare.md`` lists all columns. A run
        that failed, in a worker process or on Ray, has its reason in ``failed`` and nothing else.

    Examples:
        >>> import langevin_dqn
        >>> runs = langevin_dqn.sweep("dqn", "probe_action", seeds=[0], episodes=20, grid={"epsilon": [0.1, 0.5]})
        >>> runs.select("agent", "epsilon", "seed", "episodes").rows()
        [('dqn:epsilon=0.1', 0.1, 0, 20), ('dqn:epsilon=0.5', 0.5, 0, 20)]
    """
    require("polars")
    entries = entries_of(
        agents, envs, seeds=seeds, episodes=episodes, steps=steps, preset=preset, grid=grid, common=changes
    )
    run = runner_of(runner, ray, workers)
    kept = None if store is None else Store(store)
    if kept is not None:
        kept.prepare()
    outcomes = stored(entries, kept)
    missing = [i for i, outcome in enumerate(outcomes) if outcome is None]
    for done, (place, outcome) in enumerate(run([entries[i].job for i in missing], None), 1):
        index = missing[place]
        if kept is not None and isinstance(outcome, Result):
            kept.put(entries[index].job, outcome)
        outcomes[index] = outcome
        if progress is not None:
            progress(done, len(missing), outcome)
    from langevin_dqn.comparison.table import table_of

    return table_of(entries, outcomes)


def stored(entries: Iterable[Entry], store: Store | None) -> list[Result | Failure | None]:
    """What a store has of each run; None where it has nothing."""
    jobs = [entry.job for entry in entries]
    return [None] * len(jobs) if store is None else [*store.get_all(jobs)]


def _envs(envs: Any) -> list[str]:
    found = split_list([envs], "envs") if isinstance(envs, str) else envs
    found = list(found) if isinstance(found, Iterable) else [found]
    if not all(isinstance(env, str) for env in found):
        raise UserError(
            "environments of a comparison are passed by id",
            "use its id; custom environments are jax:package.module:factory, or registered with register_env",
        )
    if not found:
        raise UserError("no environments to run", "for example, deep_sea:depth=10 or gym:CartPole-v1")
    for env in found:
        if found.count(env) > 1:
            raise UserError(f"environment {env!r} is named twice", "leave out one of them")
    return found


def _check_agents(contenders: Iterable[Contender], env: str) -> None:
    """Make the environment, and every agent for it."""
    from langevin_dqn.agents.registry import resolve_agent
    from langevin_dqn.environments import HostEnvironment, make_env

    environment = make_env(env)
    try:
        for one in contenders:
            variant = one.preset if one.agent in AGENTS else None
            resolve_agent(one.agent, environment, preset=variant, changes=one.changes)
    finally:
        if isinstance(environment, HostEnvironment):
            environment.close()


def _check_distinct(entries: Iterable[Entry]) -> None:
    """Refuse agents that differ in name only: their runs would be counted twice."""
    seen: dict[str, Entry] = {}
    for entry in entries:
        other = seen.setdefault(key_of(entry.job), entry)
        if other is not entry:
            raise UserError(
                f"{other.contender.label} and {entry.contender.label} are the same agent on {entry.job.env}",
                "leave out one of them",
            )
