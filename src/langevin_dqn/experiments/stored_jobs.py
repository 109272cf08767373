"""From a store's rows back to the runs that were asked for."""

import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from langevin_dqn.config import FIELD_TYPES, AgentConfig
from langevin_dqn.environments import make_env
from langevin_dqn.environments.registry import ADAPTERS
from langevin_dqn.errors import UserError
from langevin_dqn.ids import imports_code
from langevin_dqn.presets import preset
from langevin_dqn.runners import Job
from langevin_dqn.store import key_of


def job_of(row: Mapping[str, Any]) -> Job | None:
    """The run that a row of :meth:`langevin_dqn.store.Store.load` came from; None if its key is of another.

    A row does not say whether the run was to stop once it had learned, but its key does.
    """
    try:
        known = preset(row["agent"], row["preset"])
        held = {name: row[name] for name in FIELD_TYPES if row.get(name) is not None}
        held["hidden"] = tuple(held["hidden"])
        changes = {name: value for name, value in held.items() if value != getattr(known, name)}
        for stops in (True, False):
            job = Job(
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
            if key_of(job) == row["key"]:
                return job
    except UserError:  # no such agent, preset or configuration
        pass
    return None


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

    An environment of another library counts as dense: nothing is built or imported that a file names.
    """
    if row["env"].partition(":")[0] in ADAPTERS or imports_code(row["env"]):
        return "dense"
    return _learner(row["env"], AgentConfig.from_dict({name: row.get(name) for name in FIELD_TYPES}))


@functools.lru_cache(maxsize=1024)
def _learner(env: str, config: AgentConfig) -> str:
    from langevin_dqn.agent import make_agent

    try:
        agent = make_agent(config, space=make_env(env).observation_space)
    except UserError:  # no such environment
        return "dense"
    return "lazy" if agent.structure.sleeping_rows else "dense"


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

    chosen = []
    while waiting and len(chosen) < count:
        following = min(waiting, key=lambda s: (*(taken[part] for part in parts(s)), waiting[s][-1]["seconds"]))
        chosen.append(waiting[following].pop())
        taken.update(parts(following))
        if not waiting[following]:
            del waiting[following]
    return chosen
