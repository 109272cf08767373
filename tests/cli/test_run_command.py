"""``langevin-dqn run`` as its users and their scripts meet it."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from langevin_dqn import machine
from langevin_dqn.cli import main as command

FIELDS = {
    "agent", "env", "seed", "preset", "episodes", "solved", "learning_time", "first_success", "total_return", "regret",
    "updates", "seconds", "config",
}  # fmt: skip
CONFIG_FIELDS = {
    "noise_variance", "learning_rate", "adam_eps", "regularizer", "prior_scale", "insertion_probability", "epsilon",
    "discount", "batch_size", "buffer_size", "target_period", "updates_per_step", "members",
}  # fmt: skip
SMALL = ["--env", "deep_sea:depth=4", "--episodes", "12", "--set", "hidden=5,5"]


@pytest.fixture(scope="session")
def subprocess_environment(tmp_path_factory):
    """A cache of its own, so that nothing is written to or read from the user's."""
    return os.environ | {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}


def run_process(environment, *argv):
    words = [sys.executable, "-m", "langevin_dqn.cli.main", *argv]
    return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=120, check=False)


@pytest.fixture
def run(monkeypatch, capsys):
    """The entry point in this process: (exit code, stdout, stderr)."""
    monkeypatch.setattr(machine, "prepare", lambda: None)

    def call(*argv):
        monkeypatch.setattr(sys, "argv", ["langevin-dqn", *argv])
        with pytest.raises(SystemExit) as stop:
            command.main()
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return call


def refuse_constant(name):
    raise AssertionError(f"{name} is not JSON")


def records(stdout):
    """One object per line, strictly JSON, sorted by seed."""
    lines = stdout.splitlines()
    return sorted((json.loads(line, parse_constant=refuse_constant) for line in lines), key=lambda r: r["seed"])


@pytest.mark.slow
def test_json_in_a_process_of_its_own(subprocess_environment):
    """stdout has one object per seed and nothing else; words go to stderr."""
    done = run_process(subprocess_environment, "run", "--agent", "dqn", *SMALL, "--seeds", "0-1", "--json")
    assert done.returncode == 0, done.stderr
    found = records(done.stdout)
    assert [r["seed"] for r in found] == [0, 1]
    for r in found:
        assert r.keys() >= FIELDS
        assert r["config"].keys() >= CONFIG_FIELDS
        assert (r["agent"], r["env"], r["preset"], r["episodes"]) == ("dqn", "deep_sea:depth=4", "recommended", 12)
        assert isinstance(r["solved"], bool)
        assert (r["learning_time"] is None) != r["solved"]
        assert r["regret"] == pytest.approx(12 * 0.99 - r["total_return"], abs=1e-4)
        assert r["updates"] == 11 * 4
        assert r["seconds"] > 0
        assert r["config"]["hidden"] == [5, 5]
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_same_seed_same_record_whatever_runs_beside_it(run):
    def record(seeds):
        code, out, _ = run("run", "--agent", "dqn", *SMALL, "--seeds", seeds, "--json")
        assert code == 0
        return {r["seed"]: {k: v for k, v in r.items() if not k.endswith("seconds")} for r in records(out)}

    assert record("1") == {1: record("0-1")[1]}


@pytest.mark.parametrize(
    ("text", "seeds"), [("3", [3]), ("0-2", [0, 1, 2]), ("0,2,7", [0, 2, 7]), ("5-5", [5]), ("0-1,6", [0, 1, 6])]
)
def test_seeds(run, text, seeds):
    code, out, _ = run("run", "--agent", "dqn", *SMALL, "--seeds", text, "--json")
    assert code == 0
    assert [r["seed"] for r in records(out)] == seeds


@pytest.mark.slow
def test_options_reach_the_configuration(run):
    code, out, _ = run(
        "run", "--agent", "langevin_dqn", *SMALL, "--preset", "released", "--updates-per-step", "2", "--members", "2",
        "--set", "discount=1", "--set", "noise_variance=0.125", "--json",
    )  # fmt: skip
    assert code == 0
    (record,) = records(out)
    config = record["config"]
    assert record["preset"] == "released"
    assert record["updates"] == 2 * 11 * 4
    assert (config["updates_per_step"], config["members"]) == (2, 2)
    assert (config["discount"], config["noise_variance"], config["regularizer_form"]) == (1, 0.125, "mean")


@pytest.mark.slow
def test_without_json_people_get_a_table(run):
    code, out, _ = run("run", "--agent", "dqn", *SMALL, "--seeds", "0-1")
    assert code == 0
    assert "deep_sea:depth=4" in out
    assert "of 2 seeds learned" in out


@pytest.mark.slow
@pytest.mark.usefixtures("quick_compilation")
def test_a_budget_of_steps_in_gymnasium(run, tmp_path):
    words = ["--agent", "dqn", "--env", "gym:CartPole-v1", "--steps", "150", "--set", "hidden=5"]
    code, out, _ = run("run", *words, "--json")
    assert code == 0
    (record,) = records(out)
    assert record["steps"] == 150
    assert record["episodes"] > 1
    assert record["learning_time"] is record["regret"] is None
    assert record["recent_return"] == pytest.approx(record["total_return"] / record["episodes"])
    code, out, _ = run("run", *words, "--plot", str(tmp_path / "returns.png"))
    assert code == 0
    assert "return, last 100" in out
    assert (tmp_path / "returns.png").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.usefixtures("quick_compilation")
def test_bandits_tell_their_regret(run, tmp_path):
    words = ["--agent", "langevin_dqn", "--env", "bandit:arms=4", "--episodes", "25", "--seeds", "0-1"]
    words += ["--set", "hidden=", "optimizer=sgd"]
    code, out, _ = run("run", *words, "--json")
    assert code == 0
    for record in records(out):
        means = np.sort(np.random.RandomState(0).standard_normal(4))
        assert 0 < record["regret"] < 25 * (means[-1] - means[0])
        assert record["regret"] != pytest.approx(25 * means[-1] - record["total_return"], abs=1e-3), "noise is in it"
        assert record["config"]["hidden"] == []
    code, out, _ = run("run", *words, "--plot", str(tmp_path / "regret.png"))
    assert code == 0
    assert "regret" in out
    assert (tmp_path / "regret.png").stat().st_size > 10_000


@pytest.mark.slow
def test_diverging_seeds_are_reported_and_others_go_on(run):
    """At depth 10 no seed meets the treasure by luck first, so none counts as solved."""
    code, out, err = run(
        "run", "--agent", "dqn", *SMALL, "--env", "deep_sea:depth=10", "--seeds", "0-2",
        "--set", "learning_rate=1e30", "--json",
    )  # fmt: skip
    assert code == 0
    found = records(out)
    assert [r["seed"] for r in found] == [0, 1, 2]
    for r in found:
        assert r["diverged"]
        assert r["solved"] is False
        assert r["learning_time"] is None
        assert r["episodes"] <= 12
    assert "Traceback" not in err


def test_a_healthy_run_is_not_called_diverged(run):
    _, out, _ = run("run", "--agent", "dqn", *SMALL, "--json")
    assert not records(out)[0]["diverged"]


BAD_INPUT = {
    "unknown agent": ["--agent", "dqnn"],
    "unknown environment": ["--agent", "dqn", "--env", "deep_see"],
    "unknown environment setting": ["--agent", "dqn", "--env", "deep_sea:dept=4"],
    "environment setting not a number": ["--agent", "dqn", "--env", "deep_sea:depth=four"],
    "bsuite id out of range": ["--agent", "dqn", "--env", "deep_sea/21"],
    "unknown preset": ["--agent", "dqn", "--preset", "papr"],
    "unknown field": ["--agent", "dqn", "--set", "learning_rte=0.1"],
    "field without value": ["--agent", "dqn", "--set", "learning_rate"],
    "field of the wrong type": ["--agent", "dqn", "--set", "learning_rate=fast"],
    "depth too small": ["--agent", "dqn", "--env", "deep_sea:depth=1"],
    "depth too large": ["--agent", "dqn", "--env", "deep_sea:depth=501"],
    "negative variance": ["--agent", "dqn", "--set", "noise_variance=-0.1"],
    "batch larger than buffer": ["--agent", "dqn", "--set", "batch_size=64", "--set", "buffer_size=32"],
    "empty seed range": ["--agent", "dqn", "--seeds", "4-0"],
    "seeds not numbers": ["--agent", "dqn", "--seeds", "a-b"],
    "no seeds": ["--agent", "dqn", "--seeds", ""],
    "no episodes": ["--agent", "dqn", "--episodes", "0"],
    "episodes not a number": ["--agent", "dqn", "--episodes", "many"],
    "no steps": ["--agent", "dqn", "--steps", "0"],
    "unknown Gymnasium environment": ["--agent", "dqn", "--env", "gym:CartPool-v1"],
    "unsupported actions": ["--agent", "dqn", "--env", "gym:Pendulum-v1"],
    "unsupported observations": ["--agent", "dqn", "--env", "gym:Blackjack-v1"],
    "dm_env path without factory": ["--agent", "dqn", "--env", "dm:bsuite.environments.catch"],
    "unknown dm_env module": ["--agent", "dqn", "--env", "dm:no.such.module:factory"],
    "no agent": [],
    "unknown option": ["--agent", "dqn", "--sedes", "1"],
    "members out of range": ["--agent", "dqn", "--members", "0"],
}


def assert_error_and_hint(code, out, err):
    assert code == 2
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 2, err
    assert lines[0].startswith("error: ")
    assert lines[1].startswith("hint: ")
    assert all(len(line.split(": ", 1)[1].strip()) > 5 for line in lines)


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input(run, name):
    assert_error_and_hint(*run("run", *BAD_INPUT[name]))


def test_bad_input_with_json_leaves_stdout_empty(run):
    assert_error_and_hint(*run("run", "--agent", "dqn", "--env", "deep_sea:depth=1", "--json"))


def test_bad_input_in_a_process_of_its_own(subprocess_environment):
    done = run_process(subprocess_environment, "run", "--agent", "dqn", "--env", "deep_see")
    assert_error_and_hint(done.returncode, done.stdout, done.stderr)
    assert "deep_sea" in done.stderr.splitlines()[1]


def test_unknown_command(run):
    assert_error_and_hint(*run("rum"))


def test_help(run):
    code, out, _ = run("--help")
    assert code == 0
    assert "run" in out
