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

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options
from langevin_dqn.paper.contenders import DECAYING_DQN

#: Agent, preset, changed settings, and how it is called in the picture.
SERIES = (
    ("dqn", "paper", DECAYING_DQN.changes, "DQN"),
    ("boot_dqn", "paper", {}, "Boot DQN (5 members, as published)"),
    ("langevin_dqn", "recommended", {}, "Langevin DQN"),
    ("ensemble_langevin_dqn", "recommended", {}, "Ensemble Langevin DQN"),
)

#: Episodes of a run, and the top of the picture, beyond it.
BUDGET, TOP = 5000, 18_000


@dataclass
class Args:
    """Draw learning time against depth."""

    store: Path = Path("results")
    """Folder of stored runs."""
    rlsvi: Path = Path("docs/figures/deep_exploration.json")
    """JSON file of the learning times of exact RLSVI."""
    out: Path = Path("docs/figures/hero.png")
    """File for the picture."""


def times(runs: Any, agent: str, preset: str, changes: Mapping[str, Any]) -> dict[int, list[float]]:
    """Learning times by depth, infinite where a run did not learn; only runs with the preset's own settings.

    A seed that was run more than once, with or without stopping when it had learned, counts once: its longest run.
    """
    from langevin_dqn.presets import preset as preset_of
    from langevin_dqn.runs.store import config_of

    wanted = preset_of(agent, preset, **changes).identity()
    longest: dict[tuple[int, str, int], tuple[int, float]] = {}
    for row in runs.iter_rows(named=True):
        depth = re.match(r"deep_sea:depth=(\d+)", row["env"])
        if depth and row["agent"] == agent and row["preset"] == preset and config_of(row).identity() == wanted:
            time = row["learning_time"]
            if time is None and row["episodes"] < 1000:
                continue  # a run that was short on purpose
            run = (row["episodes"], np.inf if time is None else time)
            key = (int(depth[1]), row["env"], row["seed"])
            longest[key] = max(run, longest.get(key, run))
    found: dict[int, list[float]] = {}
    for (number, _, _), (_, time) in longest.items():
        found.setdefault(number, []).append(time)
    return {depth: found[depth] for depth in sorted(found) if len(found[depth]) >= 3}


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.plots.style import MARKERS, STYLES, WIDTH, drawing, grid
    from langevin_dqn.runs.store import load_results

    runs = load_results(args.store)
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(WIDTH, 3.9), layout="constrained")
        axes.axhspan(BUDGET, TOP, color="0.95", lw=0, zorder=0)
        axes.text(4, 1.15 * BUDGET, f"most seeds do\nnot learn in\n{BUDGET:,} episodes", size=8, color="0.35")
        depths = np.linspace(4, np.log2(TOP), 50)
        axes.plot(depths, 2**depths, ":", color="0.5", lw=1.5, label="random actions, $2^N$")
        exact = json.loads(args.rlsvi.read_text(encoding="utf-8"))["rlsvi"]
        known = sorted((entry["depth"], np.median(entry["times"])) for entry in exact)
        axes.plot(*zip(*known, strict=True), "x", color="0.35", ms=5, zorder=4, label="exact RLSVI (tabular)")
        for place, (marker, (agent, preset, changes, name)) in enumerate(zip(MARKERS, SERIES, strict=False)):
            style, found = STYLES[agent], times(runs, agent, preset, changes)
            aside = 1.03 ** (place - len(SERIES) // 2)  # bars and markers of two agents stay apart
            draw_series(axes, found, style, marker, name, above=1.45 * BUDGET * 1.28**place, aside=aside)
            print(name, {depth: (len(values), float(np.median(values))) for depth, values in found.items()})
        axes.set(yscale="log", ylim=(10, TOP), xlim=(3.7, 112), xscale="log")
        axes.set_xticks([5, 10, 20, 30, 50, 70, 100], [5, 10, 20, 30, 50, 70, 100])
        axes.set_xticks([], minor=True)
        ticks = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
        axes.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.set_yticks([], minor=True)
        axes.set(xlabel="depth N of Deep Sea", ylabel="learning time (episodes)")
        axes.plot([], [], "-", color="0.4", lw=4, alpha=0.3, label="quartiles over seeds")
        grid(axes)
        legend = {"framealpha": 1, "edgecolor": "none", "fontsize": 7.5, "labelspacing": 0.35, "borderaxespad": 0.2}
        axes.legend(loc="lower right", **legend)
        figure.savefig(args.out, dpi=300)
        plt.close(figure)


def draw_series(axes, found: Mapping[int, list[float]], style: Any, marker: str, name: str, above: float, aside: float):
    """Medians, and quartiles as bars; a line joins at least three neighbouring depths that were learned.

    A depth that most seeds do not learn has an open marker at the height ``above``, and interrupts the line. ``aside``
    moves everything to the left or right.
    """
    from langevin_dqn.plots.style import joined

    color = style.color
    middle = {aside * depth: float(np.median(values)) for depth, values in found.items()}
    line = joined(list(middle.values()))
    axes.plot(list(middle), line, ls=style.dashes, color=color, lw=1.6)
    for (x, height), values in zip(middle.items(), found.values(), strict=True):
        if np.isfinite(height):
            low, high = np.quantile(values, [0.25, 0.75], method="nearest")
            axes.plot([x, x], [low, min(high, TOP)], "-", color=color, lw=3.5, alpha=0.3, solid_capstyle="butt")
            axes.plot(x, height, marker, color=color, ms=5.5)
        else:
            axes.plot(x, above, marker, mfc="white", color=color, ms=5.5)
    dashes = style.dashes if np.isfinite(line).any() else ""
    axes.plot([], [], marker=marker, color=color, ls=dashes, lw=1.6, ms=5.5, label=name)


if __name__ == "__main__":
    main(script_options(Args, __doc__))
