"""What the table of seeds says below itself."""

import numpy as np
import pytest

from langevin_dqn.cli.tables import agents_table, is_late, seeds_table, what_to_try
from langevin_dqn.presets import preset
from langevin_dqn.runs.result import Result

BEST = 0.99


def run(returns, *, seed=0, agent="dqn", variant="paper", **more):
    config = preset(agent, variant)
    arguments = {"max_return": BEST, "updates": 5, "seconds": 1.0, "learned_regret": 0.8, "steps": 100} | more
    return Result(agent, "deep_sea:depth=10", seed, variant, config, returns=np.array(returns, np.float32), **arguments)


LATE = [0.0] * 900 + [BEST] * 100
EARLY = [0.0] * 10 + [BEST] * 100
NEVER = [0.0] * 100


@pytest.fixture
def said(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def call(*results):
        seeds_table(results)
        out = capsys.readouterr().out
        assert "`" not in out
        assert max(map(len, out.splitlines())) <= 80
        return " ".join(out.split())

    return call


def test_learning_time_is_explained(said):
    text = said(run(EARLY))
    assert "learned at: the first episode at which the mean regret so far is below 0.8" in text
    assert "hint" not in text


def test_a_seed_that_succeeds_late_is_explained(said):
    assert is_late(run(LATE))
    text = said(run(EARLY), run(LATE, seed=1))
    assert "seed 1 succeeds in 100% of its last 100 episodes, but first at episode 901" in text
    assert "its mean regret so far is 0.89, not yet below 0.8" in text
    assert "seed 0 succeeds" not in text
    assert "hint" not in said(run(LATE))


def test_where_no_seed_learned_a_hint_says_what_to_try(said):
    text = said(run(NEVER), run(NEVER, seed=1))
    assert "hint: no seed learned; try more --episodes, --preset recommended" in text
    assert "--agent ensemble_langevin_dqn or --updates-per-step 5" in text
    best = run(NEVER, agent="ensemble_langevin_dqn", variant="recommended")
    assert what_to_try([best]) == "no seed learned; try more --episodes, --members 32 or --updates-per-step 5"
    assert "learning_rate" in what_to_try([run(NEVER, diverged="not finite")])


def test_a_run_without_a_finished_episode(said):
    text = said(run([], max_return=None, learned_regret=None, steps=1234))
    assert "seed 0: no episode ended within 1,234 steps" in text
    assert "hint: use more --steps" in text


def test_agents_table_explains_too(capsys):
    agents_table({"dqn": [run(EARLY)]}, "Agents")
    assert "learning time: the first episode at which" in " ".join(capsys.readouterr().out.split())


def test_runs_that_stopped_when_they_had_learned_show_no_share_of_their_last_episodes(said):
    until_learned = EARLY[: run(EARLY).learning_time]
    assert "last 100" not in said(run(until_learned))
    assert "last 100" in said(run(until_learned), run(NEVER, seed=1))
