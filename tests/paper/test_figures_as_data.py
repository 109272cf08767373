"""The plans: the paper's protocol at scale ``paper``, and smaller ones that are parts of it."""

import collections

import pytest

from langevin_dqn import make_env, preset
from langevin_dqn.errors import UserError
from langevin_dqn.paper.jobs import SCALES, check_scale
from langevin_dqn.paper.plan import at_most, figures_plan, plan_of
from langevin_dqn.paper.registry import choose, figures
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store, key_of

#: fig3's number of updates whose median further seeds test.
TESTED = {"updates_per_step": 250}

WITH_RUNS = [figure for figure in figures().values() if figure.jobs["paper"]]


def depths(jobs):
    return sorted({make_env(env).depth for env in {job.env for job in jobs}})


@pytest.mark.parametrize(
    ("name", "expected", "episodes"),
    [
        ("fig2", list(range(10, 21, 2)), 5000),
        ("fig3", [10], 5000),
        ("fig6", list(range(10, 51, 2)), 5000),
        ("fig7", list(range(10, 51, 2)), 10_000),
        ("fig8", [50], 5000),
        ("fig11", list(range(10, 51, 2)), 10_000),
    ],
)
def test_the_papers_protocol(name, expected, episodes):
    jobs = figures()[name].jobs["paper"]
    assert depths(jobs) == expected
    assert {job.episodes for job in jobs} == {episodes}
    further = {job.seed for job in jobs if name == "fig3" and job.changes == TESTED} - set(range(5))
    assert {job.seed for job in jobs} - further == set(range(5))
    assert all(job.stop_when_solved for job in jobs)


def test_bsuite_in_full_but_for_mnist():
    for name in ("fig9", "fig10", "fig12", "fig13"):
        jobs = figures()[name].jobs["paper"]
        assert len({job.env for job in jobs}) == 468 - 60
    five = {preset(job.agent, job.preset, **job.changes).updates_per_step for job in figures()["fig9"].jobs["paper"]}
    members = {
        job.agent: preset(job.agent, job.preset, **job.changes).members for job in figures()["fig12"].jobs["paper"]
    }
    assert five == {5}
    assert members == {"dqn": 1, "boot_dqn": 10, "ensemble_langevin_dqn": 7}


@pytest.mark.parametrize("figure", WITH_RUNS, ids=lambda figure: figure.id)
@pytest.mark.parametrize("scale", SCALES)
def test_no_run_twice_and_every_group_has_all_seeds(figure, scale):
    jobs = figure.jobs[scale]
    assert len({key_of(job) for job in jobs}) == len(jobs)
    seeds = collections.defaultdict(lambda: collections.defaultdict(set))
    for job in jobs:
        seeds[job.agent, job.preset, str(job.changes)][job.env].add(job.seed)
    for groups in seeds.values():
        assert len({len(group) for group in groups.values()}) == 1
        assert all(group == set(range(len(group))) for env, group in groups.items() if env.startswith("deep_sea:"))


def test_fig11_has_fig7s_runs_of_five_members():
    runs = {name: {key_of(job) for job in figures()[name].jobs["standard"]} for name in ("fig7", "fig11")}
    fives = {
        key_of(job)
        for job in figures()["fig11"].jobs["standard"]
        if preset(job.agent, job.preset, **job.changes).members == 5
    }
    assert len(fives) == 50
    assert runs["fig7"] & runs["fig11"] == fives


def test_what_two_figures_share_runs_once(tmp_path):
    both = figures_plan(choose(["fig2", "fig3"]), "quick", Store(tmp_path))
    alone = [figures_plan(choose([name]), "quick", Store(tmp_path)) for name in ("fig2", "fig3")]
    assert len(both.jobs) < sum(len(plan.jobs) for plan in alone)


def test_longest_first(tmp_path):
    plan = figures_plan(choose(["all"]), "quick", Store(tmp_path))
    seconds = [plan.seconds[key_of(job)] for job in plan.missing]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[0] > seconds[-1]


@pytest.mark.slow
def test_a_plan_leaves_out_what_is_stored(tmp_path):
    job = Job("dqn", "deep_sea:depth=4", 0, 5, preset="paper")
    store = Store(tmp_path)
    assert plan_of([job, job], store).missing == (job,)
    store.put(job, job.run())
    assert plan_of([job], store).missing == ()


def test_estimates_grow_with_the_work():
    base = at_most(Job("dqn", "deep_sea:depth=10", 0, 100_000, preset="paper"))
    assert (
        at_most(Job("dqn", "deep_sea:depth=10", 0, 100_000, preset="paper", changes={"updates_per_step": 5})) > 4 * base
    )
    assert at_most(Job("boot_dqn", "deep_sea:depth=10", 0, 100_000, preset="paper")) > 4 * base
    assert at_most(Job("dqn", "deep_sea:depth=50", 0, 100_000, preset="paper")) > 5 * base


def test_names():
    assert [figure.id for figure in choose(["fig7", "fig2", "fig7"])] == ["fig7", "fig2"]
    assert choose(["all"]) == list(figures().values())
    with pytest.raises(UserError, match="unknown figure 'fig22'\nhint: did you mean"):
        choose(["fig22"])
    with pytest.raises(UserError, match="unknown scale"):
        check_scale("huge")
