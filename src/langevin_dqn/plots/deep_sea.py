"""A drawing of the Deep Sea environment, from its own rules."""

from pathlib import Path
from typing import Any

from langevin_dqn.errors import UserError
from langevin_dqn.plots.style import check_path, write

_WATER, _PATH, _CHEST, _LEFT = "#DCEBF5", "#D55E00", "#E69F00", "#0072B2"
#: At larger depths the cells would be too small to read.
MAX_DRAWN = 16


def draw(path: str | Path, depth: int = 8) -> Path:
    """The grid with its start, chest, moves and rewards; cells that cannot be reached are hatched.

    Args:
        path: a .png, .pdf or .svg file.
        depth: N, rows and columns.
    """
    from langevin_dqn.environments.bsuite.deep_sea import MIN_DEPTH  # here, because it loads JAX

    path = check_path(path)
    if not MIN_DEPTH <= depth <= MAX_DRAWN:
        raise UserError(f"depth={depth} cannot be drawn", f"use a depth from {MIN_DEPTH} to {MAX_DRAWN}")
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    with plt.rc_context({"font.size": 9, "hatch.linewidth": 0.5}):
        figure = plt.figure(figsize=(5.5, 3.5))
        axes = figure.add_axes((0.115, 0.13, 0.53, 0.833))
        for row in range(depth):
            for column in range(depth):
                reached = column <= row
                looks: dict[str, Any] = {"fc": _WATER} if reached else {"fc": "white", "hatch": "////"}
                axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, ec="0.65", lw=0.6, **looks))
        for step in range(depth - 1):
            _arrow(axes, (step, step), (step + 1, step + 1), _PATH, lw=2.0)
        for row in range(1, depth - 1):
            for column in range(row):
                _arrow(axes, (column, row), (column + 1, row + 1), _PATH, lw=0.6)
        for row in range(depth - 1):
            for column in range(row + 1):
                # At the left edge a move to the left goes straight down.
                _arrow(axes, (column, row), (max(column - 1, 0), row + 1), _LEFT, lw=0.6)
        _corners(axes, depth)
        axes.set(xlim=(-0.55, depth - 0.45), ylim=(depth - 0.45, -0.55), aspect="equal")
        axes.set_xticks([0, depth - 1], ["1", f"N = {depth}"])
        axes.set_yticks([0, depth - 1], ["1", f"N = {depth}"])
        axes.set(xlabel="column", ylabel="row = time step")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        figure.legend(handles=_legend(depth), loc="center right", frameon=False, fontsize=8, handlelength=1.6)
        write(figure, path, dpi=200)
        plt.close(figure)
    return path


def _arrow(axes, start: tuple[float, float], end: tuple[float, float], color: str, lw: float) -> None:
    gap = 0.24
    (x0, y0), (x1, y1) = start, end
    dx, dy = x1 - x0, y1 - y0
    axes.annotate(
        "", (x1 - gap * dx, y1 - gap * dy), (x0 + gap * dx, y0 + gap * dy),
        arrowprops={"arrowstyle": "-|>", "color": color, "lw": lw, "mutation_scale": 4 + 3 * lw, "shrinkA": 0,
                    "shrinkB": 0},
    )  # fmt: skip


def _corners(axes, depth: int) -> None:
    from matplotlib.patches import Circle, Rectangle

    last = depth - 1
    axes.add_patch(Circle((0, 0), 0.22, fc="black", zorder=4))
    white = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    axes.text(0.62, 0, "start", ha="left", va="center", size=8, zorder=5, bbox=white)
    axes.add_patch(Rectangle((last - 0.3, last - 0.08), 0.6, 0.42, fc=_CHEST, ec="black", lw=0.8, zorder=4))
    axes.add_patch(Rectangle((last - 0.3, last - 0.26), 0.6, 0.18, fc=_CHEST, ec="black", lw=0.8, zorder=4))
    axes.text(last, last + 0.14, "+1", ha="center", va="center", size=7, weight="bold", zorder=5)


def _legend(depth: int) -> list:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Line2D([], [], color=_PATH, lw=2.0, label="the only path to the chest:\nright, N times"),
        Line2D([], [], color=_PATH, lw=0.8, label=f"right: costs 0.01/N\n(here {0.01 / depth:g})"),
        Line2D([], [], color=_LEFT, lw=0.8, label="left: costs nothing;\nstraight down at the edge"),
        Patch(fc=_CHEST, ec="black", label="chest: 1 for moving\nright once more"),
        Patch(fc="white", ec="0.65", hatch="////", label="never reached"),
    ]
