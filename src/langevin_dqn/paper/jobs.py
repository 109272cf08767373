"""The runs of a figure, by scale.

Scales differ in depths, seeds and update counts, never in the agents. ``quick`` takes all
figures together at most half an hour on two cores, ``standard`` about ten hours, and
``paper`` is the full protocol.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langevin_dqn.errors import UserError
from langevin_dqn.runs.runners import Job

SCALES = ("quick", "standard", "paper")


def check_scale(scale: str) -> str:
    """Refuse a scale that does not exist."""
    if scale not in SCALES:
        raise UserError(f"unknown scale {scale!r}", f"choose one of {', '.join(SCALES)}")
    return scale


def at_every_scale(jobs: Iterable[Job]) -> dict[str, tuple[Job, ...]]:
    """The same runs whatever the scale, for figures that have only one."""
    return dict.fromkeys(SCALES, tuple(jobs))


#: For figures that are drawn or computed without training.
NO_RUNS = at_every_scale(())


@dataclass(frozen=True)
class Contender:
    """An agent as a figure runs it."""

    agent: str
    preset: str = "paper"
    changes: Mapping[str, Any] = field(default_factory=dict)


def deep_sea_jobs(
    contenders: Sequence[Contender],
    *,
    depths: Iterable[int],
    seeds: int | Iterable[int],
    episodes: int,
    updates: Iterable[int] = (1,),
    members: Iterable[int | None] = (None,),
) -> tuple[Job, ...]:
    """One run per agent, depth, number of updates, number of members and seed; each stops once it has learned."""
    jobs = []
    chosen = range(seeds) if isinstance(seeds, int) else seeds
    for who, size, count, depth, seed in itertools.product(contenders, members, updates, depths, chosen):
        changes = {**who.changes, "updates_per_step": count}
        if size is not None:
            changes["members"] = size
        jobs.append(Job(who.agent, f"deep_sea:depth={depth}", seed, episodes, who.preset, True, changes))
    return tuple(jobs)


def merge(*groups: Iterable[Job]) -> tuple[Job, ...]:
    """Several groups of runs as one."""
    return tuple(job for group in groups for job in group)
