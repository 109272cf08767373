"""Worker processes: the same returns as threads, whoever is killed on the way."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import odd_jobs
import pytest

from langevin_dqn import UserError, stopping
from langevin_dqn.runs.checkpoint import Checkpoints
from langevin_dqn.runs.runners import Failure, Job, Outputs, run_in_processes

HERE = Path(__file__).parent


def some(kind, seed=0, **fields):
    return kind("dqn", "probe_value", seed, 5, **fields)


def test_a_job_whose_worker_was_killed_is_begun_again(tmp_path):
    jobs = [some(odd_jobs.Quick, 1), some(odd_jobs.DiesAtFirst, 2, mark=str(tmp_path / "died"))]
    outcomes = dict(run_in_processes(jobs, workers=1))
    assert (tmp_path / "died").exists()
    assert {index: outcome.returns.tolist() for index, outcome in outcomes.items()} == {0: [1], 1: [2]}


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(mix, assert_same, tmp_path):
    mark = tmp_path / "died"
    mix[2] = odd_jobs.DiesOnce(**vars(mix[2]), mark=str(mark))
    assert_same(list(run_in_processes(mix, workers=2)))
    assert mark.exists()


def test_a_job_that_fails_fails_alone():
    jobs = [some(odd_jobs.Quick, 1), some(odd_jobs.Deadly, 2), some(odd_jobs.Raises, 3), some(odd_jobs.Quick, 4)]
    outcomes = dict(run_in_processes(jobs, workers=2, retries=1))
    assert {index: outcomes[index].returns.tolist() for index in (0, 3)} == {0: [1], 3: [4]}
    dead, raised = outcomes[1], outcomes[2]
    assert isinstance(dead, Failure)
    assert str(dead).startswith("dqn on probe_value, seed 2: attempt 2 of 2 ended by SIGKILL")
    assert isinstance(raised, Failure)
    assert str(raised) == "dqn on probe_value, seed 3: RuntimeError: no luck"
    assert "odd_jobs.py" in raised.details
    assert multiprocessing.active_children() == []


def test_a_users_mistake_is_raised_and_ends_the_rest(tmp_path):
    jobs = [some(odd_jobs.Waits, folder=str(tmp_path)), some(odd_jobs.Mistaken)]
    with pytest.raises(UserError, match="do it right"):
        list(run_in_processes(jobs, workers=2))
    assert multiprocessing.active_children() == []


def test_who_stops_listening_ends_the_workers(tmp_path):
    jobs = [some(odd_jobs.Quick), some(odd_jobs.Waits, folder=str(tmp_path))]
    running = run_in_processes(jobs, workers=2)
    assert next(running)[0] == 0
    assert len(multiprocessing.active_children()) == 1
    running.close()
    assert multiprocessing.active_children() == []


def test_nothing_to_run():
    assert list(run_in_processes([])) == []


def test_progress_is_received_now_and_then():
    received = []
    (outcome,) = run_in_processes([some(odd_jobs.Talkative, 7)], progress=lambda *news: received.append(news))
    assert outcome[1].returns.tolist() == [7]
    assert 1 <= len(received) <= 3
    assert all(index == 0 and result.episodes == 1 for index, result in received)


def test_a_worker_has_its_settings_before_jax_starts(settings_of_a_worker):
    ((_, result),) = run_in_processes([some(odd_jobs.Looks)])
    assert result.diverged == settings_of_a_worker


def script(body, folder):
    """A program of its own, in a process group of its own."""
    path = Path(folder) / "script.py"
    path.write_text(f"import sys\nsys.path[:0] = {[str(HERE), *sys.path]!r}\n{body}")
    with (Path(folder) / "said").open("w") as said:
        return subprocess.Popen([sys.executable, path], stderr=said, start_new_session=True, cwd=folder)


WAITING = """
import odd_jobs
from langevin_dqn.runs.runners import run_in_processes
if __name__ == "__main__":
    list(run_in_processes([odd_jobs.Waits("dqn", "probe_value", seed, folder="pids") for seed in range(2)], workers=2))
"""


def gone(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def wait_until(true, seconds):
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("ending", ["killed", "interrupted"])
def test_workers_end_with_their_parent(tmp_path, ending):
    folder = tmp_path / "pids"
    folder.mkdir()
    parent = script(WAITING, tmp_path)
    wait_until(lambda: len(list(folder.iterdir())) == 2 or parent.poll() is not None, 60)
    pids = [int(path.name) for path in folder.iterdir()]
    assert not any(map(gone, pids))
    if ending == "killed":
        parent.kill()
    else:
        for pid in pids:
            os.kill(pid, signal.SIGINT)
        time.sleep(1)
        assert not any(map(gone, pids))  # they leave it to their parent
        os.killpg(parent.pid, signal.SIGINT)  # as a terminal does
    parent.wait(20)
    wait_until(lambda: all(map(gone, pids)), 5)
    assert (tmp_path / "said").read_text().count("Traceback") == (ending == "interrupted")  # the parent's own


def test_a_script_without_a_guard_is_told(tmp_path):
    parent = script(WAITING.replace('if __name__ == "__main__":', "if True:"), tmp_path)
    assert parent.wait(60) == 1
    assert "hint: in a script, call run_in_processes under" in (tmp_path / "said").read_text()


def test_jobs_name_themselves(mix):
    assert str(mix[0]) == "langevin_dqn on deep_sea:depth=4, seed 0"
    assert str(Failure(replace(mix[1], seed=3), "why")) == "dqn on bandit/3, seed 3: why"


@pytest.mark.slow
def test_a_signal_makes_workers_save_and_stop(tmp_path, compiled):
    """The parent is asked to stop at the first progress; what was saved goes on to the same returns."""
    job = Job("dqn", "deep_sea:depth=4", 0, 4000, changes={"hidden": (8, 8)})
    jobs = [replace(job, seed=seed, outputs=Outputs(str(tmp_path / str(seed)))) for seed in range(3)]

    def stop(index, result):
        stopping.request(signal.SIGINT)

    try:
        with pytest.raises(stopping.Stopped) as caught:
            list(run_in_processes(jobs, workers=2, progress=stop))
    finally:
        stopping.withdraw()
    assert multiprocessing.active_children() == []
    assert caught.value.number == signal.SIGINT
    assert sorted(caught.value.saved) == [str(tmp_path / str(seed)) for seed in (0, 1)]
    assert Checkpoints(tmp_path / "0").steps < 16_000
    alone = replace(jobs[0], outputs=Outputs()).run()
    assert jobs[0].run().returns.tobytes() == alone.returns.tobytes()
