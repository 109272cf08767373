"""Cost of metrics: the same run with and without them, in turns, on one core.

Each pair of runs makes the same updates, to the bit; one of the two also gives metrics to a CSV and a JSON lines
file, at the default interval. Programs are compiled before. Prints a row per case: the median over pairs of the ratio
of this process's CPU time with metrics to that without, its least and largest value, and the same on the clock.

    python tools/metrics_cost.py
"""

import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options
from langevin_dqn.runs.metric_log import METRICS_EVERY

CASES = {
    "dqn, deep_sea:depth=10": ("dqn", "deep_sea:depth=10", {"episodes": 4000}),
    "langevin_dqn, deep_sea:depth=10": ("langevin_dqn", "deep_sea:depth=10", {"episodes": 1000}),
    "ensemble_langevin_dqn, deep_sea:depth=10": ("ensemble_langevin_dqn", "deep_sea:depth=10", {"episodes": 600}),
    "ensemble_langevin_dqn, deep_sea:depth=30 (lazy)": (
        "ensemble_langevin_dqn",
        "deep_sea:depth=30",
        {"episodes": 200},
    ),
    "dqn, cartpole/0": ("dqn", "cartpole/0", {"steps": 20_000}),
    "dqn, gym:CartPole-v1": ("dqn", "gym:CartPole-v1", {"steps": 5000, "buffer_size": 10_000}),
}


@dataclass
class Args:
    """Compare runs with and without metrics."""

    pairs: int = 7
    """Pairs of runs, one with and one without metrics."""
    cases: str = ""
    """Only the cases whose name contains this text."""
    every: int = METRICS_EVERY
    """Environment steps between rows of metrics."""


def timed(agent, env, arguments, folder=None, every=METRICS_EVERY):
    """Seconds of CPU time and of the clock, rows, and the returns."""
    from langevin_dqn import MetricLog, train

    clock, cpu = time.perf_counter(), time.process_time()
    if folder is None:
        result, rows = train(agent, env, seed=1, **arguments), 0
    else:
        with MetricLog(folder) as log:
            result = train(agent, env, seed=1, on_metrics=log.write, metrics_every=every, **arguments)
        rows = len(Path(folder, "metrics.jsonl").read_text().splitlines())
    return time.process_time() - cpu, time.perf_counter() - clock, rows, result.returns.tobytes()


def main(args: Args) -> int:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    machine.prepare()
    print("| run | seconds | rows | CPU time, on / off | clock, on / off |\n|---|---|---|---|---|", flush=True)
    for name, case in CASES.items():
        if args.cases not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            timed(*case)
            timed(*case, folder, args.every)
            cpu, clock, seconds = [], [], []
            for number in range(args.pairs):
                order = [None, folder] if number % 2 else [folder, None]
                found = {where: timed(*case, where, args.every) for where in order}
                on, off = found[folder], found[None]
                assert on[3] == off[3], "metrics changed the run"
                cpu.append(on[0] / off[0])
                clock.append(on[1] / off[1])
                seconds.append(off[0])
        spread = f"{statistics.median(cpu):.3f} ({min(cpu):.3f} to {max(cpu):.3f})"
        took = statistics.median(seconds)
        print(f"| {name} | {took:.1f} | {on[2]} | {spread} | {statistics.median(clock):.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
