"""Pictures of results, in matplotlib."""

import textwrap
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from langevin_dqn.errors import UserError
from langevin_dqn.runs import metrics
from langevin_dqn.runs.result import Result

#: Okabe and Ito's colours, told apart with any colour vision; dashes say the same again.
STYLES = {
    "dqn": ("#000000", (0, (1, 1)), "DQN"),
    "langevin_dqn": ("#D55E00", "-", "Langevin DQN"),
    "boot_dqn": ("#0072B2", (0, (5, 2)), "Boot DQN"),
    "ensemble_langevin_dqn": ("#009E73", "-", "Ensemble Langevin DQN"),
}
_OTHER = ("#CC79A7", (0, (3, 1, 1, 1)))
_FORMATS = ("png", "pdf", "svg")


def label(agent: str) -> str:
    """An agent's name as a person writes it."""
    return STYLES[agent][2] if agent in STYLES else agent


def check_path(path: str | Path) -> Path:
    """Refuse a file name that no picture can be written to."""
    path = Path(path)
    if path.suffix[1:] not in _FORMATS:
        raise UserError(f"cannot write a picture to {path}", f"end the name in .{', .'.join(_FORMATS)}")
    if not path.absolute().parent.is_dir():
        raise UserError(f"the folder of {path} does not exist", f"create {path.absolute().parent} first")
    return path


@contextmanager
def drawing():
    """Set matplotlib up without a display, and this report's settings."""
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
    """A caption of size 7 in lines that a picture of this width has room for."""
    return "\n".join(textwrap.wrap(caption, int(17.5 * inches)))


def learning_curves(groups: dict[str, Sequence[Result]], path: str | Path, caption: str = "") -> Path:
    """Regret per episode so far, against episodes: a median line and a band over seeds.

    A run has learned where its curve first falls below the dotted line at 0.8. Where no best
    return is known, the mean return of the last 100 episodes is drawn instead.

    Args:
        groups: results by agent (or any label), one per seed.
        path: a .png, .pdf or .svg file.
        caption: the protocol, written below the axes.
    """
    path = check_path(path)
    has_best = all(r.learned_regret is not None for results in groups.values() for r in results)
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
        for name, results in groups.items():
            color, dashes, text = STYLES.get(name, (*_OTHER, name))
            legend = f"{text} ({sum(r.solved for r in results)} of {len(results)} seeds learned)" if has_best else text
            _draw(axes, [r for r in results if r.episodes], color=color, ls=dashes, label=legend)
        if has_best:
            axes.axhline(metrics.LEARNED_SHARE, color="0.4", lw=0.8, ls=":")
            axes.text(1, metrics.LEARNED_SHARE, " learned below this line", va="bottom", size=7, color="0.35")
            axes.set(xscale="log", xlabel="episode", ylabel="regret per episode")
            axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0] - 0.2))  # room for the legend
        else:
            axes.set(xlabel="episode", ylabel="mean return of 100 episodes")
        axes.legend(frameon=False, fontsize=8, loc="lower left" if has_best else "upper left")
        if caption:
            figure.supxlabel(caption, size=7, color="0.35")
        figure.savefig(path, dpi=200)
        plt.close(figure)
    return path


def _draw(axes, results: Sequence[Result], *, color: str, ls, label: str) -> None:
    """Seeds of one length as a median and a band; runs that stopped early as a line each, up to where they stopped."""
    curves = [_recent_returns(r) if r.learned_regret is None else _regret_per_episode(r) for r in results]
    if len({len(curve) for curve in curves}) == 1:
        episodes = np.arange(1, len(curves[0]) + 1)
        axes.fill_between(episodes, *np.quantile(curves, (0.25, 0.75), axis=0), color=color, alpha=0.15, lw=0)
        axes.plot(episodes, np.median(curves, axis=0), color=color, ls=ls, lw=1.6, label=label)
        return
    for i, (result, curve) in enumerate(zip(results, curves, strict=True)):
        axes.plot(np.arange(1, len(curve) + 1), curve, color=color, ls=ls, lw=1, label=None if i else label)
        if result.solved:
            axes.plot(len(curve), curve[-1], "o", color=color, ms=3)


def _regret_per_episode(result: Result) -> np.ndarray:
    assert result.max_return is not None
    return metrics.regret(result.returns, result.max_return) / np.arange(1, result.episodes + 1)


def _recent_returns(result: Result) -> np.ndarray:
    """Mean of the last 100 returns, or of as many as there are, after each episode."""
    sums = np.concatenate([[0.0], np.cumsum(result.returns, dtype=np.float64)])
    upto = np.arange(1, result.episodes + 1)
    since = np.maximum(upto - 100, 0)
    return (sums[upto] - sums[since]) / (upto - since)
