"""A store of 10,000 runs: seconds and memory of ``status``, of loading, of ``report``, and of resuming a sweep.

The runs are those of one ``langevin-dqn compare`` of two agents on five bandits. ``--trained`` of them are really
trained; the others are these results under other seeds, stored like any run. The paper's runs in ``results/`` are
copied beside them, so that ``report`` has something to report. Then each command runs in a process of its own, first
with an empty cache folder, then with the index of the store in it. Prints wall and CPU seconds and the peak memory of
each. Exit code 1 if a command fails or exceeds its limit (in CPU seconds: wall time depends on what else runs).

    python tools/load.py
    python tools/load.py --folder out/load --keep   # uses the same store again
"""

import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options

RESULTS = Path(__file__).parents[1] / "results"
AGENTS, ENVS = ("dqn", "langevin_dqn"), tuple(f"bandit/{number}" for number in range(5))
SETTINGS = {"hidden": (4, 4), "batch_size": 4, "buffer_size": 100}
EPISODES = 20


@dataclass
class Args:
    """Measure commands on a large store."""

    runs: int = 10_000
    """Runs in the store."""
    trained: int = 200
    """Runs that are trained; the others are copies of them under other seeds."""
    folder: str = ""
    """Folder of the store. Default: a temporary one."""
    keep: bool = False
    """Use the store that is in the folder, and do not delete it."""


class Cost(NamedTuple):
    """What a process took."""

    wall: float
    cpu: float
    megabytes: float
    code: int
    last: str


class Bar(NamedTuple):
    """The most that a process may take."""

    cpu: float
    megabytes: int


BARS = {
    "status": Bar(2, 1000),
    "status --json": Bar(2, 1000),
    "load_results": Bar(5, 1000),
    "report": Bar(60, 1000),
    "compare, all stored": Bar(30, 1000),
}


def jobs_of(runs: int):
    from langevin_dqn.comparison.running import entries_of

    seeds = range(runs // (len(AGENTS) * len(ENVS)))
    return [entry.job for entry in entries_of(AGENTS, ENVS, seeds=seeds, episodes=EPISODES, common=SETTINGS)]


def compare(folder: Path, runs: int) -> list[str]:
    """The command whose runs are in the store."""
    words = ["compare", *(f"--agents={name}" for name in AGENTS), *(f"--env={name}" for name in ENVS)]
    words += [f"--seeds=0-{runs // (len(AGENTS) * len(ENVS)) - 1}", f"--episodes={EPISODES}", f"--store={folder}"]
    for name, value in SETTINGS.items():
        words.append(f"--set={name}={','.join(map(str, value)) if isinstance(value, tuple) else value}")
    return [*words, "--json"]


def fill(folder: Path, args: Args) -> None:
    """Make the store, and show the cost of ``Store.put`` alone."""
    from langevin_dqn.runs.runners import run_jobs
    from langevin_dqn.runs.store import Store

    jobs, store = jobs_of(args.runs), Store(folder)
    each = args.trained // (len(AGENTS) * len(ENVS))
    really = [job for job in jobs if job.seed < each]
    trained = {(really[i].agent, really[i].env, really[i].seed): result for i, result in run_jobs(really)}
    wall, cpu = time.perf_counter(), time.process_time()
    for job in jobs:
        store.put(job, replace(trained[job.agent, job.env, job.seed % each], seed=job.seed))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    shutil.copytree(RESULTS / "v2", folder / "v2", dirs_exist_ok=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    show(f"{args.runs:,} × Store.put", Cost(wall, cpu, memory, 0, ""))


def measured(words: Sequence[str]) -> Cost:
    """The cost of a Python process."""
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, *words], stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        output.seek(0)
        lines = output.read().decode(errors="replace").strip().splitlines()
    cpu = used.ru_utime + used.ru_stime
    return Cost(wall, cpu, used.ru_maxrss / 1024, process.returncode, lines[-1] if lines else "")


def command(*words: str) -> list[str]:
    return ["-m", "langevin_dqn.cli.main", *words]


def cases(folder: Path, args: Args) -> dict[str, list[str]]:
    load = f"import langevin_dqn; print(langevin_dqn.load_results({str(folder)!r}).height)"
    return {
        "load_results, without an index": ["-c", load],
        "status": command("status", f"--store={folder}"),
        "status --json": command("status", f"--store={folder}", "--json"),
        "load_results": ["-c", load],
        "report": command("report", f"--store={folder}", f"--out={folder}/report.html"),
        "compare, all stored": command(*compare(folder, args.runs)),
        "verify": command("verify", f"--store={folder}"),
    }


def main(args: Args) -> int:
    machine.prepare()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(args.folder or scratch) / "store"
        print("| what | wall s | CPU s | peak MB | exit code |\n|---|---|---|---|---|", flush=True)
        if not args.keep or not folder.is_dir():  # in a process of its own, whose memory is not counted with the others
            filling = multiprocessing.get_context("spawn").Process(target=fill, args=(folder, args))
            filling.start()
            filling.join()
        os.environ["XDG_CACHE_HOME"] = scratch
        for name, words in cases(folder, args).items():
            cost = measured(words)
            bar = BARS.get(name)
            late = bar is not None and (cost.cpu > bar.cpu or cost.megabytes > bar.megabytes)
            failed |= cost.code != 0 or late
            show(name + (f" (above the limit of {bar.cpu:g} s, {bar.megabytes:,} MB)" if bar and late else ""), cost)
            if cost.code:
                print(cost.last, file=sys.stderr)
    return int(failed)


def show(name: str, cost: Cost) -> None:
    print(f"| {name} | {cost.wall:.1f} | {cost.cpu:.1f} | {cost.megabytes:.0f} | {cost.code} |", flush=True)


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
