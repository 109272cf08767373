"""A comparison in one picture: a panel per environment, a curve per agent with its interval."""

import itertools
import math
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from langevin_dqn.comparison.curves import AXES, BAND_RESAMPLES, Curve, curve_of
from langevin_dqn.comparison.grammar import split_name
from langevin_dqn.comparison.intervals import LEAST_SEEDS, LEVEL
from langevin_dqn.errors import UserError, unknown
from langevin_dqn.ids import IMPORTING
from langevin_dqn.plots.style import LEGEND, SPARE, STYLES, WIDTH, check_path, drawing, grid, save

if TYPE_CHECKING:
    import polars as pl

#: Colours and dashes; those of presets last, so that a preset's colour seldom means something else.
_PALETTE = SPARE + tuple((style.color, style.dashes) for style in STYLES.values())
_MARKERS = "osD^vPX*"
#: Characters of a legend's column, and of a panel's title, that have room.
_LEGEND_WIDTH, _TITLE_WIDTH = 62, 84


class ContenderStyle(NamedTuple):
    """Colour, dashes and marker: each of them alone distinguishes up to eight agents."""

    text: str
    color: str
    dashes: Any
    marker: str


def styles_of(labels: Iterable[str]) -> dict[str, ContenderStyle]:
    """A style for each agent by its label; presets keep their colours, and what else there is gets the others."""
    labels = list(labels)
    own = {label: STYLES[label][:2] for label in labels if label in STYLES}
    free = [look for look in _PALETTE if look not in own.values()]
    for label in labels:  # a preset with settings takes the preset's colour, if nothing else has it
        name = split_name(label).name
        if label not in own and name in STYLES and STYLES[name][:2] in free:
            own[label] = STYLES[name][:2]
            free.remove(own[label])
    spare = itertools.chain(free, itertools.cycle(_PALETTE))
    looks = [own.get(label) or next(spare) for label in labels]
    return {
        label: ContenderStyle(agent_text(label), look[0], look[1], _MARKERS[i % len(_MARKERS)])
        for i, (label, look) in enumerate(zip(labels, looks, strict=True))
    }


def agent_text(label: str) -> str:
    """A label as a person reads it: ``Boot DQN (members=10)``."""
    name, settings = split_name(label)
    text = STYLES[name].text if name in STYLES else name.rpartition(":")[2] or name
    more = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{text} ({more})" if more else text


def env_texts(envs: Sequence[str]) -> dict[str, str]:
    """Short names of environments, without prefixes and modules; whole ids where short ones would be the same."""
    short = {env: _short(env) for env in envs}
    return short if len(set(short.values())) == len(short) else {env: env for env in envs}


def _short(env: str) -> str:
    prefix, _, rest = env.partition(":")
    if prefix in IMPORTING:
        return rest.partition(":")[2] or rest
    return rest if prefix in ("gym", "gymnax", "xminigrid") and rest else env


def draw_comparison(runs: "pl.DataFrame", path: str | Path, *, axis: str = "episodes", caption: str = "") -> Path:
    """Draw the runs of a comparison; see ``langevin_dqn.comparison.curves`` for what a curve is.

    Args:
        runs: what ``langevin_dqn.sweep`` returned.
        path: a .png, .pdf or .svg file.
        axis: ``episodes`` or ``steps``, on the horizontal axis.
        caption: the protocol; what line and band mean is written after it.
    """
    path = check_path(path)
    if axis not in AXES:
        raise unknown("axis", axis, AXES)
    envs, agents = (runs[column].unique(maintain_order=True).to_list() for column in ("env", "agent"))
    if not envs:
        raise UserError("no runs to draw", "run the comparison first")
    styles, titles = styles_of(agents), env_texts(envs)
    columns = min(len(envs), 2 if len(envs) == 4 else 3)
    lines = math.ceil(len(envs) / columns)
    with drawing() as plt:
        height = (3.0 if columns == 1 else 2.2) * lines + 0.75
        figure, all_axes = plt.subplots(lines, columns, figsize=(WIDTH, height), layout="constrained", squeeze=False)
        for axes in all_axes.flat[len(envs) :]:
            axes.set_visible(False)
        for axes, env in zip(all_axes.flat, envs, strict=False):
            _panel(axes, runs.filter(env=env), styles, axis)
            axes.set_title("\n".join(textwrap.wrap(titles[env], _TITLE_WIDTH // columns)), size=8)
        for axes in all_axes[:, 0]:
            axes.set_ylabel("return")
        handles = [
            plt.Line2D([], [], color=s.color, ls=s.dashes, marker=s.marker, ms=4, lw=1.6, label=s.text)
            for s in styles.values()
        ]
        longest = max(len(style.text) for style in styles.values())
        ncols = max(1, min(len(styles), 3, _LEGEND_WIDTH * 3 // 2 // (longest + 6)))
        figure.legend(handles=handles, loc="outside upper center", ncols=ncols, handlelength=3.2, **LEGEND)
        return save(plt, figure, path, f"{caption} {_meaning(runs)}".strip())


def _panel(axes, runs: "pl.DataFrame", styles: dict[str, ContenderStyle], axis: str) -> None:
    from matplotlib import ticker

    for i, (agent, style) in enumerate(styles.items()):
        curve = curve_of(runs.filter(agent=agent), axis)
        if curve is not None:
            _draw(axes, curve, style, (i + 0.5) / len(styles))
    axes.set_xlabel("episodes" if axis == "episodes" else "environment steps")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(4, integer=True, steps=[1, 2, 2.5, 5, 10]))
    in_thousands = axes.get_xlim()[1] >= 10_000
    axes.xaxis.set_major_formatter(lambda x, _: f"{x / 1000:g}k" if in_thousands and x else f"{x:,.0f}")
    axes.yaxis.set_major_locator(ticker.MaxNLocator(5))
    axes.tick_params(labelsize=7.5)
    axes.set_xlim(left=0)
    grid(axes)


def _draw(axes, curve: Curve, style: ContenderStyle, offset: float) -> None:
    if curve.low is None or curve.high is None:
        for seed in curve.seeds:
            axes.plot(curve.x, seed, color=style.color, lw=0.6, alpha=0.5)
    else:
        axes.fill_between(curve.x, curve.low, curve.high, color=style.color, alpha=0.14, lw=0)
        for edge in (curve.low, curve.high):
            axes.plot(curve.x, edge, color=style.color, ls=style.dashes, lw=0.5, alpha=0.6)
    every = max(len(curve.x) // 4, 1)  # agents' markers at places of their own
    places = (int(offset * every), every)
    axes.plot(
        curve.x, curve.middle, color=style.color, ls=style.dashes, lw=1.6, marker=style.marker, ms=4, markevery=places
    )


def _meaning(runs: "pl.DataFrame") -> str:
    seeds: list[int] = runs.group_by("env", "agent").len()["len"].to_list()
    few, many = min(seeds), max(seeds)
    number = f"{few}" if few == many else f"{few} to {many}"
    over = f"{number} seed{'' if many == 1 else 's'}"
    band = f"band: {LEVEL:.0%} bootstrap interval, {BAND_RESAMPLES:,} resamples"
    shown = f"{band}; thin lines: seeds, where fewer than {LEAST_SEEDS}" if few < LEAST_SEEDS <= many else band
    if many < LEAST_SEEDS:
        shown = "thin lines: seeds" if many > 1 else ""
    middle = "Line: interquartile mean over" if many > 1 else "Line:"
    return f"{middle} {over}; {shown}.".replace("; .", ".") + " Returns are averaged over a tenth of a run's episodes."
