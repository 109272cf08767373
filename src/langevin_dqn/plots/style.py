"""What pictures share: a style for each agent, matplotlib's settings, file names and captions."""

import itertools
import re
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from langevin_dqn import files
from langevin_dqn.errors import UserError
from langevin_dqn.extras import require
from langevin_dqn.runs.folders import check_file


class Style(NamedTuple):
    """An agent's line, and its name as a person writes it."""

    color: str
    dashes: Any
    text: str


#: Okabe and Ito's colours, distinguishable with any colour vision; the dashes differ too.
STYLES = {
    "dqn": Style("#000000", (0, (1, 1)), "DQN"),
    "langevin_dqn": Style("#D55E00", "-", "Langevin DQN"),
    "boot_dqn": Style("#0072B2", (0, (5, 2)), "Boot DQN"),
    "ensemble_langevin_dqn": Style("#009E73", "-", "Ensemble Langevin DQN"),
}
#: For agents that have no style of their own, in turn.
SPARE = (("#CC79A7", (0, (3, 1, 1, 1))), ("#56B4E9", (0, (4, 1))), ("#E69F00", (0, (2, 1))), ("#999999", "-"))
MARKERS = "osD^vP*X"
#: Inches across: the width of a page of text.
WIDTH = 5.5
LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 8}
_FORMATS = ("png", "pdf", "svg")


def label(agent: str) -> str:
    """An agent's name as a person writes it."""
    return STYLES[agent].text if agent in STYLES else agent


def styles_of(agents: Iterable[str]) -> dict[str, Style]:
    """A style for each agent: the known ones first and in one order everywhere, the others by name."""
    found = set(agents)
    others = sorted(found - STYLES.keys())
    styles = {agent: style for agent, style in STYLES.items() if agent in found}
    spare = zip(others, itertools.cycle(SPARE), strict=False)
    return styles | {agent: Style(color, dashes, agent) for agent, (color, dashes) in spare}


def check_path(path: str | Path) -> Path:
    """Refuse a file name that no picture can be written to, and any where there is nothing to draw with."""
    require("matplotlib")
    path = Path(path)
    if path.suffix[1:] not in _FORMATS:
        raise UserError(f"cannot write a picture to {path}", f"use a file name that ends in .{', .'.join(_FORMATS)}")
    if path.parent.exists() and not path.parent.is_dir():
        raise UserError(f"{path.parent} is not a folder", "use the name of a file in a folder")
    if not path.absolute().parent.is_dir():
        raise UserError(f"the folder of {path} does not exist", f"create {path.absolute().parent} first")
    check_file(path)
    return path


@contextmanager
def drawing():
    """Set matplotlib up without a display, and this report's settings."""
    require("matplotlib")
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    settings: dict[Any, Any] = {
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "hatch.linewidth": 0.6,
    }
    with plt.rc_context(settings):
        yield plt


def wrapped(caption: str, inches: float) -> str:
    """A caption of size 7 in lines of about equal length that a picture of this width has room for."""
    room = int(17.5 * inches)
    lines = textwrap.wrap(caption, room)
    for width in range(room, 0, -1):
        shorter = textwrap.wrap(caption, width)
        if len(shorter) > len(lines):
            break
        lines = shorter
    return "\n".join(lines)


def typeset(name: str) -> str:
    """A name with σ_w² and powers of ten, such as 1e-4, set as mathematics."""
    name = re.sub(r"\b1e(-?\d+)", r"$10^{\1}$", name)
    return name.replace("σ_w²", r"$\sigma_w^2$")


def joined(values: Sequence[float]) -> np.ndarray:
    """The values to draw a line through: those in rows of at least three finite ones; the others are NaN.

    A line through two points shows no trend, and reads as if it did.
    """
    finite = np.isfinite(np.asarray(values, float))
    kept = np.full(len(finite), np.nan)
    for start in range(len(finite) - 2):
        if finite[start : start + 3].all():
            kept[start : start + 3] = values[start : start + 3]
    return kept


def log_ticks(axes, values: Sequence[int]) -> None:
    """A logarithmic x axis with a tick at each value that was run, and none between."""
    axes.set_xticks(values, [str(value) for value in values])
    axes.set_xticks([], minor=True)
    axes.set_xlim(min(values) / 1.35, max(values) * 1.35)


def named_ticks(axes, values: Sequence[int]) -> None:
    """An x axis with a place for each of a few values, at 0, 1, ..., all equally far apart."""
    axes.set_xticks(range(len(values)), [str(value) for value in values])
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, len(values) - 0.5)


def side_by_side(count: int, step: float) -> np.ndarray:
    """Offsets around 0 for ``count`` points that would hide each other."""
    return step * (np.arange(count) - (count - 1) / 2)


def grid(axes) -> None:
    """Horizontal lines behind the data."""
    axes.grid(axis="y", color="0.9", lw=0.6)
    axes.set_axisbelow(True)


def save(plt, figure, path: Path, caption: str) -> Path:
    """Write a picture with a caption below, and close it; one that begins with a full stop lacks its first part."""
    words = wrapped(caption.removeprefix(". "), figure.get_size_inches()[0])
    figure.supxlabel(words, size=7, color="0.35")
    write(figure, path, dpi=300)
    plt.close(figure)
    return path


def write(figure, path: Path, dpi: int) -> None:
    """Write a picture in the place of what is there, and nothing through a link of that name."""
    with files.replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:], dpi=dpi)
