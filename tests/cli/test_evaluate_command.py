"""``langevin-dqn run --save`` and ``langevin-dqn evaluate``."""

import json
from pathlib import Path

import numpy as np
import pytest

import langevin_dqn
from langevin_dqn.runs.runners import Job


@pytest.fixture
def saved(langevin_dqn_command, tmp_path):
    folder = tmp_path / "agents"
    code, _, err = langevin_dqn_command(
        *("run", "--agent", "dqn", "--env", "probe_action", "--seeds", "9-10", "--episodes", 200),
        *("--set", "epsilon=0.5", "--save", folder),
    )
    assert code == 0
    assert f"wrote the agents of 2 seeds to {folder}" in err
    return folder


def test_what_was_saved_plays_as_it_learned(langevin_dqn_command, saved):
    code, out, _ = langevin_dqn_command("evaluate", saved, "--episodes", 7, "--json")
    assert code == 0
    first, second = map(json.loads, out.splitlines())
    assert [first["seed"], second["seed"]] == [9, 10]  # by seed, not by letters
    assert first["returns"] == second["returns"] == [1.0] * 7
    assert (first["mean_return"], first["standard_error"], first["max_return"]) == (1.0, 0.0, 1.0)
    assert (first["agent"], first["preset"], first["env"]) == ("dqn", "paper", "probe_action")
    assert (first["trained_on"], first["trained_episodes"]) == ("probe_action", 200)

    code, out, _ = langevin_dqn_command("evaluate", saved / "seed_9.npz")
    assert code == 0
    assert "DQN on probe_action, 20 greedy episodes each" in out


def test_the_command_says_what_python_says(langevin_dqn_command, saved):
    agent = langevin_dqn.load_agent(saved / "seed_9.npz")
    returns = langevin_dqn.evaluate(agent.trained, agent.env, episodes=4, seed=3)
    code, out, _ = langevin_dqn_command("evaluate", saved / "seed_9.npz", "--episodes", 4, "--seed", 3, "--json")
    assert code == 0
    assert np.array_equal(json.loads(out)["returns"], returns)


def test_nothing_is_replaced_unasked(langevin_dqn_command, saved):
    again = ("run", "--agent", "dqn", "--env", "probe_action", "--seeds", 9, "--episodes", 5, "--save", saved)
    code, out, err = langevin_dqn_command(*again)
    assert (code, out) == (2, "")
    assert "seed_9.npz is there already" in err
    assert langevin_dqn_command(*again, "--overwrite")[0] == 0
    assert langevin_dqn.load_agent(saved / "seed_9.npz").episodes == 5


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="/proc is a folder that even root cannot write to")
@pytest.mark.parametrize("option", ["--save", "--bsuite-csv"])
def test_a_folder_that_cannot_be_written_to_is_told_before_anything_runs(langevin_dqn_command, monkeypatch, option):
    monkeypatch.setattr(Job, "run", lambda *_: pytest.fail("it ran"))
    code, out, err = langevin_dqn_command("run", "--agent", "dqn", "--env", "catch/0", option, "/proc/self")
    assert (code, out) == (2, "")
    assert "cannot write to /proc/self" in err
    assert err.count("hint:") == 1


def test_bad_input(langevin_dqn_command, saved, tmp_path):
    (tmp_path / "empty").mkdir()
    for argv, message in (
        ((), "no agent to evaluate"),
        ((tmp_path / "none.npz",), "cannot read"),
        ((tmp_path / "empty",), "has no .npz files"),
        ((saved, "--episodes", 0), "leaves nothing to run"),
        ((saved, "--env", "deep_sea:depth=4"), "an agent of probe_action cannot act in deep_sea:depth=4"),
        ((saved, "--env", "nowhere"), "unknown environment"),
    ):
        code, out, err = langevin_dqn_command("evaluate", *argv)
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("hint:") == 1
