"""What a result says of its returns: worked out by hand."""

import numpy as np
import pytest

from langevin_dqn.presets import preset
from langevin_dqn.runs.result import Result

CONFIG = preset("dqn", "paper")


def result(returns, **about):
    returns = np.asarray(returns, np.float32)
    known = {"max_return": 1.0, "learned_regret": 0.8, "steps": 7, "lengths": np.ones(len(returns), np.int32)} | about
    return Result("dqn", "catch", 0, "paper", CONFIG, returns=returns, updates=3, seconds=1.0, **known)


def test_regret_is_what_the_best_policy_would_have_earned_more():
    assert result([0.25, 1.0, 0.5]).regret == 1.25
    assert result([0.25, 1.0], max_return=None).regret is None
    assert result([]).regret is None


def test_regret_is_measured_where_the_environment_does_so():
    measured = {"regret": np.array([0.5, 0.25], np.float32)}
    assert result([9.0, 9.0], measures=measured).regret == 0.75
    assert result([9.0, 9.0], measures=measured, max_return=None).regret == 0.75
    assert result([], measures={"regret": np.zeros(0, np.float32)}).regret is None


def test_the_last_hundred_episodes():
    run = result([1.0] * 50 + [0.0] * 60 + [1.0] * 40)
    assert (run.episodes, run.recent_return, run.success_share) == (150, pytest.approx(0.4), pytest.approx(0.4))
    assert run.total_return == 90
    assert (result([]).recent_return, result([]).total_return) == (None, 0)
    assert result([1.0], max_return=None).success_share is None


def test_when_it_learned():
    run = result([0.0, 0.0, 0.0, 1.0, 1.0])
    assert (run.solved, run.learning_time, run.first_success) == (True, 4, 4)
    for about in ({"max_return": None}, {"learned_regret": None}, {"diverged": "by episode 2"}):
        other = result([0.0, 0.0, 0.0, 1.0, 1.0], **about)
        assert (other.solved, other.learning_time) == (False, None)


@pytest.mark.parametrize(
    ("returns", "about", "outcome"),
    [
        ([0.0, 0.0, 0.0, 1.0, 1.0], {}, "mean return of the last 5 episodes 0.4, learned at episode 4"),
        ([0.0, 0.0], {}, "mean return of the last 2 episodes 0, not learned"),
        ([0.5] * 200, {"learned_regret": None}, "mean return of the last 100 episodes 0.5"),
        ([], {}, "no episode ended"),
        ([1.0], {"diverged": "the weights were not finite"}, "the weights were not finite"),
    ],
)
def test_in_three_lines(returns, about, outcome):
    count = f"{len(returns):,} episodes"
    assert str(result(returns, **about)).splitlines() == [
        f"dqn (paper) on catch, seed 0: {count}",
        outcome,
        "7 steps, 3 updates, 1.0 s",
    ]


def test_json_has_every_summary():
    run = result([0.0, np.nan, 1.0])
    found = run.to_dict(returns=True)
    assert found["returns"] == [0.0, None, 1.0]
    assert found["lengths"] == [1, 1, 1]
    assert (found["episodes"], found["steps"], found["updates"], found["seconds"]) == (3, 7, 3, 1.0)
    assert "returns" not in run.to_dict()
    assert found["config"] == CONFIG.to_dict()
