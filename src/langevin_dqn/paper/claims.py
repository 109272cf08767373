"""What the paper claims, as statements that runs can decide.

A claim has one of four verdicts. It *holds* when a one-sided test says so at the stated level; it
*does not hold* when the opposite test does, or when a single run contradicts what is said of
every run. Otherwise the runs are *inconclusive* if all of them are there, and *not enough runs* if some
are still to be made. The level is per claim.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langevin_dqn.runs.result import Result

Verdict = Literal["holds", "does not hold", "inconclusive", "not enough runs"]
HOLDS: Verdict = "holds"
FAILS: Verdict = "does not hold"
INCONCLUSIVE: Verdict = "inconclusive"
#: What an inconclusive claim is called while runs of its figure are missing; checks need not return it.
NOT_ENOUGH: Verdict = "not enough runs"

#: One-sided error level of every test.
LEVEL = 0.05

#: Seeds below which a group of runs is not looked at.
MIN_SEEDS = 3


@dataclass(frozen=True)
class Finding:
    """What the runs show about a claim."""

    verdict: Verdict
    words: str
    """The result in words, with its numbers."""
    numbers: dict[str, Any] = field(default_factory=dict)
    """The same numbers as JSON values."""
    test: str = ""
    """The test that decided, with its p-value, or the rule, if there is no test."""

    @property
    def is_tested(self) -> bool:
        """True if a statistical test decided, with a p-value or an interval."""
        return "p = " in self.test or "interval" in self.test


@dataclass(frozen=True)
class Claim:
    """One statement about a figure.

    Attributes:
        id: a name, unique within its figure.
        words: the statement, paraphrased.
        check: from the runs of the figure to a verdict.
    """

    id: str
    words: str
    check: Callable[[Sequence[Result]], Finding]


def decide(p_for: float, p_against: float) -> Verdict:
    """The verdict of two opposite one-sided tests."""
    if p_for <= LEVEL:
        return HOLDS
    return FAILS if p_against <= LEVEL else INCONCLUSIVE


def inconclusive(words: str) -> Finding:
    """For runs that are not there."""
    return Finding(INCONCLUSIVE, words)
