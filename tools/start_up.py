"""Start-up: CPU and wall seconds to the end of the first episode, and peak memory, of ``langevin-dqn run``.

    python tools/start_up.py
    python tools/start_up.py --other ../before/src --repeats 5

Each case runs three times in a row with a cache of its own: *cold* compiles everything, *warm* is the same command
again, and *another budget* is the same run with another number of episodes. With ``--other``, a source folder of
another version, the two take turns. The median is shown. CPU seconds (of all threads, user and system) depend less on
other work on the machine than wall seconds do.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from langevin_dqn.cli.arguments import script_options

HERE = Path(__file__).resolve().parents[1] / "src"
CASES = (
    "ensemble_langevin_dqn deep_sea:depth=10",
    "ensemble_langevin_dqn deep_sea:depth=50",
    "langevin_dqn deep_sea:depth=10",
)
#: What is measured, and the episodes of each run.
KINDS = {"cold": 1, "warm": 1, "another budget": 2}


@dataclass
class Args:
    """Measure how long the first episode takes, with an empty and a filled cache of compiled programs."""

    other: Path | None = None
    """Source folder of another version, which is measured in turns with this one."""
    repeats: int = 3
    """Rounds; the median is shown."""
    cases: tuple[str, ...] = CASES
    """Agent and environment of each case, as one quoted word."""


class Cost(NamedTuple):
    """CPU seconds, wall seconds and the largest resident set in MB."""

    cpu: float
    wall: float
    memory: float


def measured(source: Path, case: str, episodes: int, cache: str) -> Cost:
    """One run of the command line in a process of its own."""
    agent, env = case.split()
    command = [sys.executable, "-m", "langevin_dqn.cli.main", "run", "--agent", agent, "--env", env, "--json"]
    settings = os.environ | {"PYTHONPATH": str(source), "XDG_CACHE_HOME": cache}
    settings.pop("JAX_COMPILATION_CACHE_DIR", None)
    start = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--episodes", str(episodes)],
        env=settings,
        cwd=cache,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {source}")
    kilobytes = used.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Cost(used.ru_utime + used.ru_stime, wall, kilobytes / 1024)


def in_turn(args: Args, sources: dict[str, Path]) -> Iterator[tuple[tuple[str, str, str], Cost]]:
    """Every case, version and kind of run, round by round."""
    for _ in range(args.repeats):
        for case in args.cases:
            for name, source in sources.items():
                with tempfile.TemporaryDirectory() as cache:
                    for kind, episodes in KINDS.items():
                        yield (case, kind, name), measured(source, case, episodes, cache)


def main(args: Args) -> None:
    sources = {"this": HERE} if args.other is None else {"other": args.other.resolve(), "this": HERE}
    costs: dict[tuple[str, str, str], list[Cost]] = {}
    for what, cost in in_turn(args, sources):
        costs.setdefault(what, []).append(cost)
        print(*what, *(round(x, 2) for x in cost), file=sys.stderr, flush=True)
    print("| agent | environment | start | version | CPU seconds | wall seconds | peak memory, MB |")
    print("|---|---|---|---|---|---|---|")
    for case in args.cases:
        for kind in KINDS:
            for name in sources:
                cpu, wall, memory = (statistics.median(column) for column in zip(*costs[case, kind, name], strict=True))
                agent, env = case.split()
                print(f"| {agent} | `{env}` | {kind} | {name} | {cpu:.2f} | {wall:.2f} | {memory:.0f} |")


if __name__ == "__main__":
    main(script_options(Args, __doc__))
