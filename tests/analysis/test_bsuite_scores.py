"""Scores equal bsuite's own, on logs of made-up agents; see tools/bsuite_score_oracle.py."""

import json
import math
from pathlib import Path

import polars as pl
import pytest

from langevin_dqn import UserError
from langevin_dqn.analysis import bsuite_log, bsuite_scores, bsuite_summary
from langevin_dqn.environments.bsuite.sweeps import SWEEPS

DATA = Path(__file__).parents[1] / "data"
EXPECTED = json.loads((DATA / "bsuite_expected.json").read_text())


@pytest.fixture(scope="module")
def logs():
    table = pl.read_parquet(DATA / "bsuite_logs.parquet").with_columns(seed=0)
    return bsuite_log.with_settings(table)


@pytest.fixture(scope="module")
def scores(logs):
    return bsuite_summary.score_agents(logs)


def assert_same(found, expected):
    if expected is None:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(expected, abs=1e-9)


def test_the_oracle_knows_every_experiment():
    assert len(SWEEPS) == 23
    for agent in EXPECTED.values():
        assert agent["scores"].keys() == SWEEPS.keys()
    spread = {name: {agent["scores"][name] for agent in EXPECTED.values()} for name in SWEEPS}
    assert all(len(values) > 2 for values in spread.values())


@pytest.mark.parametrize("experiment", SWEEPS)
@pytest.mark.parametrize("agent", EXPECTED)
def test_scores_equal_those_of_bsuite(scores, agent, experiment):
    (row,) = scores.filter(agent=agent, experiment=experiment).to_dicts()
    assert_same(row["score"], EXPECTED[agent]["scores"][experiment])
    assert row["finished"] == EXPECTED[agent]["finished"][experiment]
    assert row["settings"] == len(SWEEPS[experiment].settings)


@pytest.mark.parametrize("agent", EXPECTED)
def test_tags_equal_those_of_bsuite(scores, agent):
    found = bsuite_summary.score_tags(scores.filter(agent=agent))
    assert dict(found.select("tag", "score").iter_rows()) == pytest.approx(EXPECTED[agent]["tags"], abs=1e-9)
    assert sorted(found["tag"]) == list(bsuite_summary.TAGS)


@pytest.mark.parametrize("agent", EXPECTED)
def test_the_looser_threshold_of_the_deep_sea(logs, agent):
    seas = logs.filter(agent=agent, bsuite_env="deep_sea")
    assert_same(bsuite_scores.score("deep_sea", seas, solved_share=0.9), EXPECTED[agent]["deep_sea at 0.9"])


def test_the_order_of_rows_does_not_matter(logs, scores):
    shuffled = bsuite_summary.score_agents(logs.sample(fraction=1, shuffle=True, seed=0))
    key = ["agent", "experiment"]
    assert shuffled.sort(key)["score"].to_list() == pytest.approx(scores.sort(key)["score"].to_list(), nan_ok=True)


def test_a_shorter_protocol_is_scored_at_its_own_end(logs):
    """The run of 1,000 images that is all there is counts as finished, and its last tenth as the end."""
    short = logs.filter(pl.col("episode") <= 1000, agent="halfway", bsuite_env="mnist")
    assert math.isnan(bsuite_scores.score("mnist", short))
    assert 0 <= bsuite_scores.score("mnist", short, episodes=1000) <= 1
    assert not bsuite_scores.is_finished("mnist", short)
    assert bsuite_scores.is_finished("mnist", short, 1000)


def test_experiments_by_type_are_all_experiments():
    assert sorted(name for names in bsuite_summary.BY_TYPE.values() for name in names) == sorted(SWEEPS)
    for kind, names in bsuite_summary.BY_TYPE.items():
        assert all(SWEEPS[name].tags[0] == kind for name in names)


def test_nothing_logged_is_no_score(logs):
    assert math.isnan(bsuite_scores.score("catch", logs.head(0)))


def test_unknown_experiment(logs):
    with pytest.raises(UserError, match="catch"):
        bsuite_scores.score("catcch", logs)
