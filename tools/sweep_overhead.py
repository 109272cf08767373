"""A sweep of 1,000 tiny runs in worker processes: the driver's memory and CPU time, by tenth of the sweep.

The sweep is ``langevin-dqn compare --runner processes`` on a bandit. The driver starts workers, gives them jobs, stores
their results and shows progress; its memory and its CPU seconds per run should not grow. Prints a table; exit code 1 if
the last tenth needs ``--most`` times the memory or the CPU time per run of the second.

    python tools/sweep_overhead.py
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options

TENTHS = 10
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Args:
    """Watch the driver of a sweep."""

    runs: int = 1000
    """Runs in the sweep."""
    episodes: int = 5
    """Episodes of each run."""
    workers: int = 2
    """Worker processes."""
    most: float = 1.5
    """Largest ratio of the last tenth to the second that is accepted."""


def used(pid: int) -> tuple[float, float]:
    """Resident megabytes and CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20, (int(fields[11]) + int(fields[12])) / TICKS


def main(args: Args) -> int:
    machine.prepare()
    with tempfile.TemporaryDirectory() as folder:
        small = [f"--set={text}" for text in ("hidden=4,4", "batch_size=4", "buffer_size=100")]
        what = ["--agents=dqn", "--env=bandit/0", f"--seeds=0-{args.runs - 1}", f"--episodes={args.episodes}"]
        how = ["--runner=processes", f"--workers={args.workers}", "--json", f"--store={folder}/store"]
        words = [sys.executable, "-m", "langevin_dqn.cli.main", "compare", *what, *small, *how]
        driver = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print("| runs stored | driver's resident MB | driver's CPU ms per run | runs per second |\n|---|---|---|---|")
        rows, last, following = [], (0, 0.0, time.perf_counter()), args.runs // TENTHS
        while driver.poll() is None:
            time.sleep(0.1)
            done = sum(1 for _ in Path(folder).glob("store/v*/*.parquet"))
            if done < following or following > args.runs:
                continue
            try:
                memory, cpu = used(driver.pid)
            except (OSError, IndexError):  # it has just ended
                break
            now = (done, cpu, time.perf_counter())
            ran = done - last[0]
            rows.append((memory, 1000 * (cpu - last[1]) / ran))
            print(f"| {done:,} | {memory:.0f} | {rows[-1][1]:.1f} | {ran / (now[2] - last[2]):.1f} |", flush=True)
            last, following = now, (done * TENTHS // args.runs + 1) * args.runs // TENTHS
    ratios = [rows[-1][place] / rows[1][place] for place in (0, 1)]
    print(f"last tenth divided by the second: memory {ratios[0]:.2f}, CPU per run {ratios[1]:.2f}")
    return int(driver.returncode != 0 or max(ratios) > args.most)


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
