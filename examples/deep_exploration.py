"""Episodes until the treasure, by depth: random actions and ε-greedy DQN beside agents that explore deeply.

Random actions need 0.69·2^N episodes in the median. RLSVI, with an exact posterior sample
per episode, needs about N²/2; Ensemble Langevin DQN comes close to that with gradient steps.
"""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import tyro

from langevin_dqn import machine

#: Depths of the short form, by series.
QUICK = {"dqn": (4,), "ensemble_langevin_dqn": (4,), "rlsvi": (4, 8, 12, 16)}


@dataclass
class Args:
    """Measure first successes and learning times by depth."""

    seeds: int = 5
    """Seeds per agent and depth; RLSVI has four times as many."""
    budget: int = 5000
    """Episodes per run, at most."""
    plot: Path | None = None
    """Where to write the picture; a .png gets a .pdf beside it."""
    json: Path | None = None
    """Where to write the times."""
    quick: bool = False
    """Shallow seas, two seeds, 200 episodes: seconds instead of minutes."""


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.insight.deep_exploration import SERIES, geometric_median, measure
    from langevin_dqn.report import deep_exploration

    seeds, budget = (2, 200) if args.quick else (args.seeds, args.budget)
    measured = {}
    for name in QUICK if args.quick else SERIES:
        started = time.perf_counter()
        count = 4 * seeds if name == "rlsvi" else seeds
        measured[name] = measure(name, depths=QUICK[name] if args.quick else None, seeds=count, budget=budget)
        print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    print(f"| series | what | depth | median | done | times (0.69·2^N = {geometric_median(10)} at depth 10) |")
    print("|---|---|---|---|---|---|")
    for name, series in measured.items():
        for t in series:
            shown = ", ".join(str(x) for x in sorted(x for x in t.times if x is not None))
            median = t.quantile(0.5) or f"> {budget}"
            what = SERIES[name].what.replace("_", " ")
            print(f"| {name} | {what} | {t.depth} | {median} | {t.done} of {len(t.times)} | {shown} |")
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps({k: [vars(t) for t in v] for k, v in measured.items()}) + "\n")
    if args.plot:
        args.plot.parent.mkdir(parents=True, exist_ok=True)
        caption = f"deep sea, {seeds} seeds ({4 * seeds} for RLSVI), median and quartiles, at most {budget:,} episodes"
        for path in {args.plot, args.plot.with_suffix(".pdf")}:
            print(f"wrote {deep_exploration.draw(measured, path, caption)}", file=sys.stderr)


if __name__ == "__main__":
    main(tyro.cli(Args))
