"""What is asked of every case of bad input: a documented end, no traceback, nothing outside its folder, no hang.

A case is a function of a folder. It calls commands or functions of the package, and raises ``Broken`` where a promise
is not kept. Training is replaced by a made-up result: what is tested is what comes before and after it.
"""

import contextlib
import io
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from unittest import mock

import numpy as np

#: A case may take this many seconds of the processor, and of the clock on a busy machine.
MOST_CPU, MOST_SECONDS = 10.0, 60
#: Bytes by which the largest size of the process may grow in one case.
MOST_MEMORY = 2**30
DOCUMENTED = {0, 1, 2}


class Broken(Exception):  # noqa: N818
    """A promise that was not kept."""


class Hang(BaseException):
    """A case that does not end; no ``except Exception`` holds it."""


def call(*argv):
    """The command's exit code, stdout and stderr; it must end as documented, with one line and one hint if at all."""
    from langevin_dqn.cli import main

    out, err = io.StringIO(), io.StringIO()
    try:
        with (
            mock.patch.object(sys, "argv", ["langevin-dqn", *argv]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            main.main()
        raise Broken("main returned")
    except SystemExit as stop:
        code = stop.code
    except Exception as error:
        raise Broken(f"{argv}: {type(error).__name__}: {error}\n{traceback.format_exc()}") from error
    said = err.getvalue()
    if code not in DOCUMENTED or "Traceback" in said:
        raise Broken(f"{argv}: exit code {code}\n{said}")
    if code == 2 and not (said.count("error: ") == 1 and "\nhint: " in said):
        raise Broken(f"{argv}: no error with a hint\n{said}")
    if "\x1b" in said + out.getvalue():
        raise Broken(f"{argv}: an escape sequence reaches the terminal")
    if "--json" in argv:
        for line in out.getvalue().splitlines():
            json.loads(line, parse_constant=_refuse)
    return code, out.getvalue(), said


def _refuse(word):
    raise Broken(f"--json prints {word}")


def ask(function, *args, **kwargs):
    """What a function of the package returns; None where it refuses its arguments with a ``UserError``."""
    from langevin_dqn import UserError

    try:
        return function(*args, **kwargs)
    except UserError as error:
        if "\n" in error.message or not error.hint:
            raise Broken(f"{function.__name__}{args}{kwargs}: {error.message!r}, {error.hint!r}") from error
        return None
    except OSError:
        return None  # of a path that Python itself refuses
    except Exception as error:
        words = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
        raise Broken(f"{getattr(function, '__name__', function)}{args}{kwargs}: {words}") from error


def run(case):
    """Run one case in a folder of its own."""
    home = Path(tempfile.mkdtemp(prefix="fuzz_"))
    inside, outside = home / "inside", home / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "precious").write_text("as it was")
    here, cpu, size = os.getcwd(), time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = signal.signal(signal.SIGALRM, _hang)
    signal.alarm(MOST_SECONDS)
    try:
        os.chdir(inside)
        case(inside)
    except Hang:
        raise Broken(f"no end within {MOST_SECONDS} s\n{traceback.format_exc()}") from None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        os.chdir(here)
        found = sorted(path.name for path in home.iterdir()), sorted(path.name for path in outside.iterdir())
        content = (outside / "precious").read_text()
        shutil.rmtree(home, ignore_errors=True)
    if found != (["inside", "outside"], ["precious"]) or content != "as it was":
        raise Broken(f"files outside of the folder: {found}, {content!r}")
    spent, grown = time.process_time() - cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size
    if spent > MOST_CPU:
        raise Broken(f"{spent:.1f} s of the processor")
    if 1024 * grown > MOST_MEMORY:
        raise Broken(f"{grown / 2**20:.1f} GB of memory")


def _hang(number, frame):
    raise Hang


# -- without training -----------------------------------------------------------------


_MEASURES = ("total_regret", "total_perfect", "total_bad_episodes", "raw_return", "best_episode", "denoised_return")


def made_up(job, progress=None):
    """A result without a run: three episodes."""
    from langevin_dqn.config import AgentConfig
    from langevin_dqn.presets import AGENTS, preset
    from langevin_dqn.runs.result import Result

    del progress
    known = job.agent in AGENTS
    config = preset(job.agent, job.preset, env=job.env, **job.changes) if known else AgentConfig()
    returns = np.array([0.0, 0.99, np.inf if job.seed == 7 else 0.99], np.float32)
    return Result(
        job.agent, job.env, job.seed, job.preset, config, 0.99, returns, 3, 0.1,
        lengths=np.full(3, 4, np.int32), steps=12, learned_regret=0.8,
        measures={name: np.ones(3, np.float32) for name in _MEASURES} if "/" in job.env else {},
    )  # fmt: skip


@contextlib.contextmanager
def without_training():
    """No run is trained, no agent evaluated, and agents are not traced, all of which other tests do."""
    from langevin_dqn import machine
    from langevin_dqn.agents import registry
    from langevin_dqn.cli import status
    from langevin_dqn.loops import evaluation
    from langevin_dqn.runs.runners.job import Job

    def evaluate(trained, environment, episodes=20, seed=0):
        del trained, environment, seed
        return np.zeros(min(episodes, 5))

    patches = [
        mock.patch.object(status, "_count", return_value=[0, 0]),  # the keys of thousands of runs
        mock.patch.object(machine, "prepare", return_value=None),
        mock.patch.object(Job, "run", made_up),
        mock.patch.object(evaluation, "evaluate", evaluate),
    ]
    if hasattr(registry, "check_fits"):
        patches.append(mock.patch.object(registry, "check_fits", return_value=None))
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        yield
