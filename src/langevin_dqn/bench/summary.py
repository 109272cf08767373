"""Ratios between contestants, and the picture of cost against depth."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langevin_dqn.bench.timing import Contestant
from langevin_dqn.plots.style import STYLES

ENSEMBLE = "ensemble_langevin_dqn"
FLOOR = "matrix products only"


def find(contestants: Sequence[Contestant], name: str, depth: int, members: int | None = None) -> Contestant | None:
    """The contestant of that name at that depth, if it ran."""
    for c in contestants:
        if c.name == name and c.depth == depth and members in (None, c.members):
            return c
    return None


def ratios(contestants: Sequence[Contestant], members: int = 5) -> list[dict[str, Any]]:
    """How many times as much others cost as Ensemble Langevin DQN, per member update, depth by depth."""
    rows: list[dict[str, Any]] = []
    for depth in sorted({c.depth for c in contestants if c.depth}):
        mine = find(contestants, ENSEMBLE, depth, members)
        if mine is None:
            continue
        for other in contestants:
            if other.depth == depth and other.name not in STYLES and other.name != FLOOR:
                rows.append({"what": f"{other.name} / ours", "depth": depth, "ratio": other.median / mine.median})
        floor = find(contestants, FLOOR, 0, members)
        if floor is not None:
            rows.append({"what": f"ours / {FLOOR}", "depth": depth, "ratio": mine.median / floor.median})
        for shallower in (10, 50):
            before = find(contestants, ENSEMBLE, shallower, members)
            if before is not None and shallower < depth:
                rows.append(
                    {"what": f"ours / ours at depth {shallower}", "depth": depth, "ratio": mine.median / before.median}
                )
    return [row | {"ratio": round(row["ratio"], 2)} for row in rows]


def markdown(report: dict[str, Any]) -> str:
    """The whole report as Markdown tables."""
    lines = ["| what | depth | members | µs per member update | quartiles |", "|---|---|---|---|---|"]
    for row in report["updates"]:
        low, high = row["quartiles"]
        name = STYLES[row["name"]][2] if row["name"] in STYLES else row["name"]
        lines.append(
            f"| {name} | {row['depth'] or ''} | {row['members']} | {row['microseconds']:.0f} | {low:.0f}–{high:.0f} |"
        )
    lines += ["", "| ratio, for Ensemble Langevin DQN with 5 members | depth | times |", "|---|---|---|"]
    lines += [f"| {row['what']} | {row['depth']} | {row['ratio']:.2f} |" for row in report["ratios"]]
    lines += ["", *(f"- {line}" for line in sentences(report))]
    return "\n".join(lines)


def sentences(report: dict[str, Any]) -> list[str]:
    """Memory, start-up and solving, a line each."""
    memory = report["peak_memory_mb"]
    lines = [
        f"peak memory, depth 50, full buffer, 5 members: {memory['cold']:.0f} MB with compilation, "
        f"{memory['warm']:.0f} MB with compiled programs cached"
    ]
    lines += [f"{name}: {seconds:.2f} s" for name, seconds in report["startup_seconds"].items()]
    for o in report["solving"]:
        episodes = f"learned at episode {o['episodes']}" if o["episodes"] else "not learned"
        lines.append(f"depth {o['depth']}, {o['name']}: {episodes}, {o['seconds']:.0f} s")
    return lines


def cost_against_depth(contestants: Sequence[Contestant], path: Path) -> None:
    """Cost of a member update against depth, both on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    grey = iter((("#666666", "s"), ("#999999", "^"), ("#444444", "v"), ("#BBBBBB", "D")))
    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(figsize=(5.5, 3.8), layout="constrained")
        for name, members in dict.fromkeys((c.name, c.members) for c in contestants if c.depth):
            group = sorted((c for c in contestants if (c.name, c.members) == (name, members)), key=lambda c: c.depth)
            if name in STYLES:
                color, dashes, text = STYLES[name]
                marker, label = ("o" if members == 1 else "P"), f"{text}, {members} member{'s' * (members > 1)}"
            else:
                (color, marker), dashes, label = next(grey), (0, (4, 2)), name
            lows, highs = zip(*(c.to_dict()["quartiles"] for c in group), strict=True)
            depths, middle = [c.depth for c in group], [c.median for c in group]
            axes.fill_between(depths, lows, highs, color=color, alpha=0.15, lw=0)
            axes.plot(depths, middle, color=color, ls=dashes, marker=marker, ms=4, lw=1.3, label=label)
        floor = find(contestants, FLOOR, 0, 5)
        if floor is not None:
            axes.axhline(floor.median, color="0.5", lw=0.8, ls=":")
            axes.text(
                0.02, floor.median * 0.97, FLOOR, transform=axes.get_yaxis_transform(), va="top", size=7, color="0.35"
            )
        axes.set(xscale="log", yscale="log", xlabel="depth of the sea", ylabel="µs per member update")
        depths = sorted({c.depth for c in contestants if c.depth})
        axes.set_xticks(depths, [str(d) for d in depths])
        axes.minorticks_off()
        axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
        figure.supxlabel("batch 128, two layers of 50, one core; median and quartiles of interleaved runs", size=7)
        figure.savefig(path, dpi=200)
        plt.close(figure)
