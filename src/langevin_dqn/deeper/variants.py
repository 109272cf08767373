"""Agents as these figures run them: a name, a preset and what is changed of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from langevin_dqn.config import AgentConfig
from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE, MIN_SEEDS, Finding, Verdict, inconclusive
from langevin_dqn.presets import preset
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job

#: Seeds below this one were used to choose the presets; those from here on report what they do.
FIRST_SEED = 1000


@dataclass(frozen=True)
class Variant:
    """An agent with some settings.

    Attributes:
        name: in tables and legends.
        agent: whose preset it is.
        variant: which of its presets.
        changes: fields that are changed.
    """

    name: str
    agent: str
    variant: str = "recommended"
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> AgentConfig:
        return preset(self.agent, self.variant, **self.changes)

    def jobs(self, depth: int, seeds: int | Iterable[int], episodes: int) -> tuple[Job, ...]:
        """One run per seed, each in a sea with an action mapping of its own; it stops once it has learned."""
        numbers = range(FIRST_SEED, FIRST_SEED + seeds) if isinstance(seeds, int) else seeds
        return tuple(
            Job(
                self.agent, f"deep_sea:depth={depth},mapping_seed={seed}", seed, episodes, self.variant, True,
                dict(self.changes),
            )
            for seed in numbers
        )  # fmt: skip

    def times(self, results: Iterable[Result], depth: int) -> np.ndarray:
        """The learning times of its runs at one depth, by seed; infinity where it did not learn."""
        start, config = f"deep_sea:depth={depth},", self.config
        own = {r.seed: r.learning_time for r in results if r.env.startswith(start) and r.config == config}
        return np.array([np.inf if own[seed] is None else own[seed] for seed in sorted(own)], float)


ENSEMBLE = Variant("Ensemble Langevin DQN", "ensemble_langevin_dqn")
MORE_NOISE = Variant("σ_w² = 1e-4, as in the paper", ENSEMBLE.agent, changes={"noise_variance": 1e-4})
BOOT = Variant("Boot DQN, same prior, members and replay", "boot_dqn")
CHAIN = Variant("Langevin DQN", "langevin_dqn")


def show(times: Sequence[float] | np.ndarray) -> str:
    """Learning times in a few words: how many learned, and the median and range of all."""
    data = np.sort(np.asarray(times, float))
    learned = np.isfinite(data).sum()
    if not learned:
        return f"0 of {len(data)} learned"
    ends = f"{data[0]:g} to {data[-1]:g}" if np.isfinite(data[-1]) else f"from {data[0]:g}"
    middle = float(np.median(data))
    return f"{learned} of {len(data)} learned, median {'none' if np.isinf(middle) else f'{middle:g}'}, {ends}"


def describe_times(times: Iterable[tuple[str, np.ndarray]]) -> str:
    """Named learning times in words; those without runs are left out."""
    return "; ".join(f"{name}: {show(each)}" for name, each in times if len(each)) or "no runs yet"


def every_seed(times: np.ndarray, planned: int, what: str, late: bool, test: str) -> Finding:
    """A finding that fails with any run that did not learn, and is open until all planned runs are there.

    Args:
        times: learning times.
        planned: how many there will be.
        what: what they are of.
        late: they are too late in the median, which is decided once all are there.
        test: what is asked of them.
    """
    if len(times) < MIN_SEEDS:
        return inconclusive(f"{len(times)} of {planned} runs of {what} so far")
    missed = int(np.isinf(times).sum())
    complete = len(times) >= planned
    verdict: Verdict = FAILS if missed or (complete and late) else HOLDS if complete else INCONCLUSIVE
    numbers = {"times": [t if np.isfinite(t) else None for t in times], "planned": planned}
    return Finding(verdict, f"{what}: {show(times)}", numbers, test)
