"""Learning curves: regret or return against episodes or environment steps."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from langevin_dqn.errors import unknown
from langevin_dqn.plots.style import check_path, drawing, grid, save, styles_of
from langevin_dqn.runs import metrics
from langevin_dqn.runs.result import Result

#: What a curve may be drawn against, and the words for it.
AXES = {"episodes": "episode", "steps": "environment steps"}
_POINTS = 400


def learning_curves(
    groups: dict[str, Sequence[Result]], path: str | Path, caption: str = "", axis: str = "episodes"
) -> Path:
    """Regret per episode so far, against episodes or steps: a median line and a band over seeds.

    A run has learned where its curve first falls below the dotted line at 0.8. Where no best
    return is known, the mean return of the last 100 episodes is drawn instead.

    Args:
        groups: results by agent (or any label), one per seed.
        path: a .png, .pdf or .svg file.
        caption: the protocol, written below the axes.
        axis: ``episodes`` or ``steps``, on the horizontal axis.
    """
    path = check_path(path)
    if axis not in AXES:
        raise unknown("axis", axis, AXES)
    has_best = all(r.learned_regret is not None for results in groups.values() for r in results)
    styles = styles_of(groups)
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
        for name, results in groups.items():
            color, dashes, text = styles[name]
            legend = f"{text} ({sum(r.solved for r in results)} of {len(results)} seeds learned)" if has_best else text
            _draw(axes, [r for r in results if r.episodes], axis, color=color, ls=dashes, label=legend)
        axes.set_xlabel(AXES[axis])
        if has_best:
            axes.axhline(metrics.LEARNED_SHARE, color="0.4", lw=0.8, ls=":")
            axes.set(xscale="log", ylabel="regret per episode so far", ylim=(0, None))
            words = {"xytext": (3, 2), "textcoords": "offset points", "size": 7, "color": "0.35"}
            at = (0, metrics.LEARNED_SHARE)
            axes.annotate("learned below this line", at, xycoords=("axes fraction", "data"), **words)
        else:
            axes.set_ylabel("mean return of 100 episodes")
            axes.xaxis.set_major_formatter("{x:,.0f}")
        grid(axes)
        axes.legend(frameon=False, fontsize=8, loc="lower left" if has_best else "best")
        return save(plt, figure, path, caption)


def _draw(axes, results: Sequence[Result], axis: str, *, color: str, ls, label: str) -> None:
    """Seeds that ran equally long as a median and a band; others as a line each, up to where they stopped."""
    curves = [_recent_returns(r) if r.learned_regret is None else _regret_per_episode(r) for r in results]
    ends = [np.arange(1, r.episodes + 1) if axis == "episodes" else np.cumsum(r.lengths) for r in results]
    if curves and _equally_long(results, ends, axis):
        steps = np.linspace(max(end[0] for end in ends), min(end[-1] for end in ends), _POINTS)
        x = steps if axis == "steps" else ends[0]
        # a curve keeps its value until the next episode ends
        values = [y[np.searchsorted(end, x, side="right") - 1] for end, y in zip(ends, curves, strict=True)]
        axes.fill_between(x, *np.quantile(values, (0.25, 0.75), axis=0), color=color, alpha=0.15, lw=0)
        axes.plot(x, np.median(values, axis=0), color=color, ls=ls, lw=1.6, label=label)
        return
    for i, (result, end, curve) in enumerate(zip(results, ends, curves, strict=True)):
        axes.plot(end, curve, color=color, ls=ls, lw=1, label=None if i else label)
        if result.solved:
            axes.plot(end[-1], curve[-1], "o", color=color, ms=3)


def _equally_long(results: Sequence[Result], ends: Sequence[np.ndarray], axis: str) -> bool:
    """Whether all seeds end together: after equally many episodes, or steps within an episode of each other."""
    last = [end[-1] for end in ends]
    longest = max(int(result.lengths.max(initial=0)) for result in results) if axis == "steps" else 0
    return bool(max(last) - min(last) <= longest)


def _regret_per_episode(result: Result) -> np.ndarray:
    assert result.max_return is not None
    return metrics.regret(result.returns, result.max_return) / np.arange(1, result.episodes + 1)


def _recent_returns(result: Result) -> np.ndarray:
    """Mean of the last 100 returns, or of as many as there are, after each episode."""
    sums = np.concatenate([[0.0], np.cumsum(result.returns, dtype=np.float64)])
    upto = np.arange(1, result.episodes + 1)
    since = np.maximum(upto - 100, 0)
    return (sums[upto] - sums[since]) / (upto - since)
