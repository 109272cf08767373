"""``langevin-dqn compare`` as its users and their scripts meet it."""

import json

import pytest

from langevin_dqn.cli.main import find_own_modules
from langevin_dqn.runs.runners import Failure, Job
from langevin_dqn.runs.store import Store

WALK, RLSVI = "python:random_walk:RandomWalk", "python:tabular_rlsvi:TabularRLSVI"
TWO = ["--agents", f"{WALK},{RLSVI}", "--env", "deep_sea:depth=3,jax:own_environment:lock:digits=2", "--episodes", "20"]

DQN = ["--agents", "dqn", "--env", "catch"]

pytestmark = pytest.mark.usefixtures("quick_compilation")


def test_a_table_and_a_picture(tmp_path, langevin_dqn_command):
    store, plot = tmp_path / "store", tmp_path / "c.png"
    code, out, err = langevin_dqn_command("compare", *TWO, "--seeds", "0-2", "--store", store, "--plot", plot)
    assert code == 0
    assert "20 episodes per run, recommended presets" in out
    assert "95% interval" in out
    words = " ".join(out.split())
    assert "all 2, normalised" in words
    assert "lock:digits=2 RandomWalk" in words
    assert "95%, percentile bootstrap over seeds, stratified by environment, 10,000 resamples; no interval" in words
    assert "0 and 1 are the lowest and the highest score of any run in this table" in words
    assert "12 runs, 0 of them in" in err
    assert "[12/12]" in err
    assert plot.stat().st_size > 10_000
    assert len(Store(store).names()) == 12

    code, out, err = langevin_dqn_command(
        "compare", *TWO, "--seeds", "0-2", "--store", store, "--json", "--score", "mean"
    )
    assert code == 0
    assert "12 runs, 12 of them in" in err
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["env"], row["agent"]) for row in rows[:2]] == [("deep_sea:depth=3", WALK), ("deep_sea:depth=3", RLSVI)]
    assert len(rows) == 6
    assert all(row["low"] <= row["iqm"] <= row["high"] for row in rows)
    assert rows[0].keys() >= {"seeds", "normalised", "learned", "diverged", "level", "resamples"}
    assert rows[0]["score"] == "mean_return"
    assert rows[1]["iqm"] > rows[0]["iqm"]  # it learns


def test_options_may_be_repeated_and_crossed(tmp_path, langevin_dqn_command):
    words = ["--agents", WALK, "--agents", RLSVI, "--env", "deep_sea:depth=3", "deep_sea:depth=4"]
    words += ["--grid", "noise_variance=0.01,1"]
    code, out, _ = langevin_dqn_command(
        "compare", *words, "--seeds", "0", "--episodes", "3", "--store", tmp_path, "--json",
    )  # fmt: skip
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["agent"] for row in rows[:3]] == [WALK, f"{RLSVI}:noise_variance=0.01", f"{RLSVI}:noise_variance=1"]
    assert [row["env"] for row in rows[:6]] == ["deep_sea:depth=3"] * 3 + ["deep_sea:depth=4"] * 3
    assert rows[0]["low"] is None


def test_a_failed_run_leaves_the_others(tmp_path, langevin_dqn_command, monkeypatch):
    def run(jobs, **_):
        yield 0, Failure(jobs[0], "lost")
        yield 1, jobs[1].run()

    monkeypatch.setattr("langevin_dqn.runs.runners.processes.run_in_processes", run)
    words = ["--agents", WALK, "--env", "probe_action", "--seeds", "0-1", "--steps", "5", "--store", tmp_path]
    code, out, err = langevin_dqn_command("compare", *words, "--runner", "processes")
    assert code == 1
    assert "1 run failed; the others are stored. Repeat the command to try again" in err
    assert "At most 5 steps per run" in out
    code, _, err = langevin_dqn_command("compare", *words)
    assert (code, "[1/1]" in err) == (0, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--env", "catch"], "error: no agents to compare\nhint: for example, --agents dqn,langevin_dqn\n"),
        (["--agents", "dqn"], "error: no environments to run\n"),
        (["--agents", "dqq", "--env", "catch"], "error: unknown agent 'dqq'\nhint: did you mean 'dqn'"),
        ([*DQN, "--grid", "epsilon="], "error: the grid of epsilon is empty\n"),
        ([*DQN, "--grid", "epsylon=1"], "error: unknown field 'epsylon'\n"),
        ([*DQN, "--seeds", "x"], "error: seeds 'x' cannot be read\n"),
        (["--agents", "dqn,dqn", "--env", "catch"], "error: agent 'dqn' is named twice\n"),
        (["--agents", "dqn", "--env", "cathc"], "error: unknown environment 'cathc'\nhint: did you mean 'catch'?\n"),
        ([*DQN, "--x", "time"], "error: unknown axis 'time'\n"),
        ([*DQN, "--score", "best"], "error: unknown score 'best'\n"),
        ([*DQN, "--reference", "deep_sea=0,1"], "error: unknown environment of --reference"),
        ([*DQN, "--reference", "catch=1,0"], "error: --reference 'catch=1,0' is not a range"),
        ([*DQN, "--runner", "cloud"], "error: unknown runner 'cloud'\n"),
        ([*DQN, "--workers", "0"], "error: --workers 0 is out of range\n"),
        ([*DQN, "--episodes", "0"], "error: --episodes 0 is out of range\n"),
        ([*DQN, "--set", "epsilon"], "error: 'epsilon' is not of the form field=value\n"),
        ([*DQN, "--plot", "c.gif"], "error: cannot write a picture to c.gif\n"),
        ([*DQN, "--plots", "c.png"], "error: unknown option --plots\n"),
    ],
)  # fmt: skip
def test_mistakes_are_found_before_anything_runs(tmp_path, langevin_dqn_command, monkeypatch, words, message):
    monkeypatch.setattr(Job, "run", lambda *_: pytest.fail("a run has started"))
    code, out, err = langevin_dqn_command("compare", *words, "--store", tmp_path / "store")
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 2
    assert not (tmp_path / "store").exists()


def test_ids_in_a_list_are_looked_for_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["/elsewhere"])
    find_own_modules(["compare", "--agents", "dqn,boot_dqn"])
    import sys

    assert sys.path == ["/elsewhere"]
    find_own_modules(["compare", "--agents", "dqn,python:mine:Agent"])
    assert sys.path[0] == str(tmp_path)
