"""Claims about bsuite's categories, from scores given outright."""

import polars as pl
import pytest
from scipy.stats import ttest_1samp

from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.paper import categories
from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE, LEVEL


@pytest.fixture
def scores(monkeypatch):
    """Make agents score what ``ours`` and ``theirs`` say of an experiment."""

    def give(ours, theirs, only=SWEEPS):
        rows = [
            {"agent": agent, "seed": 0, "experiment": name, "score": float(score(name))}
            for agent, score in (("a", ours), ("b", theirs))
            for name in only
        ]
        monkeypatch.setattr(categories, "scores_of", lambda results: pl.DataFrame(rows))

    return give


def verdict(claim):
    return claim.check([]).verdict


TAGS = ("basic", "noise", "exploration")
NOT_WORSE = categories.not_worse("x", "words", "a", "b", TAGS)
BETTER = categories.differs("x", "words", "a", "b", "exploration")


def wobble(name):
    return 0.02 * (len(name) % 3)


def test_equal_agents_are_not_worse(scores):
    scores(lambda name: 0.5 + wobble(name), lambda name: 0.52)
    assert verdict(NOT_WORSE) == HOLDS
    assert verdict(BETTER) == INCONCLUSIVE


def test_worse_on_one_tag_is_enough(scores):
    scores(lambda name: 0.5 + wobble(name) - 0.4 * ("exploration" in SWEEPS[name].tags), lambda name: 0.5)
    finding = NOT_WORSE.check([])
    assert finding.verdict == FAILS
    assert "worse by more on exploration" in finding.test
    assert verdict(BETTER) == FAILS


def test_better(scores):
    scores(lambda name: 0.9 + wobble(name), lambda name: 0.3)
    assert verdict(BETTER) == HOLDS


def test_two_experiments_that_agree_are_not_certainty(scores):
    scores(lambda name: 1, lambda name: 0, only=("deep_sea", "deep_sea_stochastic"))
    finding = BETTER.check([])
    assert finding.verdict == INCONCLUSIVE
    assert "+1.00, +1.00" in finding.words
    assert verdict(categories.not_worse("x", "words", "a", "b", ["exploration"])) == INCONCLUSIVE


def test_a_category_without_runs_is_named(scores):
    scores(lambda name: 1, lambda name: 1, only=[name for name in SWEEPS if "noise" not in SWEEPS[name].tags])
    finding = NOT_WORSE.check([])
    assert finding.verdict == INCONCLUSIVE
    assert "nothing run yet on noise" in finding.words
    assert finding.p == 1.0


def test_p_values_of_intervals(scores):
    """At most 5% where the interval decides; of scores that all differ alike, the sign test's."""
    scores(lambda name: 0.5 + wobble(name), lambda name: 0.52)
    assert NOT_WORSE.check([]).p < 0.05 < BETTER.check([]).p
    scores(lambda name: 0.5 + wobble(name) - 0.4 * ("exploration" in SWEEPS[name].tags), lambda name: 0.5)
    assert BETTER.check([]).p_opposite < 0.05 < BETTER.check([]).p
    gaps = [wobble(name) - 0.4 for name, sweep in SWEEPS.items() if "exploration" in sweep.tags]
    worse = ttest_1samp(gaps, -categories.MARGIN, alternative="less").pvalue
    assert NOT_WORSE.check([]).p_opposite == pytest.approx(3 * worse)  # three categories
    scores(lambda name: 1, lambda name: 0)
    equal = BETTER.check([])
    assert equal.p == 0.5 ** sum("exploration" in sweep.tags for sweep in SWEEPS.values())
    assert equal.verdict == (HOLDS if equal.p <= LEVEL else INCONCLUSIVE)
