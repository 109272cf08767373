"""Ratios between contestants, and the picture of cost against depth."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langevin_dqn.bench.timing import Contestant
from langevin_dqn.plots.style import LEGEND, MARKERS, STYLES, WIDTH, Style, drawing, grid, label, log_ticks, save

ENSEMBLE = "ensemble_langevin_dqn"
#: The same with one minibatch for all members, as the recommended settings and the authors' code have it.
SHARED = "Ensemble Langevin DQN, shared minibatch"
#: With lazy rows at a depth where dense ones are the default.
LAZY = f"{SHARED}, lazy rows"
#: What is no agent's name and not by others either.
_VARIANTS = (SHARED, LAZY)
FLOOR = "matrix products only"
#: Of whom ratios are given: name and members.
_OURS = ((ENSEMBLE, 5), (SHARED, 5), (SHARED, 20), (LAZY, 5), (LAZY, 20), ("langevin_dqn", 1))


def find(contestants: Sequence[Contestant], name: str, depth: int, members: int | None = None) -> Contestant | None:
    """The contestant of that name at that depth, if it ran."""
    for c in contestants:
        if c.name == name and c.depth == depth and members in (None, c.members):
            return c
    return None


def ratios(contestants: Sequence[Contestant]) -> list[dict[str, Any]]:
    """By agent and depth: times the cost of the matrix products, of depths 10 and 50, and how much peers cost more.

    Peers are compared with Ensemble Langevin DQN. All costs are per member update.
    """
    rows: list[dict[str, Any]] = []
    for (name, members), depth in itertools.product(_OURS, sorted({c.depth for c in contestants if c.depth})):
        mine = find(contestants, name, depth, members)
        if mine is None:
            continue
        found = []
        if name in (ENSEMBLE, *_VARIANTS):
            peers = [c for c in contestants if c.depth == depth and c.name not in (*STYLES, *_VARIANTS)]
            found += [(f"{peer.name} / this", peer.median / mine.median) for peer in peers]
        floor = find(contestants, FLOOR, 0, members)
        if floor is not None:
            found.append((f"this / {FLOOR}", mine.median / floor.median))
        for shallower in (10, 50):
            before = find(contestants, name, shallower, members)
            if before is not None and shallower < depth:
                found.append((f"this / at depth {shallower}", mine.median / before.median))
        who = f"{label(name)} ({members})" if members > 1 else label(name)
        rows += [{"agent": who, "depth": depth, "what": what, "ratio": round(ratio, 2)} for what, ratio in found]
    return rows


def markdown(report: dict[str, Any]) -> str:
    """The whole report as Markdown tables."""
    lines = ["| what | depth | members | µs per member update | quartiles |", "|---|---|---|---|---|"]
    for row in report["updates"]:
        low, high = row["quartiles"]
        cells = (
            label(row["name"]),
            row["depth"] or "",
            row["members"],
            f"{row['microseconds']:.0f}",
            f"{low:.0f}–{high:.0f}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "| agent (members) | depth | ratio | times |", "|---|---|---|---|"]
    lines += [f"| {r['agent']} | {r['depth']} | {r['what']} | {r['ratio']:.2f} |" for r in report["ratios"]]
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


#: What the picture shows of this package: an agent, and with how many members.
_DRAWN = (("langevin_dqn", 1), ("boot_dqn", 5), (ENSEMBLE, 5), (SHARED, 20))


def cost_against_depth(contestants: Sequence[Contestant], path: Path) -> None:
    """Cost of a member update against depth, both on logarithmic axes: the agents of the paper's figures and peers.

    Other numbers of members, which cost about the same per member, are in the table.
    """
    others = [c for c in contestants if c.name not in (*STYLES, *_VARIANTS)]
    mine = [c for c in contestants if (c.name, c.members) in _DRAWN]
    draw_costs([c.to_dict() for c in (*mine, *others)], path)


def draw_costs(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """A line for each name.

    Args:
        rows: ``Contestant.to_dict()`` of each contestant.
        path: a .png, .pdf or .svg file.
    """
    styles = STYLES | {SHARED: Style(STYLES[ENSEMBLE].color, (0, (1, 1)), SHARED)}
    grey = iter((("#555555", "s"), ("#888888", "^"), ("#333333", "v"), ("#AAAAAA", "D")))
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(WIDTH, 3.6), layout="constrained")
        depths = sorted({row["depth"] for row in rows if row["depth"]})
        for i, (name, members) in enumerate(dict.fromkeys((r["name"], r["members"]) for r in rows if r["depth"])):
            group = sorted((r for r in rows if (r["name"], r["members"]) == (name, members)), key=lambda r: r["depth"])
            if name in styles:
                color, dashes, text = styles[name]
                marker, words = MARKERS[i % len(MARKERS)], f"{text} ({members})" if members > 1 else text
            else:
                (color, marker), dashes, words = next(grey), (0, (4, 2)), name
            x, y = [row["depth"] for row in group], [row["microseconds"] for row in group]
            lows, highs = zip(*(row["quartiles"] for row in group), strict=True)
            axes.fill_between(x, lows, highs, color=color, alpha=0.15, lw=0)
            axes.plot(x, y, color=color, ls=dashes, marker=marker, ms=4, lw=1.5, label=words)
        floor = next((row for row in rows if row["name"] == FLOOR and row["members"] == 5), None)
        if floor is not None:
            axes.axhline(floor["microseconds"], color="0.5", lw=0.8, ls=":", label=FLOOR)
        axes.set(xscale="log", yscale="log", xlabel="depth of Deep Sea", ylabel="µs per member update")
        log_ticks(axes, depths)
        grid(axes)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        figure.legend(loc="outside upper center", ncols=2, **LEGEND)
        save(plt, figure, path, "Median and quartiles of interleaved runs on one core.")
