"""The environment benchmark measures, and shows what it measured."""

import jax
import numpy as np
import pytest

from langevin_dqn import make_env, prng
from langevin_dqn.bench import environments as bench
from langevin_dqn.environments.bsuite.sweeps import SWEEPS


def test_a_row_per_experiment(monkeypatch):
    monkeypatch.setattr(bench, "SWEEPS", {"catch": SWEEPS["catch"]})
    (row,) = bench.measure(repeats=2, seconds=0.001, say=lambda _: None)
    speed = row["steps_per_second"]
    assert row["id"] == "catch/10"
    assert row["ratio"] == pytest.approx(speed["many"] / speed["bsuite"])
    header, _, line = bench.markdown([row]).splitlines()
    assert header.count("|") == line.count("|")
    assert "catch/10" in line


def test_episodes_begin_again_where_they_end():
    """Nine steps to an episode: after 90 steps of each, ten ends of reward -1 or 1, and a ball at the top."""
    env, key = make_env("catch/0"), jax.random.key(0, impl=prng.PRNG)
    state, obs, total = bench._advance(env, key, bench._start(env, key, 8), 90)
    assert not np.asarray(state.row).any()
    assert (np.asarray(obs)[:, 0].sum(axis=1) == 1).all()
    assert (np.abs(total) <= 10).all()
    assert (np.asarray(total) % 2 == 0).all()
