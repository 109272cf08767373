"""The first picture of README: episodes until Deep Sea is learned, against its depth, for several agents.

    python tools/hero_figure.py --store results

The runs are those in ``results/``; exact RLSVI's times are in ``docs/figures/deep_exploration.json``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from langevin_dqn import machine
from langevin_dqn.paper.contenders import DECAYING_DQN

#: Agent, preset, changed settings, and how it is called in the picture.
SERIES = (
    ("dqn", "paper", DECAYING_DQN.changes, "DQN"),
    ("boot_dqn", "paper", {}, "Boot DQN (5 members, as published)"),
    ("langevin_dqn", "recommended", {}, "Langevin DQN"),
    ("ensemble_langevin_dqn", "recommended", {}, "Ensemble Langevin DQN"),
)


@dataclass
class Args:
    """Draw learning time against depth."""

    store: Path = Path("results")
    """Folder of runs."""
    rlsvi: Path = Path("docs/figures/deep_exploration.json")
    """Learning times of exact RLSVI."""
    out: Path = Path("docs/figures/hero.png")
    """The picture."""


def times(runs: Any, agent: str, preset: str, changes: Mapping[str, Any]) -> dict[int, list[float]]:
    """Learning times by depth, infinite where a run did not learn; only runs with the preset's own settings."""
    from langevin_dqn.presets import preset as preset_of
    from langevin_dqn.runs.store import config_of

    wanted = preset_of(agent, preset, **changes).identity()
    found: dict[int, list[float]] = {}
    for row in runs.iter_rows(named=True):
        depth = re.match(r"deep_sea:depth=(\d+)", row["env"])
        if depth and row["agent"] == agent and row["preset"] == preset and config_of(row).identity() == wanted:
            time = row["learning_time"]
            if time is None and row["episodes"] < 1000:
                continue  # a run that was short on purpose
            found.setdefault(int(depth[1]), []).append(np.inf if time is None else time)
    return {depth: found[depth] for depth in sorted(found) if len(found[depth]) >= 3}


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.plots.style import MARKERS, STYLES, drawing
    from langevin_dqn.runs.store import load_results

    runs = load_results(args.store)
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
        depths = np.linspace(5, 14, 50)
        axes.plot(depths, 2**depths, ":", color="0.5", lw=1.5)
        axes.annotate("random actions: $2^N$", (12.6, 2**12.6), xytext=(10, 8), textcoords="offset points", color="0.4")
        exact = json.loads(args.rlsvi.read_text(encoding="utf-8"))["rlsvi"]
        known = sorted((entry["depth"], np.median(entry["times"])) for entry in exact)
        axes.plot(*zip(*known, strict=True), "x", color="0.35", label="exact RLSVI (tabular)")
        for marker, (agent, preset, changes, name) in zip(MARKERS, SERIES, strict=False):
            style, found = STYLES[agent], times(runs, agent, preset, changes)
            middle = {depth: np.median(value) for depth, value in found.items()}
            learned = {depth: value for depth, value in middle.items() if np.isfinite(value)}
            if learned:  # a depth that most seeds do not learn interrupts the line
                shown = [value if np.isfinite(value) else np.nan for value in middle.values()]
                axes.plot(list(middle), shown, marker + "-", color=style.color, ms=5, label=name)
            for depth in learned:
                low, high = np.quantile(found[depth], [0.25, 0.75], method="nearest")
                axes.plot([depth, depth], [low, min(high, 5000)], "-", color=style.color, lw=1.2)
            never = [depth for depth in middle if depth not in learned]
            if never:
                label = None if learned else f"{name}: most seeds do not learn in 5,000"
                height = 5600 if not learned else 6600
                axes.plot(never, [height] * len(never), "^", mfc="none", color=style.color, ms=5, label=label)
            print(name, {depth: (len(found[depth]), float(value)) for depth, value in middle.items()})
        axes.axhline(5000, color="0.8", lw=0.8)
        axes.set_yscale("log")
        axes.set_ylim(20, 10_000)
        axes.set_yticks([50, 100, 200, 500, 1000, 2000, 5000], ["50", "100", "200", "500", "1,000", "2,000", "5,000"])
        axes.set_yticks([], minor=True)
        axes.set_xlim(4, 52)
        axes.set_xticks([10, 20, 30, 40, 50])
        axes.set_xlabel("depth N")
        axes.set_ylabel("learning time (episodes)")
        axes.legend(frameon=False, fontsize=8, loc="lower right")
        figure.savefig(args.out, dpi=200)
        plt.close(figure)


if __name__ == "__main__":
    main(tyro.cli(Args))
