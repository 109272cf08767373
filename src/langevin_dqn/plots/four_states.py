"""The triangles of Section 5 (four states, two actions), shaded by variance."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from langevin_dqn.insight.four_states import ACTIONS, DOWN, HORIZON, STATES, UNCERTAIN, UP, FourStates
from langevin_dqn.plots.style import check_path, write

#: Corners of a cell's two triangles around its middle, y downwards: up above, down below.
_CORNERS = {UP: ((-0.3, -0.03), (0.3, -0.03), (0.0, -0.36)), DOWN: ((-0.3, 0.03), (0.3, 0.03), (0.0, 0.36))}


def triangles(
    problem: FourStates, variances: Mapping[str, np.ndarray], path: str | Path, caption: str = "", digits: bool = True
) -> Path:
    """A panel per set of variances: rows are states, columns are h, shades are log variances.

    Dotted lines are plausible transitions of the pairs with much data; any transition of
    (4, down) is plausible, and only the one observed is drawn, dashed.

    Args:
        problem: whose transitions are drawn.
        variances: by the panel's title, (horizon, states, actions).
        path: a .png, .pdf or .svg file.
        caption: the protocol, written below.
        digits: write each variance into its triangle.
    """
    path = check_path(path)
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm

    everything = np.concatenate([v.ravel() for v in variances.values()])
    shade = LogNorm(everything.min(), everything.max())
    with plt.rc_context({"font.size": 9}):
        size = (5.5, 2.8 * len(variances) + 0.5)
        figure, panels = plt.subplots(len(variances), 1, figsize=size, layout="constrained", squeeze=False)
        for axes, (title, variance) in zip(panels[:, 0], variances.items(), strict=True):
            _transitions(axes, problem)
            _cells(axes, variance, shade, plt.get_cmap("cividis_r"), digits)
            axes.set_title(title, size=9)
            axes.set(xlim=(-0.6, HORIZON - 0.4), ylim=(STATES - 0.5, -0.5), xlabel="period h", ylabel="state")
            axes.set_xticks(range(HORIZON))
            axes.set_yticks(range(STATES), range(1, STATES + 1))
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
        mappable = plt.cm.ScalarMappable(shade, "cividis_r")
        figure.colorbar(mappable, ax=list(panels[:, 0]), shrink=0.7, aspect=30, label="variance of Q (log scale)")
        if caption:
            figure.supxlabel(caption, size=7, color="0.35")
        write(figure, path, dpi=200)
        plt.close(figure)
    return path


def _cells(axes, variance: np.ndarray, shade, colors, digits: bool) -> None:
    from matplotlib.patches import Polygon

    for h, x, a in np.ndindex(HORIZON, STATES, ACTIONS):
        level = float(shade(variance[h, x, a]))
        corners = [(h + dx, x + dy) for dx, dy in _CORNERS[a]]
        axes.add_patch(Polygon(corners, fc=colors(level), ec="black", lw=0.6, zorder=3))
        if digits:
            ink = "white" if level > 0.5 else "black"
            place = x + (-0.1 if a == UP else 0.1)
            axes.text(h, place, _short(float(variance[h, x, a])), size=6, color=ink, ha="center", va="center", zorder=4)


def _short(variance: float) -> str:
    return f"{variance:.2f}".lstrip("0") if variance >= 0.095 else f"{variance:.1g}".replace("0.", ".")


def _transitions(axes, problem: FourStates) -> None:
    """From each triangle's right corner to the next column's cells."""
    table = problem.transitions
    for h in range(HORIZON - 1):
        for x, a, y in zip(*np.nonzero(table), strict=True):
            start = (h + 0.3, x + (-0.04 if a == UP else 0.04))
            looks = {"ls": (0, (4, 2)), "color": "#D55E00"} if (x, a) == UNCERTAIN else {"ls": ":", "color": "0.45"}
            axes.plot((start[0], h + 0.7), (start[1], y), lw=0.8, zorder=1, **looks)
