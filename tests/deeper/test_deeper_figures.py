"""Figures about the recommended presets: their runs, their claims on runs whose outcome is known, their pictures."""

import numpy as np
import pytest

from langevin_dqn.deeper import ablation, bsuite, chain, depths
from langevin_dqn.deeper.variants import BOOT, ENSEMBLE, FIRST_SEED, show
from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE
from langevin_dqn.paper.figure import FigureReport
from langevin_dqn.paper.registry import DEEPER, choose, figures
from langevin_dqn.presets import preset
from langevin_dqn.runs.result import Result

INF = np.inf


def sea_run(job, time):
    """A run of Deep Sea that learned at ``time``."""
    returns = np.zeros(int(min(time, job.episodes)), np.float32)
    if np.isfinite(time):
        returns[int(0.78 * time) :] = 0.99
        while (0.99 - returns[: int(time) - 1].mean()) < 0.8:  # not before
            returns[np.flatnonzero(returns)[0]] = 0
        returns[-1] = 0.99
    return Result(
        agent=job.agent, env=job.env, seed=job.seed, preset=job.preset, max_return=0.99, learned_regret=0.8,
        config=preset(job.agent, job.preset, **job.changes), returns=returns, updates=len(returns),
        lengths=np.full(len(returns), 10, np.int32), seconds=1.0,
    )  # fmt: skip


def runs(variant, depth, times, episodes=2000):
    return [sea_run(job, t) for job, t in zip(variant.jobs(depth, len(times), episodes), times, strict=True)]


def report_of(figure, results):
    findings = tuple((claim, claim.check(results)) for claim in figure.claims)
    return FigureReport(figure, "standard", tuple(results), len(figure.jobs["standard"]), findings)


def verdict(figure, claim, results):
    return next(c for c in figure.claims if c.id == claim).check(results).verdict


def test_deeper_stands_for_all_of_them_and_all_for_the_papers():
    assert [figure.id for figure in choose(["deeper"])] == list(DEEPER)
    assert not set(DEEPER) & {figure.id for figure in choose(["all"])}
    assert not set(DEEPER) & figures().keys()
    assert [figure.id for figure in choose(["deeper_chain", "fig2"])] == ["deeper_chain", "fig2"]


def test_no_seed_that_chose_the_settings_reports_them():
    for figure in choose(["deeper"]):
        assert all(job.seed >= FIRST_SEED for jobs in figure.jobs.values() for job in jobs)


def test_every_seed_has_a_sea_of_its_own():
    jobs = ENSEMBLE.jobs(30, 20, 100)
    assert len({job.env for job in jobs}) == 20
    assert jobs[3].env == "deep_sea:depth=30,mapping_seed=1003"


def test_a_variant_finds_its_own_runs_by_their_settings():
    results = runs(ENSEMBLE, 30, [400, 500, INF]) + runs(BOOT, 30, [700]) + runs(ENSEMBLE, 50, [900])
    np.testing.assert_array_equal(ENSEMBLE.times(results, 30), [400, 500, INF])
    np.testing.assert_array_equal(BOOT.times(results, 30), [700])
    assert show(ENSEMBLE.times(results, 30)) == "2 of 3 learned, median 500, from 400"
    assert show([INF]) == "0 of 1 learned"


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([500] * 20, HOLDS),
        ([500] * 19 + [INF], FAILS),
        ([700] * 11 + [400] * 9, FAILS),  # too late in the median
        ([500] * 8, INCONCLUSIVE),  # not all of them yet
        ([500] * 2, INCONCLUSIVE),
    ],
)
def test_depth_30_has_to_be_learned_in_every_seed_and_in_time(times, expected):
    assert verdict(depths.FIGURE, "depth_30", runs(ENSEMBLE, 30, times)) == expected


def test_a_part_that_is_missed_is_told_from_one_that_is_not():
    rng = np.random.default_rng(0)
    whole = rng.integers(400, 500, 20)
    results = [
        *runs(ablation.FULL, 30, whole), *runs(ablation.NO_NOISE, 30, whole + 10),
        *runs(ablation.FADING_PRIOR, 30, [INF] * 20), *runs(ablation.NOTHING_RECENT, 30, whole - 50),
    ]  # fmt: skip
    assert verdict(ablation.FIGURE, "noise", results) == HOLDS
    assert verdict(ablation.FIGURE, "prior", results) == HOLDS
    assert verdict(ablation.FIGURE, "recent", results) == FAILS
    assert verdict(ablation.FIGURE, "five", results) == INCONCLUSIVE
    lines = ablation.table(results).splitlines()
    assert len(lines) == 6
    assert "| 0 of 20 | 0.00 to 0.16 | > 1500 | > 1500 to > 1500 |" in lines[4]


def test_one_chain_is_compared_in_pairs():
    ours, released, _ = chain.VARIANTS
    results = [run for d in chain.DEPTHS for run in runs(ours, d, [300] * 10, 5000) + runs(released, d, [900] * 10)]
    assert verdict(chain.FIGURE, "sooner", results) == HOLDS
    assert verdict(chain.FIGURE, "sooner", results[:-1]) == INCONCLUSIVE


def bandit_run(job, score):
    """A bandit at one reward scale, whose regret gives bsuite's score."""
    n = job.episodes
    measures = {"total_regret": np.full(n, (1 - score) * 0.5, np.float32)}
    return Result(
        agent=job.agent, env=job.env, seed=job.seed, preset=job.preset, max_return=1.0, updates=n, seconds=1.0,
        config=preset(job.agent, job.preset, **job.changes), returns=np.ones(n, np.float32), measures=measures,
        lengths=np.ones(n, np.int32),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("new", "old", "dqn", "expected"), [(0.9, 0.7, 0.8, HOLDS), (0.9, 0.85, 0.8, FAILS), (0.9, 0.7, 0.95, FAILS)]
)
def test_the_scale_score_has_to_be_above_before_and_above_dqn(new, old, dqn, expected, monkeypatch):
    """Decided once all settings are there, here those of the bandit."""
    results = []
    monkeypatch.setattr(bsuite, "PARTS", {"bandit_scale": bsuite.PARTS["bandit_scale"]})
    for job in bsuite.FIGURE.jobs["standard"]:
        if job.env.startswith("bandit_scale"):
            recommended = job.preset == "recommended"
            results.append(bandit_run(job, dqn if job.agent == "dqn" else new if recommended else old))
    found = bsuite.mean_scores(results, "scale")["langevin_dqn"]
    assert found[:2] == pytest.approx((new, old), abs=0.01)
    assert found[2] == 20
    assert verdict(bsuite.FIGURE, "scale_langevin_dqn", results) == expected
    for agent in ("langevin_dqn", "dqn"):
        last = max(i for i, run in enumerate(results) if run.agent == agent)
        assert verdict(bsuite.FIGURE, "scale_langevin_dqn", results[:last] + results[last + 1 :]) == INCONCLUSIVE


def test_pictures_are_drawn_and_described(tmp_path, monkeypatch):
    monkeypatch.setattr(depths, "rlsvi_medians", lambda exact: tuple(n**2 / 2 for n in exact))
    seas = [run for d in (10, 20, 30) for v in (ENSEMBLE, BOOT, depths.PAPER) for run in runs(v, d, [d * 20, INF])]
    parts = [run for v in ablation.VARIANTS for run in runs(v, 30, [400, 500, INF])]
    chains = [run for v in chain.VARIANTS for d in chain.DEPTHS for run in runs(v, d, [300, INF], 5000)]
    bandits = [bandit_run(job, 0.8) for job in bsuite.FIGURE.jobs["quick"] if job.env.startswith("bandit_scale")]
    for figure, results in zip(choose(["deeper"]), (seas, parts, chains, bandits), strict=True):
        report = report_of(figure, results)
        path = figure.draw(report, tmp_path / f"{figure.id}.png", "caption.")
        assert path.stat().st_size > 10_000
        assert "learned" in figure.describe(report) or "before" in figure.describe(report)
        assert figure.describe(report_of(figure, [])) == "no runs yet"


def test_exact_rlsvi_needs_about_half_the_square():
    (median,) = depths.rlsvi_medians((10,))
    assert 40 < median < 90
