"""``langevin-dqn bsuite`` killed (SIGKILL) at random moments, driver and workers, compared with one that is not.

Both sweeps write a store through worker processes. A killed command is given again. In the
end both stores must hold the same runs with the same returns: none lost, none twice, none half
written, and no worker may outlive its driver. A third of the kills hit a worker, a third the
driver, and a third the driver at the moment it writes a file. Prints one JSON object; exit
code 1 if anything differs. ``reproduce`` runs and stores through the same code.

    python tools/kill_sweep.py
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from langevin_dqn import machine
from langevin_dqn.cli.arguments import refuse, script_options
from langevin_dqn.errors import UserError

#: As many episodes as bsuite asks for in catch/0.
FULL = 10_000


@dataclass
class Args:
    """Kill a sweep again and again, and compare."""

    kills: int = 20
    """Number of kills."""
    runs: int = 24
    """Runs in the sweep: an even number, because half of them are of each agent."""
    episodes: int = 400
    """Episodes of each run."""
    workers: int = 2
    """Worker processes."""
    seed: int = 0
    """Random seed, which decides the moments."""


def command(args: Args, folder: Path) -> list[str]:
    """Half of the runs are DQN's, half the ensemble's."""
    options = {
        "agents": "dqn,ensemble_langevin_dqn",
        "settings": "catch/0",
        "seeds": f"0-{args.runs // 2 - 1}",
        "episodes-scale": args.episodes / FULL,
        "runner": "processes",
        "workers": args.workers,
        "store": folder,
    }
    return [sys.executable, "-m", "langevin_dqn.cli.main", "bsuite", *(f"--{n}={v}" for n, v in options.items())]


class Sweep:
    """A store, and a driver that is started as often as it takes."""

    def __init__(self, args: Args, folder: Path):
        self.args, self.folder, self.log = args, folder, folder.with_suffix(".log")
        self.starts = 0
        self.driver: subprocess.Popen | None = None

    def start(self) -> None:
        self.starts += 1
        with self.log.open("a") as log:
            words = command(self.args, self.folder)
            self.driver = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=log)

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
    if args.runs < 4 or args.runs % 2:
        return refuse(UserError(f"--runs {args.runs} cannot be used", "--runs must be an even number of at least 4"))
    machine.prepare()
    with tempfile.TemporaryDirectory() as folder:
        report = checked(args, Path(folder))
    print(json.dumps(report))
    good = report["same"] and report["exit_code"] == 0 and report["workers_outlived_seconds"] < 10
    return 0 if good else 1


def checked(args: Args, folder: Path) -> dict:
    """Kill a sweep in a folder, and compare; what was found."""
    sweeps = [Sweep(args, folder / name) for name in ("alone", "again", "killed")]
    alone, again, killed = sweeps
    try:
        alone.start()  # compiles, too
        alone.driver.wait()
        count, longest = disturb(killed, args, *pace(again))
        code = killed.driver.wait()
    finally:
        for sweep in sweeps:
            sweep.end()
    return compare(alone, killed, args) | {
        "exit_code": code,
        "kills": dict(count),
        "driver_starts": killed.starts,
        "workers_outlived_seconds": round(longest, 2),
    }


def compare(alone: Sweep, killed: Sweep, args: Args) -> dict:
    from langevin_dqn.runs.store import Store

    expected, found = Store(alone.folder).load(), Store(killed.folder).load()
    lists = [
        "key",
        *(name for name in expected.columns if name in ("returns", "lengths") or name.startswith("measure")),
    ]
    told = (re.fullmatch(r"\[\d+/\d+\] (.* seed \d+): .*", line) for line in killed.log.read_text().splitlines())
    stored = Counter(line[1] for line in told if line)  # the command's own word on each run, after it was stored
    assert stored, "the command told of no run"
    report = {
        "runs": found.height,
        "lost": len(set(expected["key"]) - set(found["key"])),
        "foreign": len(set(found["key"]) - set(expected["key"])),
        "stored_twice": sum(1 for times in stored.values() if times > 1),
        "damaged": sum(1 for _ in killed.folder.glob("damaged/*")),
        "unfinished_files": len(killed.unfinished()),
        "same_returns": expected.select(lists).equals(found.select(lists)),
    }
    wrong = any(report[name] for name in ("lost", "foreign", "stored_twice", "damaged"))
    return report | {"same": expected.height == args.runs and report["same_returns"] and not wrong}


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
