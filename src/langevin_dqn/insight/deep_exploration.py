r"""Episodes until the first success in Deep Sea: dithering, and agents that explore deeply.

A policy that chooses every action at random reaches the chest at depth N with
probability $2^{-N}$ per episode, so the first success is geometric. Its median is the
least l with $1 - (1-2^{-N})^l \ge 1/2$, that is $\ln 2 \cdot 2^N \approx 0.69 \cdot 2^N$.
(The paper's appendix gives $2^N$, which is the mean.) ε-greedy does no better:
before the first success it has seen nothing but the cost of moving right, so its greedy
actions go left or are arbitrary, and what it has learned makes success rarer.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langevin_dqn.errors import unknown
from langevin_dqn.insight import rlsvi
from langevin_dqn.runs import metrics
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job, run_jobs

#: Every run ends here, at the latest (Figure 2).
BUDGET = 5000


def geometric_quantile(depth: int, share: float) -> int:
    """The least episode by which a random policy has succeeded with probability ``share``."""
    return math.ceil(math.log1p(-share) / math.log1p(-(2.0**-depth)))


def geometric_median(depth: int) -> int:
    """The median first success of a random policy: about 0.69·2^N."""
    return geometric_quantile(depth, 0.5)


@dataclass(frozen=True)
class Times:
    """Episodes that each seed took at one depth; None for more than ``budget``."""

    depth: int
    budget: int
    times: tuple[int | None, ...]

    def quantile(self, share: float) -> int | None:
        """The least observed time by which ``share`` of the seeds were done; None if it is beyond the budget.

        All seeds have one budget, so what happened after it is needed only where this is None.
        """
        rank = max(math.ceil(share * len(self.times)), 1)
        return sorted(self.times, key=lambda t: (t is None, t))[rank - 1]

    @property
    def done(self) -> int:
        return sum(t is not None for t in self.times)


@dataclass(frozen=True)
class Series:
    """One way of exploring, and what is measured of it: first success or learning time."""

    agent: str
    depths: tuple[int, ...]
    what: str
    preset: str = "paper"
    changes: dict[str, Any] = field(default_factory=dict)

    def jobs(self, depth: int, seeds: int, budget: int) -> list[Job]:
        changes = self.changes
        if changes.get("epsilon_decay_episodes"):
            changes = changes | {"epsilon_decay_episodes": budget}
        return [
            Job(self.agent, f"deep_sea:depth={depth}", seed, budget, self.preset, True, changes)
            for seed in range(seeds)
        ]


#: What to measure, by name. A decay runs over the whole budget: the paper does not say how long.
SERIES: dict[str, Series] = {
    "uniform": Series("dqn", (4, 6, 8, 10), "first_success", changes={"epsilon": 1.0, "updates_per_step": 0}),
    "dqn_decay": Series(
        "dqn", (4, 6, 8, 10, 12), "first_success", changes={"epsilon": 0.5, "epsilon_decay_episodes": BUDGET}
    ),
    "dqn": Series("dqn", (4, 6, 8, 10, 12), "first_success"),
    "langevin_dqn": Series("langevin_dqn", (6, 8, 10), "learning_time", "released", {"updates_per_step": 25}),
    "ensemble_langevin_dqn": Series("ensemble_langevin_dqn", (6, 8, 10, 14, 20), "learning_time"),
    "rlsvi": Series("rlsvi", (4, 6, 8, 10, 12, 14, 16, 20, 25, 30), "learning_time"),
}


def measure(
    name: str,
    *,
    depths: Sequence[int] | None = None,
    seeds: int = 5,
    budget: int = BUDGET,
    progress: Callable[[int, Result], None] | None = None,
) -> list[Times]:
    """Measure a series of ``SERIES``: one ``Times`` per depth."""
    if name not in SERIES:
        raise unknown("series", name, SERIES)
    series = SERIES[name]
    found = []
    for depth in depths or series.depths:
        if series.agent == "rlsvi":
            times = [metrics.learning_time(r, 0.99) for r in rlsvi.run(depth, seeds=seeds, episodes=budget)]
        else:
            jobs = series.jobs(depth, seeds, budget)
            results = dict(run_jobs(jobs, progress=progress))
            times = [getattr(results[i], series.what) for i in range(seeds)]
        found.append(Times(depth, budget, tuple(times)))
    return found
