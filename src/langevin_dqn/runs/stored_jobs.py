"""From a store's rows back to the runs that were asked for."""

import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from langevin_dqn.config import AgentConfig
from langevin_dqn.errors import UserError
from langevin_dqn.ids import imports_code
from langevin_dqn.presets import AGENTS, configured, preset
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import config_of, describe, hash_of, identity_with


def job_of(row: Mapping[str, Any]) -> Job | None:
    """The run that a row of ``langevin_dqn.runs.store.Store.load`` came from; None if its key is of another.

    Nothing that the row names is built or imported: an agent that is none of the presets is taken at the
    description that was stored with its run. The configuration that was stored counts: where its preset has other
    settings by now, the job's changes say so.
    """
    try:
        config = config_of(row)
        description = {"config": config.identity()} if isinstance(config, AgentConfig) else {"agent": config}
        candidates = _guesses(row) if row.get("job") is None else [Job.from_json(row["job"])]
        for job in candidates:
            named = hash_of(identity_with(job, description)) == row["key"]
            if named and _columns(job) == {name: row.get(name) for name in _columns(job)}:
                if not configured(job.agent) or describe(job) == description:
                    return job
                job = replace(job, changes=_changes(row))
                return job if describe(job) == description else None
    except (UserError, ValueError, TypeError):  # no such agent, preset, configuration or job
        pass
    return None


def _columns(job: Job) -> dict[str, Any]:
    """What a row says of its job beside the job itself."""
    return {
        "agent": job.agent,
        "env": job.env,
        "seed": job.seed,
        **({"preset": job.preset} if job.agent in AGENTS else {}),  # other agents have none
        "asked_episodes": job.episodes,
        "asked_steps": job.steps,
    }


def _guesses(row: Mapping[str, Any]) -> Iterator[Job]:
    """What may have been asked for, where a row is older than its column ``job``.

    Such a row does not say whether the run was to stop once it had learned, but its key does.
    """
    changes = _changes(row)
    for stops in (True, False):
        yield Job(
            row["agent"],
            row["env"],
            row["seed"],
            row["asked_episodes"],
            row["preset"],
            stop_when_solved=stops,
            changes=changes,
            steps=row["asked_steps"],
            record="q" if row.get("record_shape") is not None else None,
        )


def _changes(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row's configuration changes of its preset, as the preset is now."""
    known = preset(row["agent"], row["preset"], env=row["env"])
    return {name: value for name, value in vars(config_of(row)).items() if value != getattr(known, name)}


def imports_of(job: Job) -> list[str]:
    """The ids of a job that would import code if it were run."""
    return [name for name in (job.agent, job.env, job.network) if name is not None and imports_code(name)]


class Stratum(NamedTuple):
    """What runs of one kind share."""

    learner: str
    agent: str
    preset: str
    timing: str
    family: str


def stratum_of(row: Mapping[str, Any]) -> Stratum:
    """The kind of run that a row holds. The family of an environment is its name before ``/`` or ``:``."""
    family = re.split("[/:]", row["env"], maxsplit=1)[0]
    return Stratum(learner_of(row), row["agent"], row["preset"], row.get("update_timing") or "between", family)


def learner_of(row: Mapping[str, Any]) -> str:
    """How a run updated its first layer: ``lazy`` rows or ``dense`` ones.

    An environment of another library and a custom agent count as dense, because nothing that a file
    names is imported here.
    """
    if row["env"].partition(":")[0] == "gym" or imports_code(row["env"]):
        return "dense"
    config = config_of(row)
    return _learner(row["env"], config) if isinstance(config, AgentConfig) else "dense"


@functools.lru_cache(maxsize=1024)
def _learner(env: str, config: AgentConfig) -> str:
    from langevin_dqn.agents import make_agent
    from langevin_dqn.environments import make_env

    try:
        agent = make_agent(config, space=make_env(env).observation_space)
    except UserError:  # no such environment
        return "dense"
    return "lazy" if agent.choice.kind == "lazy" else "dense"


def sample(rows: Sequence[Mapping[str, Any]], count: int) -> list[Mapping[str, Any]]:
    """``count`` rows of many kinds, short ones first.

    Learners take turns; within each, agents (with their preset and timing), then families of environments, then
    whole strata. Among those that have been taken least often the shortest run is next.
    """
    waiting: dict[Stratum, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: -row["seconds"]):
        waiting.setdefault(stratum_of(row), []).append(row)
    taken: Counter[tuple[str, ...]] = Counter()

    def parts(stratum: Stratum) -> list[tuple[str, ...]]:
        return [stratum[:1], stratum[:4], (stratum.learner, stratum.family), tuple(stratum)]

    chosen: list[Mapping[str, Any]] = []
    while waiting and len(chosen) < count:
        following = min(waiting, key=lambda s: (*(taken[part] for part in parts(s)), waiting[s][-1]["seconds"]))
        chosen.append(waiting[following].pop())
        taken.update(parts(following))
        if not waiting[following]:
            del waiting[following]
    return chosen
