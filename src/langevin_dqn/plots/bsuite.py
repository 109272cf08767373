"""bsuite's two pictures: a radar over tags and bars over experiments."""

import itertools
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from langevin_dqn.analysis.bsuite_summary import BY_TYPE, TAGS
from langevin_dqn.plots.style import LEGEND, SPARE, STYLES, check_path, drawing, wrapped, write

#: By agent or any label, then by experiment or tag.
Scores = Mapping[str, Mapping[str, float]]
#: The same, with the lowest and the highest score of several passes.
Ranges = Mapping[str, Mapping[str, tuple[float, float]]]

#: The radius of a score of 0 in the radar: agents that score 0 lie side by side on a ring, not on one point.
_HOLE = 0.4

_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oo", "----")
_MARKERS = "osD^vPX*"


class BsuiteStyle(NamedTuple):
    """Colour, dashes, hatch and marker: each of them alone distinguishes agents."""

    text: str
    color: str
    dashes: Any
    hatch: str
    marker: str


def styles(agents: Iterable[str]) -> dict[str, BsuiteStyle]:
    """A style for each agent, by its name or by ``name:field=value``; a second variant of one gets another colour."""
    found: dict[str, BsuiteStyle] = {}
    spare = itertools.cycle(SPARE)
    used = set()
    for i, agent in enumerate(agents):
        name, _, settings = agent.rpartition(":") if "=" in agent.rpartition(":")[2] else (agent, "", "")
        color, dashes, text = STYLES.get(name, (*next(spare), name)) if name not in used else (*next(spare), name)
        text = STYLES[name][2] if name in STYLES else text
        used.add(name)
        changed = settings.removeprefix("members=")
        text = f"{text} ({changed})" if changed else text
        found[agent] = BsuiteStyle(text, color, dashes, _HATCHES[i % 8], _MARKERS[i % 8])
    return found


def radar(scores: Scores, path: str | Path, caption: str = "", ranges: Ranges | None = None) -> Path:
    """Agents' scores by tag, from 0 on the inner ring to 1 at the rim; at each tag the agents are side by side.

    Args:
        scores: by agent, then by tag.
        path: a .png, .pdf or .svg file.
        caption: the protocol, written below the picture.
        ranges: over passes, drawn as thin lines.
    """
    path = check_path(path)
    tags = [tag for tag in TAGS if any(tag in by_tag for by_tag in scores.values())]
    angles = np.linspace(0, 2 * np.pi, len(tags), endpoint=False)
    with drawing() as plt:
        figure = plt.figure(figsize=(4.8, 4.3))
        axes = figure.add_axes((0.2, 0.21, 0.6, 0.67), polar=True)
        axes.set_theta_zero_location("N")
        axes.set_theta_direction(-1)
        axes.set(ylim=(0, 1), yticks=(0, 0.5, 1))
        axes.set_rorigin(-_HOLE)
        for i, (agent, style) in enumerate(styles(scores).items()):
            at = angles + np.radians(8) * (i - (len(scores) - 1) / 2)
            values = [scores[agent].get(tag, np.nan) for tag in tags]
            closed = [*values, values[0]], [*at, at[0]]
            line = {"color": style.color, "ls": style.dashes, "lw": 1.4, "marker": style.marker, "ms": 4}
            axes.plot(closed[1], closed[0], label=style.text, zorder=3, clip_on=False, **line)
            for angle, tag in zip(at, tags, strict=True):
                if ranges and tag in ranges.get(agent, {}):
                    axes.plot([angle, angle], ranges[agent][tag], color=style.color, lw=1, zorder=2)
        white = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6}
        for value in (0, 0.5, 1):
            axes.text(np.pi / len(tags), value, f"{value:g}", size=7, color="0.3", ha="center", va="center", bbox=white)
        axes.set_yticklabels([])
        axes.set_xticks(angles, [])
        for angle, tag in zip(angles, tags, strict=True):
            side = np.sin(angle)
            where = "center" if abs(side) < 0.1 else "left" if side > 0 else "right"
            axes.text(angle, 1.1, tag.replace("_", "\n"), ha=where, va="center", size=9)
        axes.grid(color="0.8", lw=0.6)
        axes.spines["polar"].set(color="0.6", linewidth=0.8)
        axes.spines["inner"].set(color="0.6", linewidth=0.8)
        top = _caption(figure, _with_key(caption, ranges))
        figure.legend(loc="lower center", bbox_to_anchor=(0.5, top), ncols=3, columnspacing=1.4, **LEGEND)
        write(figure, path, dpi=300)
        plt.close(figure)
    return path


def _with_key(caption: str, ranges: Ranges | None) -> str:
    key = "Thin lines: lowest to highest score of repeated passes." if ranges else ""
    return " ".join(filter(None, [f"{caption.removesuffix('.')}." if caption and key else caption, key]))


def bars(
    scores: Scores,
    path: str | Path,
    caption: str = "",
    unfinished: Collection[tuple[str, str]] = (),
    ranges: Ranges | None = None,
) -> Path:
    """Agents' scores by experiment, side by side, in a panel for each type of experiment.

    Args:
        scores: by agent, then by experiment. What an agent has no score for is marked with a cross, a score of 0 with
            a line.
        path: a .png, .pdf or .svg file.
        caption: the protocol, written below the picture.
        unfinished: pairs of agent and experiment with runs that stopped early; their bars are pale.
        ranges: over passes, drawn as thin lines.
    """
    path = check_path(path)
    kinds = list(BY_TYPE)
    with drawing() as plt:
        figure = plt.figure(figsize=(5.5, 4.2))
        legend_rows = 1 if len(scores) < 4 else -(-len(scores) // 2)
        top, bottom = 0.92 - 0.045 * legend_rows, 0.16 + _caption(figure, _with_key(caption, ranges))
        rows = figure.add_gridspec(2, 1, left=0.1, right=0.99, top=top, bottom=bottom, hspace=0.85)
        for row, part in zip(rows, (kinds[:3], kinds[3:]), strict=True):
            widths = [len(BY_TYPE[kind]) for kind in part]
            grid = row.subgridspec(1, 3, width_ratios=widths, wspace=0.08)
            for column, kind in enumerate(part):
                axes = figure.add_subplot(grid[column])
                _panel(axes, kind, scores, unfinished, ranges or {})
                if column == 0:
                    axes.set_ylabel("score")
                else:
                    axes.set_yticklabels([])
        handles, labels = figure.axes[0].get_legend_handles_labels()
        if any(name not in by_name for by_name in scores.values() for kind in kinds for name in BY_TYPE[kind]):
            handles.append(plt.Line2D([], [], ls="", marker="x", color="0.3", ms=4, mew=0.8))
            labels.append("not run")
        columns = len(labels) if legend_rows == 1 else 2
        figure.legend(handles, labels, loc="upper center", ncols=columns, columnspacing=1.4, **LEGEND)
        write(figure, path, dpi=300)
        plt.close(figure)
    return path


def _panel(axes, kind: str, scores: Scores, unfinished: Collection[tuple[str, str]], ranges: Ranges) -> None:
    names = BY_TYPE[kind]
    width = 0.8 / len(scores)
    for i, (agent, style) in enumerate(styles(scores).items()):
        places = np.arange(len(names)) + (i - (len(scores) - 1) / 2) * width
        values = np.array([scores[agent].get(name, np.nan) for name in names], float)
        drawn = axes.bar(
            places, np.nan_to_num(values), width * 0.92, facecolor=style.color, hatch=style.hatch, edgecolor="white",
            linewidth=0, label=style.text, zorder=2,
        )  # fmt: skip
        for bar, name in zip(drawn, names, strict=True):
            if (agent, name) in unfinished:
                bar.set_alpha(0.4)
            if (agent, name) not in unfinished and name in ranges.get(agent, {}):
                axes.vlines(bar.get_x() + bar.get_width() / 2, *ranges[agent][name], color="0.45", lw=1, zorder=4)
        none = values == 0  # drawn too, and not mistaken for what was not run
        ends = places[none] - width * 0.4, places[none] + width * 0.4
        axes.hlines(np.zeros(none.sum()), *ends, color=style.color, lw=2.5, zorder=3, clip_on=False, capstyle="butt")
        lost = np.isnan(values)
        axes.plot(places[lost], np.full(lost.sum(), 0.04), "x", color=style.color, ms=3, mew=0.8)
    axes.set(ylim=(0, 1.02), yticks=(0, 0.5, 1), xlim=(-0.6, len(names) - 0.4))
    short = [name.removesuffix(f"_{kind}").replace("deep_sea_stochastic", "stochastic sea") for name in names]
    short = [name.replace("cartpole_swingup", "swing-up").replace("_", " ") for name in short]
    axes.set_xticks(range(len(names)), short, rotation=35, ha="right", rotation_mode="anchor", size=7.5)
    axes.set_title(kind.replace("_", " "), size=9)
    axes.tick_params(axis="x", length=0, pad=2)
    axes.grid(axis="y", color="0.88", lw=0.6, zorder=0)
    axes.set_axisbelow(True)


def _caption(figure, caption: str) -> float:
    """Write below the picture; how high that reaches, as a share of the figure."""
    width, height = figure.get_size_inches()
    if not caption:
        return 0.02
    lines = wrapped(caption, width)
    figure.text(0.5, 0.012, lines, ha="center", va="bottom", size=7, color="0.35")
    return 0.02 + 0.12 / height * (lines.count("\n") + 1)
