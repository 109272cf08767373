"""What a store says about the paper: per figure its runs, protocol and findings."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from langevin_dqn.environments.sweeps import SWEEPS
from langevin_dqn.experiments.claims import Claim, Finding
from langevin_dqn.experiments.figure import SCALES, Figure
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store


@dataclass(frozen=True)
class FigureReport:
    """A figure as far as a store has its runs.

    Attributes:
        figure: what it is about.
        scale: the scale whose runs were looked at.
        results: its runs that are in the store.
        planned: how many runs the scale has.
        findings: the verdict on each of its claims.
    """

    figure: Figure
    scale: str
    results: tuple[Result, ...]
    planned: int
    findings: tuple[tuple[Claim, Finding], ...]

    @property
    def seconds(self) -> float:
        """Run time, summed over runs."""
        return sum(result.seconds for result in self.results)

    @property
    def protocol(self) -> str:
        """What was run, in a line."""
        return protocol_of(self.results, max((job.episodes or 0 for job in self.figure.jobs[self.scale]), default=None))


def summarise(store: Store, figures: Iterable[Figure], scale: str | None = None) -> list[FigureReport]:
    """Look at the runs of ``figures`` in ``store``.

    Args:
        store: where the runs are.
        figures: which figures.
        scale: whose runs to look at. By default, figure by figure, the largest scale of which
            at least half of the runs are done or, where there is none, the one with the largest share.
    """
    cache: dict[str, Result | None] = {}

    def get(job: Job) -> Result | None:
        name = store.path(job).stem
        if name not in cache:
            cache[name] = store.get(job)
        return cache[name]

    reports = []
    for figure in figures:
        done = {
            name: tuple(result for job in figure.jobs[name] if (result := get(job)) is not None)
            for name in ((scale,) if scale else SCALES)
        }
        share = {name: len(done[name]) / max(len(figure.jobs[name]), 1) for name in done}
        chosen = max(done, key=lambda name: (min(share[name], 0.5), SCALES.index(name)))
        findings = tuple((claim, claim.check(done[chosen])) for claim in figure.claims)
        reports.append(FigureReport(figure, chosen, done[chosen], len(figure.jobs[chosen]), findings))
    return reports


def to_dicts(reports: Iterable[FigureReport]) -> list[dict[str, Any]]:
    """One object per claim, as ``langevin-dqn report --json`` prints them."""
    return [
        {
            "figure": report.figure.id,
            "claim": claim.id,
            "words": claim.words,
            "verdict": finding.verdict,
            "finding": finding.words,
            "test": finding.test,
            "numbers": _plain(finding.numbers),
            "runs": len(report.results),
            "planned": report.planned,
            "scale": report.scale,
        }
        for report in reports
        for claim, finding in report.findings
    ]


def _plain(value: Any) -> Any:
    """JSON has no infinity: a median over runs that did not learn is null."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def protocol_of(results: Sequence[Result], budget: int | None = None) -> str:
    """Environments, update counts, members, seeds and episodes of some runs.

    Args:
        results: the runs.
        budget: episodes that each could have had; by default those of the longest.
    """
    if not results:
        return "no runs"
    environments = sorted({result.env for result in results})
    parts = [_environments(environments)]
    for name, one, several in (
        ("updates_per_step", "update per step", "updates per step"),
        ("members", "member", "members"),
    ):
        values = sorted({getattr(result.config, name) for result in results})
        parts.append(f"{_list(values)} {one if values == [1] else several}")
    if environments[0].startswith("deep_sea:"):
        parts.append(_seeds(results))
    most = budget or max(result.episodes for result in results)
    parts.append(f"at most {most:,} episodes")
    return ", ".join(parts)


def _seeds(results: Sequence[Result]) -> str:
    """``3 to 5 seeds`` when some settings have more than others."""
    counts = Counter(
        (run.agent, run.preset, run.env, run.setting("updates_per_step", 1), run.setting("members", 1))
        for run in results
    ).values()
    few, many = min(counts), max(counts)
    return f"{few} to {many} seeds" if few < many else f"{many} seed{'s' if many > 1 else ''}"


def _environments(names: Sequence[str]) -> str:
    if all(name.startswith("deep_sea:depth=") for name in names):
        depths = sorted(int(name.removeprefix("deep_sea:depth=")) for name in names)
        return f"deep sea of depth {_list(depths)}"
    settings = sum(len(sweep.settings) for sweep in SWEEPS.values())
    return f"{len(names)} of bsuite's {settings} settings"


def _list(values: Sequence[int]) -> str:
    """``1, 5 and 25``; a long even range by its ends."""
    if len(values) > 3 and len({b - a for a, b in itertools.pairwise(values)}) == 1:
        return f"{values[0]} to {values[-1]} in steps of {values[1] - values[0]}"
    words = [str(value) for value in values]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
