"""From a store's rows back to the runs that were asked for."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langevin_dqn.config import FIELD_TYPES
from langevin_dqn.errors import UserError
from langevin_dqn.presets import preset
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import key_of


def job_of(row: Mapping[str, Any]) -> Job | None:
    """The run that a row of :meth:`langevin_dqn.runs.store.Store.load` came from; None if its key is of another.

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


def sample(rows: Sequence[Mapping[str, Any]], count: int) -> list[Job]:
    """``count`` runs, the shortest first and agents in turn."""
    before: Counter[str] = Counter()
    turns = []
    for row in sorted(rows, key=lambda row: row["seconds"]):
        turns.append((before[row["agent"]], row))
        before[row["agent"]] += 1
    jobs = (job_of(row) for _, row in sorted(turns, key=lambda turn: turn[0]))
    return list(itertools.islice((job for job in jobs if job is not None), count))
