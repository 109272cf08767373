"""``langevin-dqn bsuite``: runs, goes on where it stopped, scores and draws."""

import json
import math

import pytest

import langevin_dqn
from langevin_dqn.cli import bsuite as command_module
from langevin_dqn.cli import sweep
from langevin_dqn.runs.runners import Failure, local
from langevin_dqn.training import ALGORITHM_VERSION

VERSION = f"v{ALGORITHM_VERSION}"

TINY = ["--episodes-scale", "0.002", "--set", "hidden=4,4", "--set", "batch_size=8"]


@pytest.fixture
def run(langevin_dqn_command, monkeypatch, quick_compilation):
    monkeypatch.delenv("LANGEVIN_DQN_MNIST", raising=False)
    return lambda *argv: langevin_dqn_command("bsuite", *argv)


@pytest.fixture
def trained(monkeypatch):
    """The environments that were trained on, in order."""
    seen = []
    original = local.Job.run
    monkeypatch.setattr(local.Job, "run", lambda job, *rest: (seen.append(job.env), original(job, *rest))[1])
    return seen


def objects(out):
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in out.splitlines()]


@pytest.mark.slow
def test_runs_scores_draws_and_resumes(run, trained, tmp_path):
    words = ["--agents", "dqn", "--settings", "bandit/0,bandit/1,discounting_chain/0", "--store", tmp_path, *TINY]
    code, out, err = run(*words, "--json")
    assert code == 0
    (summary,) = objects(out)
    assert summary["agent"] == "dqn"
    assert summary["scores"].keys() == {"bandit", "discounting_chain"}
    assert all(0 <= score <= 1 for score in summary["scores"].values())
    assert summary["tags"].keys() == {"basic", "credit_assignment"}
    assert summary["tags"]["basic"] == summary["scores"]["bandit"]
    assert summary["unfinished"] == summary["diverged"] == []
    assert summary["episodes"] == {"bandit": 20, "discounting_chain": 2}
    assert summary["config"]["hidden"] == [4, 4]
    assert sorted(trained) == ["bandit/0", "bandit/1", "discounting_chain/0"]
    assert {p.name for p in tmp_path.iterdir()} == {"bars.png", "bars.pdf", "progress.json", VERSION}
    assert "3 runs, 0 of them" in err

    # The same again runs nothing; a lost run alone is done again, with the same scores.
    assert objects(run(*words, "--json")[1]) == [summary]
    assert len(trained) == 3
    store = langevin_dqn.load_results(tmp_path)
    key = store.filter(env="bandit/1")["key"].item()
    whole = (tmp_path / VERSION / f"{key}.parquet").read_bytes()
    (tmp_path / VERSION / f"{key}.parquet").write_bytes(whole[:500])
    code, out, err = run(*words, "--json")
    assert trained[3:] == ["bandit/1"]
    assert "unreadable file" in err
    (again,) = objects(out)
    assert {k: v for k, v in again.items() if k != "seconds"} == {k: v for k, v in summary.items() if k != "seconds"}

    # People get a table, with others' numbers beside ours.
    code, out, _ = run(*words)
    assert code == 0
    assert "bandit" in out
    assert "0.93" in out
    assert "published" in out

    # Another agent on the same settings runs only its own.
    code, out, _ = run(*words[2:], "--agents", "dqn,dqn:epsilon=0.5", "--json")
    assert code == 0
    assert [o["agent"] for o in objects(out)] == ["dqn", "dqn:epsilon=0.5"]
    assert len(trained) == 4 + 3


@pytest.mark.slow
def test_settings_with_one_law_get_different_seeds(run, tmp_path):
    words = ["--agents", "dqn", "--settings", "catch/0,catch/1", "--seeds", "0,3", "--store", tmp_path, *TINY]
    assert run(*words, "--json")[0] == 0
    table = langevin_dqn.load_results(tmp_path)
    assert sorted(table["seed"]) == [0, 1, 300, 301]
    assert len({tuple(returns) for returns in table["returns"].to_list()}) == 4


@pytest.mark.slow
def test_mnist_is_left_out_where_it_is_not(run, tmp_path):
    code, out, err = run(
        "--agents", "dqn", "--settings", "mnist/0,bandit/0,mnist_noise", "--store", tmp_path, *TINY, "--json"
    )
    assert code == 0
    assert objects(out)[0]["scores"].keys() == {"bandit"}
    assert "leaving out mnist, mnist_noise" in err
    assert "--mnist-dir" in err


def test_a_run_that_diverges_is_reported(run, tmp_path):
    words = ["--agents", "dqn", "--settings", "bandit/0", "--store", tmp_path, *TINY, "--set", "learning_rate=1e30"]
    (summary,) = objects(run(*words, "--json")[1])
    assert summary["unfinished"] == ["bandit"]
    assert "not finite" in summary["diverged"][0]
    _, out, _ = run(*words)
    assert "*" in out
    assert "bandit/0" in out


def test_agents_take_fields_of_their_own():
    args = command_module.Args(
        agents="dqn,boot_dqn:members=10,epsilon=0.25,ensemble_langevin_dqn", members=7, updates_per_step=5
    )
    assert command_module.parse_agents(args) == {
        "dqn": ("dqn", {"updates_per_step": 5}),
        "boot_dqn:members=10,epsilon=0.25": ("boot_dqn", {"updates_per_step": 5, "members": 10, "epsilon": 0.25}),
        "ensemble_langevin_dqn": ("ensemble_langevin_dqn", {"updates_per_step": 5, "members": 7}),
    }


BAD_INPUT = {
    "unknown agent": ["--agents", "dqnn"],
    "no agent": ["--agents", ","],
    "unknown field of an agent": ["--agents", "dqn:epsilonn=1"],
    "value out of range": ["--agents", "dqn:epsilon=2"],
    "unknown id": ["--settings", "deep_see/0"],
    "id out of range": ["--settings", "catch/20"],
    "neither quick nor all": ["--settings", "quik"],
    "no episodes": ["--episodes-scale", "0"],
    "seeds": ["--seeds", "4-0"],
    "preset": ["--preset", "papr"],
    "threshold": ["--deep-sea-threshold", "80"],
    "workers": ["--workers", "0"],
    "mnist alone without its files": ["--settings", "mnist/0"],
    "mnist folder is empty": ["--settings", "quick", "--mnist-dir", "."],
    "unknown option": ["--setting", "quick"],
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input(run, trained, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("--store", tmp_path / "store", *BAD_INPUT[name])
    assert (code, out) == (2, "")
    assert [line.split(":")[0] for line in err.splitlines()] == ["error", "hint"], err
    assert not trained
    assert not (tmp_path / "store").exists()


def test_a_store_that_is_a_file(run, trained, tmp_path):
    (tmp_path / "store").write_text("")
    code, out, err = run("--settings", "bandit/0", "--store", tmp_path / "store")
    assert (code, out) == (2, "")
    assert "is a file" in err
    assert not trained


def test_an_interrupted_sweep_keeps_what_is_done(run, tmp_path, monkeypatch):
    """Ctrl-C while the second run is going: the first is in the store, and nothing hangs."""
    from langevin_dqn.runs.store import Store

    original = Store.put

    def put_then_interrupt(store, job, result):
        original(store, job, result)
        raise KeyboardInterrupt

    words = ["--agents", "dqn", "--settings", "bandit/0,bandit/1,bandit/2", "--store", tmp_path, *TINY, "--workers", 1]
    with monkeypatch.context() as patch:
        patch.setattr(Store, "put", put_then_interrupt)
        assert run(*words)[0] == 130
    assert 1 <= len(langevin_dqn.load_results(tmp_path)) <= 2
    code, out, err = run(*words, "--json")
    assert code == 0
    assert "3 runs, 0 of them" not in err
    assert not math.isnan(objects(out)[0]["scores"]["bandit"])


def test_a_failed_run_is_exit_code_1(run, monkeypatch, tmp_path):
    def one_fails(jobs, progress):
        yield 0, Failure(jobs[0], "lost")
        for index, job in enumerate(jobs[1:], 1):
            yield index, job.run()

    monkeypatch.setattr(sweep, "runner_of", lambda *_: one_fails)
    argv = ["--agents", "dqn", "--settings", "catch/0,bandit/0", *TINY, "--store", tmp_path]
    code, out, err = run(*argv)
    assert (code, out) == (1, "")
    assert "failed: " in err
    assert "Repeat the command to try again" in err
    assert len(list(tmp_path.glob(f"{VERSION}/*.parquet"))) == 1
    monkeypatch.undo()
    assert run(*argv)[0] == 0
