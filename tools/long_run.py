"""One run of a million episodes: memory, cost per episode and size of the checkpoint, by tenth of the run.

A tiny agent on a bandit, or on a Deep Sea of depth 3 with ``--env``, trained with checkpoints and metrics. A tenth of
the run counts from the first report of progress in it to the first in the next. Prints a table; exit code 1 if the last
tenth needs ``--most`` times the memory or the CPU time of the second (the first compiles).

    python tools/long_run.py
"""

import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options

TENTHS = 10


@dataclass
class Args:
    """Train for long, and watch memory and speed."""

    episodes: int = 1_000_000
    """Episodes of the run."""
    env: str = "bandit/0"
    """Environment id."""
    updates_per_step: int = 1
    """Updates per environment step."""
    checkpoint_every: float = 5.0
    """Seconds between checkpoints; 0 for none."""
    most: float = 1.5
    """Largest ratio of the last tenth to the second that is accepted."""


def resident() -> float:
    """Megabytes of memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


class Tenths:
    """Called with the result so far: notes memory and time when a tenth of the run is over."""

    def __init__(self, episodes: int, folder: Path):
        self._episodes, self._folder = episodes, folder
        self._last = (0, time.process_time(), time.perf_counter())
        self._next = episodes // TENTHS
        self.rows: list[tuple[int, float, float, float, float]] = []

    def __call__(self, result) -> None:
        if result.episodes < self._next:
            return
        done, cpu, wall = self._last
        now = (result.episodes, time.process_time(), time.perf_counter())
        ran = now[0] - done
        files = sorted(self._folder.glob("checkpoint_*.npz"))
        size = files[-1].stat().st_size / 2**20 if files else 0.0
        row = (now[0], resident(), 1e6 * (now[1] - cpu) / ran, ran / (now[2] - wall), size)
        self.rows.append(row)
        print(f"| {row[0]:,} | {row[1]:.0f} | {row[2]:.1f} | {row[3]:,.0f} | {row[4]:.1f} |", flush=True)
        self._last, self._next = now, (now[0] * TENTHS // self._episodes + 1) * self._episodes // TENTHS


def main(args: Args) -> int:
    machine.prepare()
    from langevin_dqn import train

    small = {"hidden": (4, 4), "batch_size": 4, "buffer_size": 1000, "updates_per_step": args.updates_per_step}
    with tempfile.TemporaryDirectory() as folder:
        tenths = Tenths(args.episodes, Path(folder))
        print("| episodes | resident MB | CPU µs per episode | episodes per second | checkpoint MB |")
        print("|---|---|---|---|---|", flush=True)
        saved = {"checkpoint": folder, "checkpoint_every": args.checkpoint_every} if args.checkpoint_every else {}
        rows: list[dict] = []
        result = train(
            "langevin_dqn", args.env, episodes=args.episodes, progress=tenths, on_metrics=lambda row: rows.append({}),
            metrics_every=max(args.episodes // 100, 1), **saved, **small,
        )  # fmt: skip
    memory, cost = (tenths.rows[-1][place] / tenths.rows[1][place] for place in (1, 2))
    print(f"{result.episodes:,} episodes in {result.seconds:.0f} s; last tenth divided by the second: ", end="")
    print(f"memory {memory:.2f}, CPU per episode {cost:.2f}")
    return int(max(memory, cost) > args.most)


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
