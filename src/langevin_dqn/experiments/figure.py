"""A figure of the paper as data: what to run at each scale, and what should come out.

Scales differ in depths, seeds and update counts, never in the agents. ``quick`` takes all
figures together at most half an hour on two cores, ``standard`` about eight hours, and
``paper`` is the full protocol.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langevin_dqn.errors import UserError
from langevin_dqn.experiments.claims import Claim
from langevin_dqn.runs.runners import Job

SCALES = ("quick", "standard", "paper")

#: For figures that are drawn or computed.
NO_RUNS: Mapping[str, tuple[Job, ...]] = dict.fromkeys(SCALES, ())


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        id: the project's name for it, such as ``fig2``.
        title: what it shows.
        jobs: its runs, by scale; empty for what is computed without training.
        claims: what the paper says about it.
        note: which reading of the paper it uses, and why.
    """

    id: str
    title: str
    jobs: Mapping[str, tuple[Job, ...]]
    claims: tuple[Claim, ...]
    note: str = ""


@dataclass(frozen=True)
class Contender:
    """An agent as a figure runs it."""

    agent: str
    preset: str = "paper"
    changes: Mapping[str, Any] = field(default_factory=dict)


def sea_jobs(
    contenders: Sequence[Contender],
    *,
    depths: Iterable[int],
    seeds: int | Iterable[int],
    episodes: int,
    updates: Iterable[int] = (1,),
    members: Iterable[int | None] = (None,),
) -> tuple[Job, ...]:
    """Every agent in every sea with every number of updates (and members) and seed, each until it has learned."""
    jobs = []
    chosen = range(seeds) if isinstance(seeds, int) else seeds
    for who, size, count, depth, seed in itertools.product(contenders, members, updates, depths, chosen):
        changes = {**who.changes, "updates_per_step": count}
        if size is not None:
            changes["members"] = size
        jobs.append(Job(who.agent, f"deep_sea:depth={depth}", seed, episodes, who.preset, True, changes))
    return tuple(jobs)


def merge(*groups: Iterable[Job]) -> tuple[Job, ...]:
    """Several plans as one."""
    return tuple(job for group in groups for job in group)


def check_scale(scale: str) -> str:
    """Refuse a scale that does not exist."""
    if scale not in SCALES:
        raise UserError(f"unknown scale {scale!r}", f"choose one of {', '.join(SCALES)}")
    return scale
