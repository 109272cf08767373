"""``langevin-dqn run --save`` and ``langevin-dqn evaluate``."""

import json
import shutil
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import langevin_dqn
from langevin_dqn.runs.runners import Job


@pytest.fixture(scope="module")
def saved_once(tmp_path_factory):
    """Two agents, as ``run --save`` writes them."""
    folder = tmp_path_factory.mktemp("agents")
    for seed in (9, 10):
        result = langevin_dqn.train(
            "dqn", "probe_action", preset="paper", seed=seed, episodes=200, epsilon=0.5, keep_agent=True
        )
        langevin_dqn.save_agent(result, folder / f"seed_{seed}.npz")
    return folder


@pytest.fixture
def saved(saved_once, tmp_path):
    return Path(shutil.copytree(saved_once, tmp_path / "agents"))


def test_run_saves_what_python_saves(langevin_dqn_command, saved_once, tmp_path):
    folder = tmp_path / "agents"
    code, _, err = langevin_dqn_command(
        *("run", "--agent", "dqn", "--env", "probe_action", "--seeds", "9-10", "--episodes", 200),
        *("--preset", "paper", "--set", "epsilon=0.5", "--save", folder),
    )
    assert code == 0
    assert f"wrote 2 agents to {folder}" in err
    for name in ("seed_9.npz", "seed_10.npz"):
        ours, theirs = (jax.tree.leaves(langevin_dqn.load_agent(f / name).trained) for f in (folder, saved_once))
        assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


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


@pytest.mark.slow
def test_nothing_is_replaced_unasked(langevin_dqn_command, saved):
    again = ("run", "--agent", "dqn", "--env", "probe_action", "--seeds", 9, "--episodes", 5, "--save", saved)
    code, out, err = langevin_dqn_command(*again)
    assert (code, out) == (2, "")
    assert "seed_9.npz exists already" in err
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
        ((saved, "--episodes", 0), "--episodes 0 is out of range"),
        ((saved, "--env", "deep_sea:depth=4"), "an agent trained on probe_action cannot act in deep_sea:depth=4"),
        ((saved, "--env", "nowhere"), "unknown environment"),
    ):
        code, out, err = langevin_dqn_command("evaluate", *argv)
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("hint:") == 1


IDS = {
    "shell": "dm:subprocess:getoutput:cmd=touch {mark}",
    "gymnasium": "gym:evil_module:Foo-v0",
    "jax": "jax:evil_module:make",
    "python": "python:evil_module:make",
}


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A module that leaves a mark when it is imported; the mark."""
    mark, folder = tmp_path / "it_ran", tmp_path / "modules"
    folder.mkdir()
    (folder / "evil_module.py").write_text(
        f"open({str(mark)!r}, 'w').close()\nfrom langevin_dqn import make_env\n\n"
        "def make(): return make_env('probe_action')\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    yield mark
    sys.modules.pop("evil_module", None)


def crafted(file, version, **said):
    """The file with other things said in it, of either version."""
    with np.load(file) as found:
        arrays = {name: found[name] for name in found.files}
    about = json.loads(str(arrays.pop("about"))) | said
    del about["checksum"]  # as somebody would who changes a file on purpose
    if version == "0.1":
        for name in ("description", "space", "num_actions"):
            del about[name]
    np.savez(file, **arrays, about=np.array(json.dumps(about)))
    return file


@pytest.mark.parametrize("version", ["0.1", "now"])
@pytest.mark.parametrize("kind", IDS)
def test_an_id_in_a_file_is_not_followed(langevin_dqn_command, saved, evil, kind, version):
    """Not by itself, and not when another environment is named: one line, one hint, exit code 2."""
    env = IDS[kind].format(mark=evil)
    code, out, err = langevin_dqn_command("evaluate", crafted(saved / "seed_9.npz", version, env=env))
    assert (code, out) == (2, "")
    error, hint = err.splitlines()
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")
    code, out, _ = langevin_dqn_command("evaluate", saved / "seed_9.npz", "--env", "probe_action", "--json")
    assert code == 0
    assert json.loads(out)["trained_on"] == env
    assert not evil.exists()


def test_an_id_that_the_user_names_is_followed(langevin_dqn_command, saved, evil):
    env = "jax:evil_module:make"
    file = crafted(saved / "seed_9.npz", "now", env=env)
    code, out, _ = langevin_dqn_command("evaluate", file, "--env", env, "--episodes", 3, "--json")
    assert code == 0
    assert json.loads(out)["returns"] == [1.0] * 3
    assert evil.exists()


@pytest.mark.parametrize("said", [{"agent": "python:evil_module:make"}, {}], ids=["agent", "network"])
def test_agents_and_networks_in_a_file_are_not_imported(langevin_dqn_command, saved, evil, said):
    with np.load(saved / "seed_9.npz") as found:
        description = json.loads(str(found["about"]))["description"]
    network = description | {"network": {"class": "evil_module:make"}}
    changed = {"description": {"version": "1"} if said else network, "config": None, **said}
    code, out, err = langevin_dqn_command("evaluate", crafted(saved / "seed_9.npz", "now", **changed))
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 2
    assert not evil.exists()
