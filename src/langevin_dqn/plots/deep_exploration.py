"""Episodes until success in Deep Sea against depth: dithering, and agents that explore deeply."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from langevin_dqn.insight.deep_exploration import SERIES, Times, geometric_quantile
from langevin_dqn.plots.style import STYLES, check_path, drawing, grid, joined, save

#: Colour, dashes, marker and words of each series, by what is measured.
LOOKS = {
    "uniform": ("#777777", "", "x", "random actions, measured"),
    "dqn_decay": ("#E69F00", (0, (4, 1)), "s", "DQN, ε from 0.5"),
    "dqn": (*STYLES["dqn"][:2], "o", "DQN, ε = 0.05"),
    "langevin_dqn": (*STYLES["langevin_dqn"][:2], "D", "Langevin DQN"),
    "ensemble_langevin_dqn": (*STYLES["ensemble_langevin_dqn"][:2], "o", "Ensemble Langevin DQN"),
    "rlsvi": ("#0072B2", "-", "^", "tabular RLSVI"),
}
#: Panels, from left to right.
_WHAT = {"first_success": "first success", "learning_time": "learning time"}


def draw(measured: Mapping[str, Sequence[Times]], path: str | Path, caption: str = "") -> Path:
    """Medians over seeds with their quartiles; an arrow up where the median is beyond the budget.

    First successes and learning times have a panel each.

    Args:
        measured: times by series, one entry per depth.
        path: a .png, .pdf or .svg file.
        caption: the protocol, written below the axes.
    """
    path = check_path(path)
    measured = {name: series for name, series in measured.items() if series}
    panels = [what for what in _WHAT if any(SERIES[name].what == what for name in measured)]
    depths = sorted({t.depth for series in measured.values() for t in series})
    budget = max(t.budget for series in measured.values() for t in series)
    with drawing() as plt:
        from matplotlib import ticker

        figure, axes = plt.subplots(
            1, len(panels), figsize=(5.5, 3.7), sharey=True, layout="constrained", squeeze=False
        )
        for panel, what in zip(axes[0], panels, strict=True):
            shown = {name: series for name, series in measured.items() if SERIES[name].what == what}
            own = sorted({t.depth for series in shown.values() for t in series})
            _law(panel, np.arange(depths[0], depths[-1] + 1))
            for place, (name, series) in enumerate(shown.items()):
                _series(panel, name, series, shift=min(0.02 * own[-1], 0.25) * (place - (len(shown) - 1) / 2))
            panel.axhline(budget, color="0.6", lw=0.7)
            panel.set(yscale="log", xlabel="depth N", title=_WHAT[what], ylim=(0.8, 20 * budget))
            panel.title.set_size(9)
            panel.xaxis.set_major_locator(ticker.MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
            panel.set_xlim(own[0] - 0.06 * own[-1], 1.06 * own[-1])
            grid(panel)
            panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False, fontsize=7.5)
        axes[0][0].set_ylabel("episodes")
        axes[0][0].annotate(
            f"↑ median beyond {budget:,} episodes",
            (0.03, 3 * budget), xycoords=("axes fraction", "data"), va="bottom", size=7.5, color="0.35",
        )  # fmt: skip
        return save(plt, figure, path, caption)


def _law(axes, depths: np.ndarray) -> None:
    """The geometric law: its median, 0.69·2^N, and the middle half."""
    low, middle, high = (np.array([geometric_quantile(int(n), q) for n in depths], float) for q in (0.25, 0.5, 0.75))
    axes.fill_between(depths, low, high, color="0.6", alpha=0.25, lw=0)
    axes.plot(depths, middle, color="0.45", lw=1.2, label="random actions, in theory")


def _series(axes, name: str, series: Sequence[Times], shift: float) -> None:
    color, dashes, marker, text = LOOKS[name]
    inside = [t for t in series if t.quantile(0.5) is not None]
    beyond = [t for t in series if t.quantile(0.5) is None]
    looks = {"color": color, "marker": marker, "ms": 4, "lw": 1.3, "zorder": 3}
    if inside:
        x = np.array([t.depth for t in inside]) + shift
        low, middle, high = ([_or_budget(t, share) for t in inside] for share in (0.25, 0.5, 0.75))
        axes.vlines(x, low, high, color=color, lw=1.1, alpha=0.7)
    else:
        x, middle = np.array([]), []
    line = dashes if dashes and np.isfinite(joined(middle)).any() else "none"
    axes.plot(x, middle, ls=line, label=text, **looks)
    for t in beyond:
        axes.plot(t.depth + shift, t.budget, color=color, marker=marker, ms=4, mfc="white", zorder=4)
        axes.annotate(
            "", (t.depth + shift, 2.8 * t.budget), (t.depth + shift, 1.15 * t.budget),
            arrowprops={"arrowstyle": "->", "color": color, "lw": 0.9},
        )  # fmt: skip


def _or_budget(times: Times, share: float) -> int:
    """A quantile, or the budget where it is beyond that."""
    found = times.quantile(share)
    return times.budget if found is None else found
