"""Learning curves: regret or return against episodes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from langevin_dqn.plots.style import check_path, drawing, styles_of
from langevin_dqn.runs import metrics
from langevin_dqn.runs.result import Result


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
    styles = styles_of(groups)
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
        for name, results in groups.items():
            color, dashes, text = styles[name]
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
