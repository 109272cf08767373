"""What the paper claims, as statements that runs can decide.

A claim has one of four verdicts. It *holds* when a one-sided test says so at the stated level; it
*does not hold* when the opposite test does, or when a single run contradicts what is said of
every run. Otherwise the runs are *inconclusive* if all of them are there, and *not enough runs* if some
are still to be made. The level is per claim; the report adds what is left after a correction for the number of claims
(``langevin_dqn.report.correction``).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike

from langevin_dqn.paper.statistics import all_equal, mean_interval, median_interval, ratio_interval
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


class Effect(NamedTuple):
    """The size of an effect, as an interval. What lies outside is excluded, at ``LEVEL`` on either side.

    Examples:
        >>> Effect("difference of scores", -0.07, 0.35).excluded
        'a difference of scores below -0.07 or above 0.35'
    """

    name: str
    low: float
    """Minus infinity where no small value is excluded."""
    high: float
    """Infinity where no large value is excluded."""

    @property
    def excluded(self) -> str:
        """What the runs exclude, in words; empty if nothing."""
        below = f"below {_number(self.low, math.floor)}" if self.low > -math.inf else ""
        above = f"above {_number(self.high, math.ceil)}" if self.high < math.inf else ""
        ends = " or ".join(filter(None, (below, above)))
        return f"a {self.name} {ends}" if ends else ""


def _number(value: float, outwards: Callable[[float], int]) -> str:
    """In two decimals or none, rounded so that no more is excluded than was found."""
    if abs(value) >= 10:
        return f"{outwards(round(value, 6)):d}"
    return f"{outwards(round(100 * value, 6)) / 100 + 0.0:.2f}"


def ratio_of_times(names: str, first: ArrayLike, second: ArrayLike, budget: float) -> Effect:
    """The median ratio of paired learning times, ``first`` to ``second``; ``names`` says of what.

    ``budget`` is how long a run that did not learn tried, at least.
    """
    low, high = ratio_interval(first, second, budget, 1 - 2 * LEVEL)
    return Effect(f"median ratio of learning times ({names})", low or -math.inf, high)


def mean_of(name: str, values: ArrayLike) -> Effect:
    """The mean of values by Student's interval; where all are equal, what the sign test leaves of it."""
    interval = median_interval if all_equal(values) else mean_interval
    return Effect(name, *interval(values, 1 - 2 * LEVEL))


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
    p: float | None = None
    """The one-sided p-value of the claim; None where no test was made. For an interval, the p-value of its test."""
    p_opposite: float | None = None
    """The one-sided p-value of the opposite."""
    effects: tuple[Effect, ...] = ()
    """The effects that the test is about, with their intervals."""

    @property
    def is_tested(self) -> bool:
        """True if a statistical test was made."""
        return self.p is not None


@dataclass(frozen=True)
class Claim:
    """One statement about a figure.

    Attributes:
        id: a name, unique within its figure.
        words: the statement, paraphrased.
        check: from the runs of the figure to a verdict.
        tested: a statistical test decides it. It then counts in the correction for the number of claims, also before
            its runs are there.
    """

    id: str
    words: str
    check: Callable[[Sequence[Result]], Finding]
    tested: bool = False


def decide(p_for: float, p_against: float) -> Verdict:
    """The verdict of two opposite one-sided tests."""
    if p_for <= LEVEL:
        return HOLDS
    return FAILS if p_against <= LEVEL else INCONCLUSIVE


def inconclusive(words: str) -> Finding:
    """For runs that are not there."""
    return Finding(INCONCLUSIVE, words)
