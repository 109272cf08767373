"""Memory and start-up, each measured in a process of its own."""

import os
import subprocess
import sys
import tempfile
import time

# Linux counts what a process was before it became another program into ru_maxrss, so VmHWM where there is one.
_MEMORY = """
import resource, sys
from pathlib import Path
from langevin_dqn import machine
machine.prepare()
from langevin_dqn import train
# Room for 2,000 episodes is written to, full or not; ten of them are enough.
env = "deep_sea:depth=50"
settings = {"preset": "paper", "members": 5}
train("ensemble_langevin_dqn", env, episodes=2_000, check_every=500, stop_when=lambda _: True, **settings)
status = Path("/proc/self/status")
if status.exists():
    print(int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2))
"""


def peak_memory_mb() -> dict[str, float]:
    """Resident set in MB of a training run at depth 50: 5 members, a buffer of 100,000, ten episodes.

    ``cold`` compiles in the same process, ``warm`` finds its programs in the cache.
    """

    def peak(cache: str) -> float:
        command = [sys.executable, "-c", _MEMORY]
        done = subprocess.run(command, env=_with_cache(cache), capture_output=True, text=True, check=True)
        return round(float(done.stdout), 1)

    with tempfile.TemporaryDirectory() as cache:
        return {"cold": peak(cache), "warm": peak(cache)}


def _with_cache(folder: str) -> dict[str, str]:
    environment = os.environ | {"XDG_CACHE_HOME": folder}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    return environment


def startup_seconds() -> dict[str, float]:
    """Seconds of ``--help``, and from start to the end of the first episode, cold and with a warm cache."""

    def seconds(*arguments: str, cache: str) -> float:
        start = time.perf_counter()
        command = [sys.executable, "-m", "langevin_dqn.cli.main", *arguments]
        subprocess.run(command, env=_with_cache(cache), capture_output=True, check=True)
        return round(time.perf_counter() - start, 2)

    one_episode = ("run", "--agent", "ensemble_langevin_dqn", "--env", "deep_sea:depth=10", "--episodes", "1", "--json")
    with tempfile.TemporaryDirectory() as cache:
        return {
            "langevin-dqn --help": min(seconds("--help", cache=cache) for _ in range(3)),
            "first episode, with compilation": seconds(*one_episode, cache=cache),
            "first episode, compiled programs cached": seconds(*one_episode, cache=cache),
        }
