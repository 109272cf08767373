"""Episodes until the first success, by depth: random actions, ε-greedy DQN, RLSVI and the Langevin agents.

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
    """Maximum number of episodes per run."""
    plot: Path | None = None
    """File for the picture; with a .png, a .pdf is written too."""
    json: Path | None = None
    """JSON file of the learning times; runs that it has are not repeated."""
    measure: bool = True
    """Measure what the JSON file does not have; with --no-measure, only show what it has."""
    quick: bool = False
    """Run small depths, two seeds and 200 episodes, in seconds instead of minutes."""


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.insight.deep_exploration import SERIES, Times, geometric_median, measure
    from langevin_dqn.plots import deep_exploration

    seeds, budget = (2, 200) if args.quick else (args.seeds, args.budget)
    kept = json.loads(args.json.read_text()) if args.json and args.json.exists() else {}
    measured: dict[str, list[Times]] = {}
    for name in QUICK if args.quick else SERIES:
        count = 4 * seeds if name == "rlsvi" else seeds
        known = [Times(t["depth"], t["budget"], tuple(t["times"])) for t in kept.get(name, [])]
        measured[name] = []
        for depth in QUICK[name] if args.quick else SERIES[name].depths:
            same = [t for t in known if (t.depth, t.budget, len(t.times)) == (depth, budget, count)]
            if not same and args.measure:
                started = time.perf_counter()
                same = measure(name, depths=[depth], seeds=count, budget=budget)
                print(f"{name}, depth {depth}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
                kept.setdefault(name, []).append(vars(same[0]))
                if args.json:
                    args.json.parent.mkdir(parents=True, exist_ok=True)
                    args.json.write_text(json.dumps(kept) + "\n")
            measured[name] += same
    print("| series | what | depth | 0.69·2^N | median | done | times |")
    print("|---|---|---|---|---|---|---|")
    for name, series in measured.items():
        for t in series:
            times = sorted(x for x in t.times if x is not None)
            shown = ", ".join(map(str, times)) if len(times) < 10 else f"{times[0]} to {times[-1]}"
            what = SERIES[name].what.replace("_", " ")
            done = f"{t.done} of {len(t.times)}"
            cells = (name, what, t.depth, geometric_median(t.depth), t.quantile(0.5) or f"> {budget}", done, shown)
            print("| " + " | ".join(map(str, cells)) + " |")
    if args.plot:
        args.plot.parent.mkdir(parents=True, exist_ok=True)
        caption = f"Deep Sea, {seeds} seeds ({4 * seeds} for RLSVI), median and quartiles, at most {budget:,} episodes"
        for path in {args.plot, args.plot.with_suffix(".pdf")}:
            print(f"wrote {deep_exploration.draw(measured, path, caption)}", file=sys.stderr)


if __name__ == "__main__":
    main(tyro.cli(Args))
