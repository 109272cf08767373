"""``langevin-dqn run`` with a store and with other runners."""

import json

import pytest

from langevin_dqn.runs.runners import Failure, Job
from langevin_dqn.runs.store import Store

WALK = ["run", "--agent", "python:random_walk:RandomWalk", "--env", "probe_action", "--episodes", "5"]

pytestmark = pytest.mark.usefixtures("quick_compilation")


def records(out):
    return [json.loads(line) for line in out.splitlines()]


def test_seeds_in_the_store_are_not_run_again(tmp_path, langevin_dqn_command, monkeypatch):
    store = ["--store", tmp_path, "--json"]
    code, out, err = langevin_dqn_command(*WALK, "--seeds", "0,2", *store)
    assert code == 0
    assert "2 runs, 0 of them in" in err
    first = records(out)
    code, out, err = langevin_dqn_command(*WALK, "--seeds", "0-2", *store)
    assert "3 runs, 2 of them in" in err
    second = records(out)
    assert [r["seed"] for r in second] == [0, 1, 2]
    assert [second[0], second[2]] == [
        first[i] | {"seconds": pytest.approx(first[i]["seconds"], abs=1e-3)} for i in (0, 1)
    ]
    monkeypatch.setattr(Job, "run", lambda *_: pytest.fail("a stored run was run again"))
    code, out, _ = langevin_dqn_command(*WALK, "--seeds", "0-2", *store)
    assert (code, records(out)) == (0, second)


def test_agents_to_save_are_trained_even_if_the_store_has_their_runs(tmp_path, langevin_dqn_command):
    store = tmp_path / "store"
    langevin_dqn_command(*WALK, "--store", store)
    code, _, err = langevin_dqn_command(*WALK, "--seeds", "0-1", "--store", store, "--save", tmp_path / "agents")
    assert code == 0
    assert "wrote 2 agents" in err
    assert sorted(path.name for path in (tmp_path / "agents").iterdir()) == ["seed_0.npz", "seed_1.npz"]
    assert len(Store(store).names()) == 2  # under the same names as without --save


@pytest.mark.parametrize("failed", [0, 1])
def test_a_failure_leaves_the_other_seeds(langevin_dqn_command, monkeypatch, failed):
    """Whether it comes first or last, the other seed is printed."""

    def run(jobs, **_):
        yield 1, (Failure(jobs[1], "lost") if failed == 1 else jobs[1].run())
        yield 0, (Failure(jobs[0], "lost") if failed == 0 else jobs[0].run())

    monkeypatch.setattr("langevin_dqn.runs.runners.processes.run_in_processes", run)
    code, out, err = langevin_dqn_command(*WALK, "--seeds", "0-1", "--runner", "processes", "--json")
    assert code == 1
    assert [r["seed"] for r in records(out)] == [1 - failed]
    assert f"failed: python:random_walk:RandomWalk on probe_action, seed {failed}: lost" in err


def test_no_seed_is_left(langevin_dqn_command, monkeypatch):
    monkeypatch.setattr(
        "langevin_dqn.runs.runners.processes.run_in_processes", lambda jobs, **_: iter([(0, Failure(jobs[0], "lost"))])
    )
    code, out, err = langevin_dqn_command(*WALK, "--runner", "processes")
    assert (code, out) == (1, "")
    assert "1 run failed" in err


@pytest.mark.slow
def test_worker_processes(tmp_path, langevin_dqn_command):
    alone, apart = (
        langevin_dqn_command(*WALK, "--seeds", "0-1", "--json", "--runner", runner)
        for runner in ("threads", "processes")
    )
    timing = {"seconds", "compile_seconds"}
    kept = [[{k: v for k, v in r.items() if k not in timing} for r in records(out)] for _, out, _ in (alone, apart)]
    assert kept[0] == kept[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--runner", "cloud"],
            "error: unknown runner 'cloud'\nhint: choose one of threads, processes, or --ray ADDRESS",
        ),
        (["--ray", "nowhere"], "error: 'nowhere' is not the address of a Ray cluster"),
        (["--store", __file__], f"error: {__file__} is a file"),
        (["--runner", "processes", "--save", "agents"], "error: --save works only with --runner threads"),
        (["--ray", "local", "--save", "agents"], "error: --save works only with --runner threads"),
    ],
)
def test_mistakes(tmp_path, langevin_dqn_command, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Job, "run", lambda *_: pytest.fail("a run has started"))
    code, out, err = langevin_dqn_command(*WALK, *words)
    assert (code, out) == (2, "")
    assert message in err
    assert not any(tmp_path.iterdir())
