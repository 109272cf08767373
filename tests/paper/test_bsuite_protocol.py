"""Which settings a sweep runs, for how long, with which seeds."""

import math

import pytest

from langevin_dqn import UserError, make_env
from langevin_dqn.analysis.public_scores import PUBLIC
from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.paper import bsuite_protocol as bsuite
from langevin_dqn.paper.bsuite_protocol import QUICK, jobs_of, logged_episodes, pass_of, protocol


def test_all_is_all_of_bsuite():
    sweep = pytest.importorskip("bsuite.sweep")
    chosen = protocol("all")
    assert chosen.ids == tuple(sweep.SWEEP)
    assert len(chosen.ids) == 468
    assert {i: chosen.episodes[i.split("/")[0]] for i in chosen.ids} == dict(sweep.EPISODES)


def test_quick_has_every_experiment_and_more_than_one_setting_where_they_differ():
    chosen = protocol("quick")
    assert QUICK.keys() == SWEEPS.keys()
    assert set(chosen.experiments) == set(SWEEPS)
    for name, (numbers, episodes) in QUICK.items():
        settings = [SWEEPS[name].settings[number] for number in numbers]
        differ = len({str(setting) for setting in SWEEPS[name].settings}) > 1
        assert len({str(setting) for setting in settings}) >= (2 if differ else 1)
        assert episodes <= SWEEPS[name].episodes
        assert episodes in logged_episodes(episodes)  # else its end would not be logged


def test_quick_spans_the_scales():
    for name in ("catch_noise", "cartpole_noise"):
        scales = [SWEEPS[name].settings[number]["noise_scale"] for number in QUICK[name][0]]
        assert scales == [0.1, 1.0, 10.0]
    assert [SWEEPS["memory_len"].settings[i]["memory_length"] for i in QUICK["memory_len"][0]] == [1, 5, 20]


def test_ids_and_experiments_by_name():
    chosen = protocol("deep_sea/3,memory_size,deep_sea/3")
    assert chosen.ids == ("deep_sea/3", *(f"memory_size/{i}" for i in range(17)))
    assert chosen.experiments == ("deep_sea", "memory_size")
    assert chosen.without(["memory_size"]).ids == ("deep_sea/3",)


@pytest.mark.parametrize(("scale", "episodes"), [(1, 10_000), (0.1, 1000), (0.15, 1400), (0.0123, 120), (1e-9, 1)])
def test_scaled_counts_are_ones_that_are_logged(scale, episodes):
    assert protocol("deep_sea/0", scale).episodes["deep_sea"] == episodes


@pytest.mark.parametrize("scale", [0, -1, math.nan, math.inf])
def test_bad_scale(scale):
    with pytest.raises(UserError, match="scale"):
        protocol("quick", scale)


@pytest.mark.parametrize("settings", ["", "quik", "deep_sea/21", "deep_sea/", "deep_sea/x", "catch,", "catch/-1"])
def test_bad_settings(settings):
    with pytest.raises(UserError, match=r"not a bsuite id|unknown value of --settings"):
        protocol(settings)


def test_logged_episodes_are_bsuites():
    wrappers = pytest.importorskip("bsuite.utils.wrappers")
    every = [e for e in range(1, 25_001) if wrappers._logarithmic_logging(e)]
    assert logged_episodes(25_000).tolist() == every
    assert logged_episodes(10_000)[-1] == 10_000
    assert logged_episodes(9_999)[-1] == 9_000


def test_no_two_runs_of_an_experiment_share_a_seed():
    """bsuite's catch/0 and catch/1 differ in nothing but their luck."""
    jobs = jobs_of("dqn", protocol("catch,memory_len"), seeds=[0, 2], preset="paper", changes={})
    assert len({(job.env.split("/")[0], job.seed) for job in jobs}) == len(jobs) == 2 * (20 + 23)
    assert [pass_of(job) for job in jobs] == [0] * 43 + [2] * 43
    assert max(len(sweep.settings) for sweep in SWEEPS.values()) <= bsuite.SEED_STRIDE


def test_every_quick_id_makes_an_environment():
    for bsuite_id in protocol("quick").without([n for n in SWEEPS if n.startswith("mnist")]).ids:
        assert make_env(bsuite_id).max_steps >= 1


def test_published_scores_are_of_every_experiment():
    for scores in PUBLIC.values():
        assert scores.keys() == SWEEPS.keys()
        assert all(0 <= score <= 1 for score in scores.values())
    assert PUBLIC["boot_dqn"]["deep_sea"] == 1.0
    assert PUBLIC["dqn"]["umbrella_length"] == 0.39
