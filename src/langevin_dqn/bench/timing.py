"""Interleaved timing: every contestant has its turn in every round, so drift of the machine hits all alike."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

Run = Callable[[int], None]


@dataclass
class Contestant:
    """Something that makes updates, and what they cost, in µs per member update."""

    name: str
    depth: int
    members: int
    build: Callable[[], Run]
    times: list[float] = field(default_factory=list)
    build_seconds: float = 0.0
    """Set-up and compilation."""

    @property
    def label(self) -> str:
        return f"{self.name}, depth {self.depth}, {self.members} members" if self.depth else self.name

    @property
    def median(self) -> float:
        return float(np.median(self.times))

    def to_dict(self) -> dict:
        low, high = np.quantile(self.times, (0.25, 0.75))
        return {
            "name": self.name,
            "depth": self.depth,
            "members": self.members,
            "microseconds": round(self.median, 1),
            "quartiles": [round(float(low), 1), round(float(high), 1)],
            "build_seconds": round(self.build_seconds, 2),
        }


def pin_to_one_core() -> int | None:
    """Keep this process on one core; None where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def race(contestants: Sequence[Contestant], *, repeats: int, seconds: float, say: Callable[[str], None]) -> None:
    """Time ``contestants`` in turn, ``repeats`` rounds of about ``seconds`` each."""
    runs: list[tuple[Run, int]] = []
    for contestant in contestants:
        say(f"building {contestant.label}")
        start = time.perf_counter()
        run = contestant.build()
        contestant.build_seconds = time.perf_counter() - start
        start = time.perf_counter()
        run(16)
        runs.append((run, max(16, int(seconds * 16 / (time.perf_counter() - start)))))
    for _ in range(repeats):
        for contestant, (run, count) in zip(contestants, runs, strict=True):
            start = time.perf_counter()
            run(count)
            contestant.times.append((time.perf_counter() - start) / count / contestant.members * 1e6)
