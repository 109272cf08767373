"""Extreme settings, a few of each group of ``tools/extremes.py``: each works, is refused or ends with a reason."""

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "extremes.py"
SPEC = importlib.util.spec_from_file_location("extremes", TOOL)
extremes = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(extremes)

#: What must come of them: those of one line share a program.
EXPECTED = {
    ("numbers, dense", "noise_variance=1e+06"): "works",
    ("numbers, dense", "learning_rate=1e+06"): "works",
    ("numbers, dense", "discount=0"): "works",
    ("numbers, dense", "target_period=1"): "works",
    ("numbers, dense", "adam_eps=0"): "ended at episode",
    ("numbers, dense", "noise_variance=1e+39"): "refused: noise_variance=1e+39 is out of range",
    ("numbers, SGD", "noise_variance=1e+06"): "ended at episode",
    ("numbers, SGD", "learning_rate=1e+06"): "ended at episode",
    ("rewards, value_scaling=grow", "bandit_scale, rewards × 1e-06"): "works",
    ("rewards, value_scaling=grow", "bandit_scale, rewards × 1e+06"): "works",
    ("sizes", "buffer_size=1, batch_size=1"): "works",
    ("sizes", "buffer_size=1, batch_size=8"): "refused: batch_size=8 is larger than buffer_size=1",
}
CASES = {(case.group, case.shown): case for case in extremes.cases()}


@pytest.mark.parametrize("name", EXPECTED, ids=" ".join)
def test_extremes(name):
    words, good = extremes.outcome(CASES[name])
    assert good, words
    assert words.startswith(EXPECTED[name])


def test_a_value_that_is_not_finite_is_seen():
    """The check of the tool itself: a run that counts although a number of it is not finite."""
    import dataclasses

    import numpy as np

    from langevin_dqn import train

    result = train("dqn", "bandit/0", episodes=extremes.EPISODES, keep_agent=True, **extremes.SMALL)
    assert extremes.problems(result) == []
    spoiled = dataclasses.replace(result, returns=np.where(np.arange(result.episodes) == 3, np.nan, result.returns))
    assert "returns" in extremes.problems(spoiled)
