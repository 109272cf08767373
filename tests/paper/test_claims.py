"""Each claim, decided by made-up runs in all three ways."""

import math
from pathlib import Path

import pytest

from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE, LEVEL, Effect, decide
from langevin_dqn.paper.registry import choose, figures

SEEDS = range(5)


def check(figure, claim, results):
    (found,) = [c for c in figures()[figure].claims if c.id == claim]
    return found.check(results)


def test_decide():
    assert decide(LEVEL, 1.0) == HOLDS
    assert decide(1.0, LEVEL) == FAILS
    assert decide(0.06, 0.06) == INCONCLUSIVE


@pytest.mark.parametrize("figure", figures().values(), ids=lambda figure: figure.id)
def test_no_runs_decide_nothing(figure):
    for claim in figure.claims:
        if figure.jobs["paper"]:
            assert claim.check([]).verdict == INCONCLUSIVE


def fig2(sea_run, dqn, langevin):
    """Runs of two depths and two update counts; ``dqn`` and ``langevin`` give times by (depth, updates, seed)."""
    cells = [(depth, updates, seed) for depth in (10, 20) for updates in (1, 5) for seed in SEEDS]
    runs = [sea_run("dqn", dqn(*c), depth=c[0], updates=c[1], seed=c[2]) for c in cells]
    return runs + [
        sea_run("langevin_dqn", langevin(*c), depth=c[0], updates=c[1], seed=c[2], preset_name="released")
        for c in cells
    ]


def test_fig2_holds_where_langevin_learns_and_dqn_does_not(sea_run):
    runs = fig2(sea_run, lambda *_: None, lambda depth, updates, seed: 1000 // updates + seed)
    finding = check("fig2", "deeper", runs)
    assert finding.verdict == HOLDS
    assert finding.numbers["only_langevin_solves"] == [10, 20]
    assert check("fig2", "updates", runs).verdict == HOLDS


def test_fig2_fails_where_dqn_is_sooner(sea_run):
    runs = fig2(sea_run, lambda depth, updates, seed: 100 + seed, lambda depth, updates, seed: 500 + 10 * updates)
    assert check("fig2", "deeper", runs).verdict == FAILS
    assert check("fig2", "updates", runs).verdict == FAILS


def test_fig2_fails_where_both_solve_every_depth(sea_run):
    """Sooner is not deeper."""
    runs = fig2(sea_run, lambda *_: 2000, lambda *_: 100)
    assert check("fig2", "deeper", runs).verdict == FAILS


def test_fig2_does_not_judge_the_other_reading(sea_run):
    runs = fig2(sea_run, lambda *_: None, lambda *_: 100)
    other = [sea_run("langevin_dqn", None, depth=d, seed=s) for d in (10, 20) for s in SEEDS]
    assert check("fig2", "deeper", runs + other).verdict == HOLDS


def test_fig2_two_seeds_are_not_enough(sea_run):
    runs = [run for run in fig2(sea_run, lambda *_: None, lambda *_: 100) if run.seed < 2]
    assert check("fig2", "deeper", runs).verdict == INCONCLUSIVE


def fig3(sea_run, time, seeds=SEEDS):
    return [
        sea_run("langevin_dqn", time(u, s), updates=u, seed=s, preset_name="released")
        for u in (1, 5, 25, 100, 250)
        for s in seeds
    ]


def test_fig3_shorter(sea_run):
    falling = fig3(sea_run, lambda updates, seed: max(2000 // updates, 80) + seed)
    assert check("fig3", "shorter", falling).verdict == HOLDS
    rising = fig3(sea_run, lambda updates, seed: 200 + updates + seed)
    assert check("fig3", "shorter", rising).verdict == FAILS
    flat = fig3(sea_run, lambda updates, seed: 100 + 20 * seed)
    assert check("fig3", "shorter", flat).verdict == INCONCLUSIVE


def test_fig3_ninety_is_decided_by_further_seeds(sea_run):
    """The first five choose the number of updates and decide nothing, however low they are."""
    first = fig3(sea_run, lambda updates, seed: 10_000 // updates + seed)
    assert check("fig3", "ninety", first).verdict == INCONCLUSIVE

    def with_further(time):
        return check("fig3", "ninety", first + fig3(sea_run, time, range(5, 15)))

    low = with_further(lambda updates, seed: 100 if updates == 100 else 500)
    assert low.verdict == FAILS  # 250 updates were the lowest of the first seeds
    assert low.numbers["updates"] == 250
    assert with_further(lambda updates, seed: 120 if seed < 14 else None).verdict == HOLDS  # 9 of 10: p = 0.011
    assert with_further(lambda updates, seed: 120 if seed < 13 else None).verdict == INCONCLUSIVE  # 8 of 10: p = 0.055


def test_fig4_is_computed():
    for name in ("backward", "tracks"):
        assert check("fig4", name, []).verdict == HOLDS


def test_fig6_compares_at_equal_compute(sea_run):
    """Five members with one update are one chain with five; the chain's other runs say nothing."""
    ensemble = [sea_run("ensemble_langevin_dqn", 200, depth=d, seed=s) for d in (10, 20) for s in SEEDS]
    chain = [
        sea_run("langevin_dqn", time, depth=d, updates=u, seed=s, preset_name="released")
        for u, time in ((5, 900), (25, 100))
        for d in (10, 20)
        for s in SEEDS
    ]
    assert check("fig6", "ensemble", ensemble + chain).verdict == HOLDS
    slower = [sea_run("ensemble_langevin_dqn", None, depth=d, seed=s) for d in (10, 20) for s in SEEDS]
    assert check("fig6", "ensemble", slower + chain).verdict == FAILS
    assert (
        check("fig6", "ensemble", ensemble + [run for run in chain if run.config.updates_per_step == 25]).verdict
        == INCONCLUSIVE
    )


def ensembles(sea_run, boot, langevin, *, updates=(1, 5), depth=20):
    return [
        sea_run(agent, time(u, s), depth=depth, updates=u, seed=s, budget=2000)
        for agent, time in (("boot_dqn", boot), ("ensemble_langevin_dqn", langevin))
        for u in updates
        for s in SEEDS
    ]


def test_fig7(sea_run):
    as_claimed = ensembles(sea_run, lambda u, s: None, lambda u, s: 500 // u + s)
    for claim in ("beats_boot_updates", "boot_gains_nothing", "ensemble_gains"):
        assert check("fig7", claim, as_claimed).verdict == HOLDS
    assert check("fig7", "beats_boot_updates", as_claimed).numbers["p_score"] == pytest.approx({"1": 2**-5, "5": 2**-5})
    reversed_ = ensembles(sea_run, lambda u, s: 300 if u == 5 else None, lambda u, s: 400 + u)
    at_one_depth = check("fig7", "beats_boot_updates", reversed_)  # at 5 updates, one test of two
    assert (at_one_depth.verdict, at_one_depth.p_opposite) == (INCONCLUSIVE, 2 * 2**-5)
    deeper = ensembles(sea_run, lambda u, s: 300 if u == 5 else None, lambda u, s: 400 + u, depth=30)
    assert check("fig7", "beats_boot_updates", reversed_ + deeper).verdict == FAILS
    assert check("fig7", "boot_gains_nothing", reversed_).verdict == FAILS
    assert check("fig7", "ensemble_gains", reversed_).verdict == FAILS
    mixed = ensembles(sea_run, lambda u, s: 300 if s == u else None, lambda u, s: 200 + 200 * (s % 2))
    assert check("fig7", "boot_gains_nothing", mixed).verdict == INCONCLUSIVE
    assert check("fig7", "ensemble_gains", mixed).verdict == INCONCLUSIVE


def test_fig8_one_seed_refutes_every(sea_run):
    runs = ensembles(sea_run, lambda u, s: None, lambda u, s: 800 + s, depth=50)
    assert check("fig8", "every_seed", runs).verdict == HOLDS
    assert (
        check(
            "fig8", "every_seed", runs[:-1] + ensembles(sea_run, lambda u, s: None, lambda u, s: None, depth=50)[-1:]
        ).verdict
        == FAILS
    )
    assert check("fig8", "every_seed", [run for run in runs if run.seed < 4]).verdict == INCONCLUSIVE


def test_fig8_is_about_depth_50(sea_run):
    runs = ensembles(sea_run, lambda u, s: None, lambda u, s: 800 + s, depth=20)
    finding = check("fig8", "every_seed", runs)
    assert finding.verdict == INCONCLUSIVE
    assert "nothing was run at depth 50" in finding.words


def test_fig11_every_size(sea_run):
    def runs(times, depth=20):
        return [
            sea_run(agent, time, depth=depth, seed=s, members=m, budget=2000)
            for m, by_agent in times.items()
            for agent, time in by_agent.items()
            for s in SEEDS
        ]

    better = {"boot_dqn": None, "ensemble_langevin_dqn": 300}
    assert check("fig11", "beats_boot_members", runs({1: better, 5: better})).verdict == HOLDS
    worse = {"boot_dqn": 200, "ensemble_langevin_dqn": 300}
    assert check("fig11", "beats_boot_members", runs({1: better, 5: worse})).verdict == INCONCLUSIVE
    twice = runs({1: better, 5: worse}) + runs({1: better, 5: worse}, depth=30)
    assert check("fig11", "beats_boot_members", twice).verdict == FAILS
    nobody = {"boot_dqn": None, "ensemble_langevin_dqn": None}
    finding = check("fig11", "beats_boot_members", runs({1: nobody, 5: better}))
    assert finding.verdict == INCONCLUSIVE
    assert "with 1 neither learned anything" in finding.words


def test_a_half_finished_sweep_is_judged_by_what_has_enough_seeds(sea_run):
    whole = ensembles(sea_run, lambda u, s: None, lambda u, s: 500 // u + s)
    begun = [run for run in whole if run.config.updates_per_step == 1 or run.seed < 2]
    finding = check("fig7", "beats_boot_updates", begun)
    assert finding.verdict == INCONCLUSIVE  # one update alone does not say "at every number"
    assert finding.words.endswith("fewer than 3 seeds of both yet with 5")
    assert check("fig7", "ensemble_gains", begun).verdict == INCONCLUSIVE
    deeper = ensembles(sea_run, lambda u, s: None, lambda u, s: 900, depth=30)
    assert check("fig7", "beats_boot_updates", whole + deeper[:1]).verdict == HOLDS  # a lone run changes nothing
    against = ensembles(sea_run, lambda u, s: 10, lambda u, s: 500)
    assert (
        check(
            "fig7", "beats_boot_updates", [r for r in against if r.seed < 2 or r.config.updates_per_step == 1]
        ).verdict
        == FAILS
    )


@pytest.mark.parametrize("figure", [*figures().values(), *choose(["deeper"])], ids=lambda figure: figure.id)
def test_what_has_a_p_value_counts_as_tested(figure, request):
    """A claim that is missing there would be left out of the correction for the number of claims."""
    rules = {
        ("fig4", "backward"), ("fig4", "tracks"), ("fig8", "every_seed"), ("deeper_depths", "depth_30"),
        ("deeper_depths", "depth_50"), ("deeper_depths", "depth_100"), ("deeper_bsuite", "scale_langevin_dqn"),
        ("deeper_bsuite", "scale_ensemble_langevin_dqn"),
    }  # fmt: skip
    assert {claim.id for claim in figure.claims if not claim.tested} == {
        name for id_, name in rules if id_ == figure.id
    }
    if figure.id.startswith("fig"):
        for claim, finding in request.getfixturevalue("made_up_report")(figure.id).findings:
            assert claim.tested or finding.p is None


def test_the_verdict_follows_from_the_p_values(made_up_report):
    """Where a sign test or a rank test decides; runs that are missing leave it open."""
    seen = set()
    for name in figures():
        for _, finding in made_up_report(name).findings:
            if finding.is_tested and "interval" not in finding.test:
                assert finding.verdict in (decide(finding.p, finding.p_opposite), INCONCLUSIVE)
                seen.add(finding.verdict)
    assert len(seen) > 1


def test_a_claim_about_every_value_has_the_largest_p(sea_run):
    runs = ensembles(sea_run, lambda u, s: 300 if (u, s) == (5, 0) else None, lambda u, s: 400)
    finding = check("fig7", "beats_boot_updates", runs)
    assert finding.numbers["p"] == pytest.approx({"1": 1 / 32, "5": 6 / 32})
    assert finding.p == pytest.approx(6 / 32)
    assert finding.p_opposite == pytest.approx(1.0)  # twice the smaller one, at most 1
    begun = [run for run in runs if run.config.updates_per_step == 1 or run.seed < 2]
    assert check("fig7", "beats_boot_updates", begun).p == 1.0  # nothing is known of five updates


def test_a_rule_that_overrides_a_test_has_no_p_value(sea_run):
    finding = check("fig2", "deeper", fig2(sea_run, lambda *_: 2000, lambda *_: 100))
    assert (finding.verdict, finding.p, finding.is_tested) == (FAILS, None, False)


def test_what_an_undecided_claim_excludes(sea_run):
    """Ratios of learning times that the sign test rejects; with three undecided pairs, none."""
    times = {1: (400, 500, 600, 700, 800), 5: (200, 1000, 300, 1400, 400)}
    runs = ensembles(sea_run, lambda u, s: None, lambda u, s: times[u][s])
    finding = check("fig7", "ensemble_gains", runs)
    assert finding.verdict == INCONCLUSIVE
    assert [effect.excluded for effect in finding.effects] == [
        "a median ratio of learning times (5 to 1 updates per step) below 0.50 or above 2.00"
    ]
    few = check("fig7", "ensemble_gains", [run for run in runs if run.seed < 3])
    assert [effect.excluded for effect in few.effects] == [""]


def test_effects_in_words():
    assert Effect("gain", -0.001, math.inf).excluded == "a gain below -0.01"  # no more than was found
    assert Effect("gain", 0.1, 0.561).excluded == "a gain below 0.10 or above 0.57"
    assert Effect("gain", -math.inf, 1234.5).excluded == "a gain above 1235"
    assert Effect("gain", 12.0, math.inf).excluded == "a gain below 12"
    assert Effect("gain", -math.inf, math.inf).excluded == ""


def test_the_protocol_says_how_many_tests_there_are():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "claims.md").read_text(encoding="utf-8")
    paper, deeper = (sum(c.tested for f in choose([word]) for c in f.claims) for word in ("all", "deeper"))
    text = " ".join(page.split())
    assert f"paper's figures ({paper} tests) and the figures about the recommended settings ({deeper} tests)" in text
