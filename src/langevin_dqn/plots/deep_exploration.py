"""Episodes until success in Deep Sea against depth: dithering, and agents that explore deeply."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from langevin_dqn.insight.deep_exploration import Times, geometric_quantile
from langevin_dqn.plots.style import STYLES, check_path

#: Colour, dashes, marker and words of each series.
LOOKS = {
    "uniform": ("#999999", "", "x", "random actions, first success"),
    "dqn_decay": ("#000000", (0, (4, 1)), "s", "DQN, ε from 0.5, first success"),
    "dqn": (*STYLES["dqn"][:2], "v", "DQN, ε = 0.05, first success"),
    "langevin_dqn": (*STYLES["langevin_dqn"][:2], "D", "Langevin DQN, learning time"),
    "ensemble_langevin_dqn": (*STYLES["ensemble_langevin_dqn"][:2], "o", "Ensemble Langevin DQN, learning time"),
    "rlsvi": ("#0072B2", "-", "^", "tabular RLSVI, learning time"),
}


def draw(measured: Mapping[str, Sequence[Times]], path: str | Path, caption: str = "") -> Path:
    """Medians over seeds with their quartiles; an arrow up where the median is beyond the budget.

    Args:
        measured: times by series, one entry per depth.
        path: a .png, .pdf or .svg file.
        caption: the protocol, written below the axes.
    """
    path = check_path(path)
    measured = {name: series for name, series in measured.items() if series}
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    depths = sorted({t.depth for series in measured.values() for t in series})
    budget = max(t.budget for series in measured.values() for t in series)
    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(figsize=(5.5, 4.4), layout="constrained")
        _law(axes, np.arange(depths[0], depths[-1] + 1), 20 * budget)
        for place, (name, series) in enumerate(measured.items()):
            _series(axes, name, series, shift=0.16 * (place - (len(measured) - 1) / 2))
        axes.axhline(budget, color="0.6", lw=0.7)
        axes.annotate(
            f"budget: {budget:,} episodes; ↑ median beyond it",
            (1, budget), xycoords=("axes fraction", "data"), va="bottom", ha="right", size=7, color="0.35",
        )  # fmt: skip
        axes.set(yscale="log", xlabel="depth N", ylabel="episodes", ylim=(0.8, 20 * budget))
        axes.set_xticks(depths if len(depths) < 12 else depths[::2])
        axes.grid(axis="y", color="0.9", lw=0.6)
        figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=7.5)
        if caption:
            figure.supxlabel(caption, size=7, color="0.35")
        figure.savefig(path, dpi=200)
        plt.close(figure)
    return path


def _law(axes, depths: np.ndarray, top: float) -> None:
    """The geometric law: its median and the middle half, up to the top of the picture."""
    low, middle, high = (np.array([geometric_quantile(int(n), q) for n in depths], float) for q in (0.25, 0.5, 0.75))
    axes.fill_between(depths, low, high, color="0.6", alpha=0.25, lw=0)
    axes.plot(depths, middle, color="0.45", lw=1.2, label="random actions: median 0.69·2ᴺ, middle half")
    shown = depths[middle < top]
    axes.annotate(
        "0.69·2ᴺ", (shown[-1], middle[len(shown) - 1]), xytext=(4, -8), textcoords="offset points", size=8, color="0.35"
    )


def _series(axes, name: str, series: Sequence[Times], shift: float) -> None:
    color, dashes, marker, text = LOOKS[name]
    inside = [t for t in series if t.quantile(0.5) is not None]
    beyond = [t for t in series if t.quantile(0.5) is None]
    line = {"color": color, "marker": marker, "ms": 4, "ls": dashes or "none", "lw": 1.3, "label": text, "zorder": 3}
    if inside:
        x = np.array([t.depth for t in inside]) + shift
        low, middle, high = ([_or_budget(t, share) for t in inside] for share in (0.25, 0.5, 0.75))
        axes.vlines(x, low, high, color=color, lw=1.1, alpha=0.7)
    else:
        x, middle = np.array([]), []
    axes.plot(x, middle, **line)
    for t in beyond:
        axes.plot(t.depth + shift, t.budget, color=color, marker=marker, ms=4, mfc="white", zorder=4)
        axes.annotate(
            "", (t.depth + shift, 2.6 * t.budget), (t.depth + shift, t.budget),
            arrowprops={"arrowstyle": "->", "color": color, "lw": 0.9},
        )  # fmt: skip


def _or_budget(times: Times, share: float) -> int:
    """A quantile, or the budget where it is beyond that."""
    found = times.quantile(share)
    return times.budget if found is None else found
