"""Flip single bits in stored runs and saved agents, and count those that change what is read without detection.

    python tools/flip_bits.py --bits 600

Every file is checked as ``langevin-dqn verify`` and ``load_agent`` check it. A flipped bit is harmless if what is read
is still what was written: the file formats have bytes that nothing depends on.
"""

import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import langevin_dqn
from langevin_dqn.array_files import ArrayFile
from langevin_dqn.cli.arguments import script_options
from langevin_dqn.runs import run_files
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store

SMALL = {"hidden": (4,), "batch_size": 8}


def read_run(path):
    """What a stored run holds, or None if it is refused."""
    table = run_files.read(path)
    return None if table is None else {name: _plain(value) for name, value in table.row(0, named=True).items()}


def read_agent(path):
    try:
        file = ArrayFile.open(path)
        arrays = file.load()
    except (ValueError, OSError):
        return None
    return {"about": file.about} | {
        name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()
    }


def _plain(value):
    return np.asarray(value).tolist() if hasattr(value, "__len__") and not isinstance(value, str) else repr(value)


def made(home):
    """Files of both kinds, and how each is read."""
    jobs = [
        Job("dqn", env, seed, 30, preset="paper", changes=SMALL)
        for env in ("deep_sea:depth=4", "catch/0")
        for seed in (0, 1)
    ]
    store = Store(home / "store")
    found = [(store.put(job, job.run()), read_run) for job in jobs]
    result = langevin_dqn.train(
        "langevin_dqn", "deep_sea:depth=4", episodes=5, keep_agent=True, preset="paper", **SMALL
    )
    return [*found, (langevin_dqn.save_agent(result, home / "agent.npz"), read_agent)]


def flip(path, read, place):
    """``noticed``, ``harmless`` or ``UNNOTICED``."""
    content = path.read_bytes()
    good = read(path)
    assert good is not None
    changed = bytearray(content)
    changed[place // 8] ^= 1 << place % 8
    path.write_bytes(changed)
    try:
        now = read(path)
    finally:
        path.write_bytes(content)
    return "noticed" if now is None else "harmless" if now == good else "UNNOTICED"


def count(home, bits, seed):
    """How many of so many flipped bits had each outcome, by kind of file."""
    random_numbers, files = random.Random(seed), made(home)
    outcomes = {"stored runs": Counter(), "saved agents": Counter()}
    for number in range(bits):
        # Every other bit in a stored run, the others in the agent.
        path, read = files[number // 2 % (len(files) - 1)] if number % 2 == 0 else files[-1]
        kind = "stored runs" if read is read_run else "saved agents"
        outcomes[kind][flip(path, read, random_numbers.randrange(8 * path.stat().st_size))] += 1
    return outcomes


@dataclass
class Args:
    """Flip bits."""

    bits: int = 600
    """Total number of flipped bits."""
    seed: int = 0
    """Random seed, which decides the bits."""


def main():
    args = script_options(Args, __doc__)
    with tempfile.TemporaryDirectory() as folder:
        outcomes = count(Path(folder), args.bits, args.seed)
    print("| files | flipped bits | detected | harmless | undetected change |\n|---|---|---|---|---|")
    for kind, found in outcomes.items():
        print(f"| {kind} | {found.total()} | {found['noticed']} | {found['harmless']} | {found['UNNOTICED']} |")
    sys.exit(1 if any(found["UNNOTICED"] for found in outcomes.values()) else 0)


if __name__ == "__main__":
    main()
