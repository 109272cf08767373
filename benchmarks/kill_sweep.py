"""A sweep whose driver and workers are killed (SIGKILL) at random moments, against one left alone.

Both sweeps write a store through worker processes. A killed driver is started again. In the
end both stores must hold the same runs with the same returns: none lost, none twice, none half
written, and no worker may outlive its driver. A third of the kills hit a worker, a third the
driver, and a third the driver at the moment it writes a file. Prints one JSON object; exit
code 1 if anything differs.

    python benchmarks/kill_sweep.py
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import tyro

from langevin_dqn import machine
from langevin_dqn.runners.job import Job


@dataclass
class Args:
    """Kill a sweep again and again, and compare."""

    kills: int = 20
    """How many."""
    runs: int = 24
    """Runs in the sweep."""
    episodes: int = 400
    """Episodes of each."""
    workers: int = 2
    """Worker processes."""
    seed: int = 0
    """Of the moments."""
    drive: str | None = None
    """Only run what this store has not, and say what was stored: what the killed driver does."""


def jobs_of(args: Args) -> list[Job]:
    kinds = [("dqn", "catch/0"), ("ensemble_langevin_dqn", "deep_sea:depth=5")]
    return [Job(*kinds[i % len(kinds)], seed=i, episodes=args.episodes) for i in range(args.runs)]


def drive(args: Args, folder: str) -> None:
    from langevin_dqn.runners import Failure, run_in_processes
    from langevin_dqn.store import Store

    store = Store(folder)
    missing = [job for job in jobs_of(args) if not store.has(job)]
    for index, result in run_in_processes(missing, workers=args.workers):
        if isinstance(result, Failure):
            print(result, file=sys.stderr)
        else:
            print(store.put(missing[index], result).stem, flush=True)


class Sweep:
    """A store, and a driver that is started as often as it takes."""

    def __init__(self, args: Args, folder: Path):
        self.args, self.folder, self.log = args, folder, folder.with_suffix(".log")
        self.starts = 0
        self.driver: subprocess.Popen | None = None

    def start(self) -> None:
        self.starts += 1
        options = [f"--{name}={getattr(self.args, name)}" for name in ("runs", "episodes", "workers")]
        with self.log.open("a") as log:
            self.driver = subprocess.Popen([sys.executable, __file__, *options, f"--drive={self.folder}"], stdout=log)

    def end(self) -> None:
        if self.driver is not None:
            self.driver.kill()
            self.driver.wait()

    def workers(self) -> list[int]:
        """Ids of the driver's workers."""
        try:
            children = Path(f"/proc/{self.driver.pid}/task/{self.driver.pid}/children").read_text().split()
            return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        except OSError:  # one has just ended
            return []

    def unfinished(self) -> set[Path]:
        return set(self.folder.glob("v*/.*.tmp"))

    def stored(self) -> int:
        return sum(1 for _ in self.folder.glob("v*/*.parquet"))

    def wait(self, seconds: float = 600, until=lambda: False) -> None:
        end = time.monotonic() + seconds
        while self.driver.poll() is None and time.monotonic() < end and not until():
            time.sleep(0.001)


def disturb(sweep: Sweep, args: Args, first: float, each: float) -> tuple[Counter, float]:
    """Kill ``args.kills`` times; how often whom, and the longest that a worker outlived its driver.

    Half of the moments follow a stored run closely, so that the sweep gets on; the others fall anywhere.
    """
    rng, count, longest = random.Random(args.seed), Counter(), 0.0
    sweep.start()
    while count.total() < args.kills:
        victim = rng.choice(["worker", "driver", "writer"])
        stored, unfinished = sweep.stored(), sweep.unfinished()
        if victim == "writer":
            sweep.wait(until=lambda before=unfinished: sweep.unfinished() - before)
        elif rng.random() < 0.5 and stored < args.runs - 2:
            sweep.wait(until=lambda before=stored: sweep.stored() > before)
            sweep.wait(rng.uniform(0, 2 * each))
        else:
            sweep.wait(rng.uniform(0, first))
        if sweep.driver.poll() is not None:
            raise SystemExit(f"the sweep was over after {count.total()} kills; give it more --runs")
        workers = sweep.workers()
        if victim == "worker":
            if not workers:
                continue
            os.kill(rng.choice(workers), signal.SIGKILL)
        else:
            sweep.end()
            longest = max(longest, seconds_until_gone(workers))
            sweep.start()
        count[victim] += 1
        print(f"kill {count.total()}: {victim}, {sweep.stored()} of {args.runs} runs stored", file=sys.stderr)
    return count, longest


def seconds_until_gone(pids: list[int]) -> float:
    start = time.monotonic()
    while time.monotonic() - start < 60 and any(map(runs, pids)):
        time.sleep(0.01)
    return time.monotonic() - start


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def pace(sweep: Sweep) -> tuple[float, float]:
    """Seconds to the first stored run, and from there to the second."""
    start = time.monotonic()
    sweep.start()
    sweep.wait(until=sweep.stored)
    first = time.monotonic() - start
    sweep.wait(until=lambda: sweep.stored() > 1)
    sweep.end()
    return first, time.monotonic() - start - first


def main(args: Args) -> int:
    machine.prepare()
    if args.drive is not None:
        drive(args, args.drive)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        sweeps = [Sweep(args, Path(folder) / name) for name in ("alone", "again", "killed")]
        alone, again, killed = sweeps
        try:
            alone.start()  # compiles, too
            alone.driver.wait()
            count, longest = disturb(killed, args, *pace(again))
            killed.driver.wait()
        finally:
            for sweep in sweeps:
                sweep.end()
        report = compare(alone, killed, args)
    report |= {"kills": dict(count), "driver_starts": killed.starts, "workers_outlived_seconds": round(longest, 2)}
    print(json.dumps(report))
    return 0 if report["same"] and longest < 10 else 1


def compare(alone: Sweep, killed: Sweep, args: Args) -> dict:
    from langevin_dqn.store import Store, key_of

    expected, found = Store(alone.folder).load(), Store(killed.folder).load()
    lists = [
        "key",
        *(name for name in expected.columns if name in ("returns", "lengths") or name.startswith("measure")),
    ]
    stored = Counter(killed.log.read_text().split())
    report = {
        "runs": found.height,
        "lost": len({key_of(job) for job in jobs_of(args)} - set(found["key"])),
        "foreign": len(set(found["key"]) - set(expected["key"])),
        "stored_twice": sum(1 for times in stored.values() if times > 1),
        "damaged": sum(1 for _ in killed.folder.glob("damaged/*")),
        "unfinished_files": len(killed.unfinished()),
        "same_returns": expected.select(lists).equals(found.select(lists)),
    }
    wrong = any(report[name] for name in ("lost", "foreign", "stored_twice", "damaged"))
    return report | {"same": expected.height == args.runs and report["same_returns"] and not wrong}


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Args)))
