"""Ctrl-C and SIGTERM at the command line: runs are saved first, a message says how to go on, and they end the same."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from langevin_dqn.cli import progress, sweep
from langevin_dqn.runs import training_run
from langevin_dqn.runs.store import Store, load_results

OWN = "python:own_agents:make_six"
RUN = ["run", "--agent", OWN, "--env", "deep_sea:depth=4", "--episodes", 30, "--seeds", "0-1"]

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture
def command(langevin_dqn_command, monkeypatch, tmp_path):
    """The command in a folder of its own; runs may stop after any episode."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(training_run, "_CHUNK_SECONDS", 0.0)
    return langevin_dqn_command


@pytest.fixture
def interrupted(monkeypatch):
    """The n-th time that a board is told of progress, a signal arrives."""

    def at(n, number=signal.SIGINT, board=progress.Board):
        calls, update = [], board.update

        def counted(self, index, result):
            calls.append(index)
            if len(calls) == n:
                os.kill(os.getpid(), number)
                time.sleep(0.05)  # the main thread takes it
            update(self, index, result)

        patch = pytest.MonkeyPatch()
        patch.setattr(board, "update", counted)
        return patch

    patches = []
    yield lambda *args, **more: patches.append(at(*args, **more)) or patches[-1]
    for patch in patches:
        patch.undo()


def returns(out):
    return {seed["seed"]: seed["returns"] for seed in map(json.loads, out.splitlines())}


def test_run_is_saved_and_goes_on(command, interrupted):
    code, out, _ = command(*RUN, "--json", "--returns")
    assert code == 0
    alone = returns(out)
    assert len(alone[0]) == len(alone[1]) == 30

    patch = interrupted(8)
    code, out, err = command(
        *RUN, "--workers", 2, "--json", "--returns", "--checkpoint", "saved", "--log", "log", "--metrics-every", 8
    )
    patch.undo()
    assert (code, out) == (130, "")
    assert "stopped; 2 of 2 seeds saved in saved" in err
    hint = "hint: continue with langevin-dqn run --resume saved --json --returns --log log --metrics-every 8"
    assert err.splitlines()[-1] == hint
    code, out, err = command("run", "--resume", "saved")
    assert code == 2
    assert f"error: saved/run.json names {OWN!r}, which would import code" in err
    assert f"hint: if you trust it, pass it explicitly: --agent {OWN}" in err

    words = hint.split()[5:]
    asked = Path("saved/run.json").read_bytes()
    for more in (["--set", "bonus=0.25"], ["--episodes", 1]):
        assert command("run", *words, "--agent", OWN, *more)[0] == 2
        assert Path("saved/run.json").read_bytes() == asked
    code, out, err = command("run", *words, "--agent", OWN)
    assert code == 0, err
    assert returns(out) == alone
    rows = [json.loads(line) for line in Path("log/seed_1/metrics.jsonl").read_text().splitlines()]
    assert [row["steps"] for row in rows] == list(range(8, 121, 8))
    code, out, _ = command("run", *words, "--agent", OWN, "--episodes", 35)
    assert code == 0
    assert [len(r) for r in returns(out).values()] == [35, 35]
    assert returns(out)[0][:30] == alone[0]


def test_without_a_folder_too(command, interrupted, tmp_path):
    """Seeds that had ended are shown, the others are saved; one at a time, so that the first ends first."""
    interrupted(40)
    code, out, err = command(*RUN, "--workers", 1)
    assert code == 130
    assert "0 of 1 seed learned" in out
    assert "1 of 2 seeds saved in out/stopped/" in err
    assert "1 seed had finished" in err
    (folder,) = (tmp_path / "out" / "stopped").iterdir()
    assert json.loads((folder / "run.json").read_text())["seeds"] == "1"
    code, out, _ = command("run", "--resume", folder, "--agent", OWN, "--json")
    assert code == 0
    assert [json.loads(line)["seed"] for line in out.splitlines()] == [1]


def test_nothing_is_left_of_a_run_that_ends(command, tmp_path):
    assert command(*RUN)[0] == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--resume", "nowhere"], "cannot read nowhere/run.json: No such file or directory"),
        (["--resume", "empty"], "cannot read empty/run.json"),
        (["--resume", "damaged"], "damaged/run.json is damaged"),
        (["--resume", "asked"], "asked contains no checkpoint"),
        (["--checkpoint", "saved"], "saved already contains a checkpoint\nhint: resume with --resume saved"),
        (["--checkpoint", "file"], "cannot write to file"),
        (["--resume", "asked", "--checkpoint", "other"], "--resume and --checkpoint are different folders"),
        (["--checkpoint", "new", "--checkpoint-every", "0"], "--checkpoint-every 0 is out of range"),
        (["--log", "file"], "cannot write to file/seed_0"),
        (["--log", "logged"], "logged/seed_1/metrics.csv exists already"),
        (["--log", "new", "--log-to", "cvs"], "unknown metrics format 'cvs'\nhint: did you mean 'csv'?"),
        (["--log", "new", "--metrics-every", "0"], "--metrics-every 0 is out of range"),
        (["--returns"], "--returns needs --json\nhint: add --json"),
        (["--agent", ""], "missing option --agent"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes(command, tmp_path, words, message):
    """One line, one hint, exit code 2, before anything runs; what was there stays."""
    for name in ("empty", "damaged", "asked", "logged/seed_1", "saved/seed_1"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "saved" / "seed_1" / "checkpoint_000000000008.npz").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "damaged" / "run.json").write_text('{"agent": 7}')
    request = {"agent": OWN, "env": "deep_sea:depth=4", "seeds": "0", "preset": "recommended", "set": []}
    empty = dict.fromkeys(("episodes", "steps", "updates_per_step", "network", "members", "record"))
    (tmp_path / "asked" / "run.json").write_text(json.dumps(request | empty | {"stop_when_solved": False}))
    (tmp_path / "logged" / "seed_1" / "metrics.csv").write_text("mine")
    code, out, err = command(*RUN, *words)
    assert (code, out) == (2, ""), err
    assert [line.split(":")[0] for line in err.splitlines()] == ["error", "hint"], err
    assert message in err
    assert (tmp_path / "file").read_text() == (tmp_path / "logged" / "seed_1" / "metrics.csv").read_text() == "mine"


def test_bsuite_is_saved_in_its_store_and_goes_on(command, interrupted, tmp_path):
    words = ["bsuite", "--agents", "dqn", "--settings", "bandit/0,bandit/1", "--episodes-scale", 0.002]
    words += ["--set", "hidden=5", "--set", "batch_size=8", "--workers", 1]
    assert command(*words, "--store", "alone")[0] == 0
    patch = interrupted(3, signal.SIGTERM, sweep.Board)
    code, out, err = command(*words, "--store", "store")
    patch.undo()
    assert (code, out) == (143, "")
    assert "stopped; saved 1 unfinished run in store; finished runs are stored" in err
    assert err.splitlines()[-1] == "hint: repeat the command to continue"
    assert len(list((tmp_path / "store").glob("checkpoints/*/checkpoint_*.npz"))) == 1
    assert not Store("store").names()
    code, _, err = command(*words, "--store", "store")
    assert code == 0
    assert "resuming 1 run from a checkpoint" in err
    assert not (tmp_path / "store" / "checkpoints").exists()
    expected, found = load_results("alone"), load_results("store")
    assert expected.select("key", "returns", "updates").equals(found.select("key", "returns", "updates"))


def test_a_checkpoint_in_a_store_that_cannot_be_used_stops_nothing(command, tmp_path):
    from langevin_dqn.runs.runners import Job
    from langevin_dqn.runs.store import key_of

    job = Job(OWN, "bandit/0", 0, 4)
    folder = tmp_path / "checkpoints" / key_of(job)
    folder.mkdir(parents=True)
    (folder / "checkpoint_000000000009.npz").write_bytes(b"half")
    run = sweep.runner_of("threads", None, 1)
    assert sweep.run_missing("a test", Store(tmp_path), [job], {key_of(job): 1.0}, run) == []
    assert Store(tmp_path).get(job).episodes == 4
    assert not folder.exists()


def test_a_run_without_a_finished_episode_says_so(command):
    code, out, err = command("run", "--agent", OWN, "--env", "deep_sea:depth=9", "--steps", 5)
    assert code == 0
    assert "no episode ended within 5 steps, so there is no return\nhint: use more --steps" in out
    assert "seed 0: no episode ended within 5 steps" in err


def process(*words, **more):
    words = [sys.executable, "-m", "langevin_dqn.cli.main", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words, **pipes, **more)


LONG = ["run", "--agent", "dqn", "--env", "deep_sea:depth=5", "--episodes", 200_000, "--set", "hidden=5"]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_a_process_of_its_own(tmp_path, number, code):
    running = process(*LONG, "--checkpoint", "saved", "--checkpoint-every", 0.1, cwd=tmp_path)
    end = time.monotonic() + 200
    while not list(tmp_path.glob("saved/*/*.npz")) and time.monotonic() < end:
        time.sleep(0.05)
    running.send_signal(number)
    out, err = running.communicate(timeout=100)
    assert (running.returncode, out) == (code, "")
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "hint: continue with langevin-dqn run --resume saved"


@pytest.mark.slow
def test_a_second_one_ends_it_at_once(tmp_path):
    running = process(*LONG, cwd=tmp_path)
    time.sleep(6)  # while it compiles, or runs
    running.send_signal(signal.SIGINT)
    time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=100)
    assert running.returncode == 130
    assert "Traceback" not in err


def test_one_that_comes_while_the_process_ends_shows_no_traceback():
    """As when a program sends Ctrl-C to a process and to its group, and the first has already ended the command."""
    late = "import atexit, os, signal, sys; atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT)); "
    words = "sys.argv = ['langevin-dqn', '--version']; from langevin_dqn.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", late + words], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
