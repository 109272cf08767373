"""Ray: the same returns as threads, also when a node dies."""

import os
import socket
import sys
import threading
import time
import warnings
from pathlib import Path

import odd_jobs
import pytest

from langevin_dqn import UserError
from langevin_dqn.runs.runners import Failure, run_on_ray, worker
from langevin_dqn.training import ALGORITHM_VERSION

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

SMALL = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}


@pytest.fixture(scope="module", autouse=True)
def nodes_find_odd_jobs():
    """Nodes inherit the environment of this process, not its path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        yield


@pytest.fixture(scope="module")
def cluster(compiled):
    """A node with one core; tests may add others."""
    nodes = Cluster(initialize_head=True, head_node_args=SMALL)
    yield nodes
    nodes.shutdown()


def some(kind, seed=0):
    return kind("dqn", "probe_value", seed, 5)


@pytest.mark.slow
def test_a_killed_node_changes_nothing(cluster, mix, assert_same, tmp_path):
    second = cluster.add_node(**SMALL)
    cluster.wait_for_nodes()
    mark = tmp_path / "stalled"
    jobs = [odd_jobs.StallsOnNode(**vars(job), node=second.node_id, mark=str(mark)) for job in mix]

    def kill_when_stalled():
        while not mark.exists():
            time.sleep(0.05)
        cluster.remove_node(second, allow_graceful=False)

    killer = threading.Thread(target=kill_when_stalled, daemon=True)
    killer.start()
    seen = []
    pairs = list(run_on_ray(jobs, address=cluster.address, progress=lambda index, _: seen.append(index)))
    assert_same(pairs)
    assert seen == [index for index, _ in pairs]
    killer.join(30)
    assert not killer.is_alive()
    assert not ray.is_initialized()


def test_a_job_that_fails_fails_alone(cluster):
    jobs = [some(odd_jobs.Deadly, 1), some(odd_jobs.Raises, 2), some(odd_jobs.Quick, 3)]
    outcomes = dict(run_on_ray(jobs, address=cluster.address, workers=1, retries=0))
    assert outcomes[2].returns.tolist() == [3]
    assert all(isinstance(outcomes[index], Failure) for index in (0, 1))
    assert str(outcomes[0]).startswith("dqn on probe_value, seed 1: WorkerCrashedError")
    assert str(outcomes[1]) == "dqn on probe_value, seed 2: RuntimeError: no luck"


def test_a_users_mistake_is_raised_and_a_callers_cluster_kept(cluster):
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        with pytest.raises(UserError, match="do it right"):
            list(run_on_ray([some(odd_jobs.Mistaken), some(odd_jobs.Quick)]))
        assert ray.is_initialized()
    finally:
        ray.shutdown()


@pytest.mark.slow
def test_a_task_on_this_machine_has_its_settings_before_jax_starts(settings_of_a_worker):
    ((_, result),) = run_on_ray([some(odd_jobs.Looks)], workers=1)
    assert result.diverged == settings_of_a_worker
    assert not ray.is_initialized()


def test_a_node_with_another_version_of_the_algorithm_is_told():
    outcome = worker.task(some(odd_jobs.Quick), ALGORITHM_VERSION + 1)
    assert isinstance(outcome, UserError)
    assert "the same version" in outcome.hint


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize(
    "address",
    [f"127.0.0.1:{closed_port()}", "nonsense", "no.such.host.invalid:6379"],
    ids=["nobody listens", "no address", "no host"],
)
def test_no_cluster_is_told_at_once(address):
    began = time.monotonic()
    with pytest.raises(UserError, match="hint: start one with ray start"):
        list(run_on_ray([some(odd_jobs.Quick)], address=address))
    assert time.monotonic() - began < 15


def test_no_cluster_to_be_found_is_told(monkeypatch):
    def init(**settings):
        assert settings["address"] == "auto"
        raise ConnectionError("Could not find any running Ray instance. Please specify `--address` flag.\nMore words.")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(UserError) as error:
        list(run_on_ray([some(odd_jobs.Quick)], address="auto"))
    assert error.value.message == "cannot use a Ray cluster at auto: Could not find any running Ray instance."


def test_starting_ray_shows_no_warning_about_forks(monkeypatch, recwarn):
    def init(**_):
        warnings.warn("os.fork() was called. os.fork() is incompatible with …", RuntimeWarning, stacklevel=1)  # JAX's
        warnings.warn("another one", RuntimeWarning, stacklevel=1)
        raise ConnectionError("far enough")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(UserError, match="far enough"):
        list(run_on_ray([some(odd_jobs.Quick)], address="auto"))
    assert [str(one.message) for one in recwarn] == ["another one"]


def test_ray_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"pip install 'langevin-dqn\[ray\]'"):
        list(run_on_ray([some(odd_jobs.Quick)]))
