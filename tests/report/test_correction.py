"""Verdicts after Holm's correction: families, both directions, claims without a p-value."""

import pytest

from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE, NOT_ENOUGH, Claim, Effect, Finding, decide
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.paper.registry import DEEPER, PAPER, family_of
from langevin_dqn.report import markdown
from langevin_dqn.report.correction import Correction, corrections, excluded
from langevin_dqn.report.summary import to_dicts


def report(name, *findings, planned=0):
    """A figure with a claim for each finding; what has no p-value is untested, and None stands for runs to come."""
    pairs = []
    for i, finding in enumerate(findings):
        found = finding or Finding(INCONCLUSIVE, "no runs")
        claim = Claim(f"c{i}", f"Claim {i}.", lambda runs: found, tested=finding is None or finding.is_tested)  # noqa: B023
        pairs.append((claim, found))
    figure = Figure(name, "A figure", claims=tuple(claim for claim, _ in pairs))
    return FigureReport(figure, "quick", (), planned, tuple(pairs))


def by_test(p, opposite=None, **more):
    opposite = 1 - p if opposite is None else opposite
    return Finding(decide(p, opposite), "words", test=f"p = {p}", p=p, p_opposite=opposite, **more)


def test_the_smallest_p_survives_and_the_raw_verdicts_stay():
    reports = [report("fig2", by_test(0.001), by_test(0.03)), report("fig3", by_test(0.04))]
    found = corrections(reports)
    assert found["fig2", "c0"] == Correction(3, 0.001, pytest.approx(0.003), HOLDS)
    assert found["fig2", "c1"] == Correction(3, 0.03, pytest.approx(0.06), INCONCLUSIVE)
    assert found["fig3", "c0"] == Correction(3, 0.04, pytest.approx(0.06), INCONCLUSIVE)
    assert [claim["verdict"] for claim in to_dicts(reports)] == [HOLDS] * 3
    assert [claim["verdict_adjusted"] for claim in to_dicts(reports)] == [HOLDS, INCONCLUSIVE, INCONCLUSIVE]


def test_families_are_corrected_apart():
    assert {family_of(name) for name in PAPER} == {"paper"}
    assert {family_of(name) for name in DEEPER} == {"deeper"}
    names = ("fig2", "fig3", "deeper_chain", "mine")
    found = corrections([report(name, by_test(0.03)) for name in names])
    assert [found[name, "c0"].tests for name in names] == [2, 2, 1, 1]
    assert [found[name, "c0"].verdict for name in names] == [INCONCLUSIVE, INCONCLUSIVE, HOLDS, HOLDS]


def test_claims_whose_runs_are_to_come_count_and_rules_do_not():
    rule = Finding(HOLDS, "every run learned", test="every run has to learn")
    found = corrections([report("fig2", by_test(0.03), None, rule)])
    assert found["fig2", "c0"] == Correction(2, 0.03, 0.06, INCONCLUSIVE)
    assert found["fig2", "c1"] == Correction(2, None, None, INCONCLUSIVE)
    assert ("fig2", "c2") not in found
    (*_, last) = to_dicts([report("fig2", by_test(0.03), None, rule)])
    assert (last["tests"], last["p_adjusted"], last["verdict_adjusted"]) == (None, None, HOLDS)


def test_what_does_not_hold_is_corrected_with_the_opposites():
    """Claims that hold do not make it harder to refute another, other than by their number."""
    found = corrections([report("fig2", by_test(0.999, 0.001), by_test(0.04, 0.96), by_test(0.97, 0.03))])
    assert found["fig2", "c0"] == Correction(3, 0.001, pytest.approx(0.003), FAILS)
    assert found["fig2", "c1"] == Correction(3, 0.04, pytest.approx(0.12), INCONCLUSIVE)
    assert found["fig2", "c2"] == Correction(3, 0.03, pytest.approx(0.06), INCONCLUSIVE)


def test_with_runs_missing_more_may_decide():
    found = corrections([report("fig2", by_test(0.03), by_test(0.03), planned=5)])
    assert {correction.verdict for correction in found.values()} == {NOT_ENOUGH}


def test_effects_are_told_of_what_is_not_decided_or_no_longer():
    effects = (Effect("gain", -0.2, 0.3), Effect("loss", float("-inf"), float("inf")))
    left = Correction(2, 0.03, 0.06, INCONCLUSIVE)
    holds, still_open = by_test(0.03, effects=effects), by_test(0.3, effects=effects)
    assert excluded(holds, left) == excluded(still_open, left) == "a gain below -0.20 or above 0.30"
    assert excluded(holds, Correction(1, 0.03, 0.03, HOLDS)) == ""
    assert excluded(by_test(0.3, effects=effects[1:]), None) == "nothing"
    assert excluded(by_test(0.3), None) == ""


def test_the_text_shows_both_verdicts():
    effects = (Effect("gain", -0.2, 0.3),)
    rule = Finding(FAILS, "one did not", test="every run has to learn")
    text = markdown.document([report("fig2", by_test(0.001), by_test(0.03, effects=effects), by_test(0.04), rule)])
    assert "Of 4 claims, 3 hold and 1 does not hold, at level 0.05 for each claim." in text
    assert "A statistical test decides 3 of the claims" in text
    assert "number of tests, 1 holds, 1 does not hold and 2 are inconclusive." in text
    assert "| [fig2](#fig2) | Claim 0. | ✓ holds, p = 0.001 | ✓ holds, p = 0.003 |" in text
    assert "| [fig2](#fig2) | Claim 1. | ✓ holds, p = 0.03 | ? inconclusive, p = 0.06 |" in text
    assert "| [fig2](#fig2) | Claim 3. | ✗ does not hold | no test |" in text
    assert "*After Holm's correction for 3 tests: p = 0.003.*" in text
    assert "p = 0.06, inconclusive.* *Excluded at level 0.05: a gain below -0.20 or above 0.30.*" in text
    assert "interim" not in text


def test_the_text_names_figures_with_missing_runs():
    text = markdown.document([report("fig2", by_test(0.001), planned=3), report("fig3", by_test(0.5))])
    assert "Verdicts are interim where planned runs are missing: fig2." in text
