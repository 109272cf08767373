"""Pictures of regret in bandits."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from langevin_dqn.errors import UserError
from langevin_dqn.plots.style import STYLES, check_path, write

#: Of each rule that is not an agent: colour, dashes and name, as in ``style.STYLES``.
RULES = {
    "thompson": ("#0072B2", (0, (5, 2)), "Thompson sampling, exact"),
    "epsilon_greedy": ("#000000", (0, (1, 1)), "ε-greedy"),
    "ucb": ("#009E73", (0, (3, 1, 1, 1)), "UCB"),
    "dqn": ("#000000", (0, (1, 1)), "DQN, ε-greedy"),
    "dqn_greedy": ("#E69F00", (0, (5, 1, 1, 1)), "DQN, greedy"),
}
_OTHER = ("#CC79A7", "-")


def regret_curves(
    panels: Mapping[str, Mapping[str, np.ndarray | Sequence[np.ndarray]]], path: str | Path, caption: str = ""
) -> Path:
    """Cumulative regret against steps: the mean over seeds, and a band of one standard error.

    Args:
        panels: a title and, by rule or agent, the regret of each pull (seeds, steps); one panel each.
        path: a .png, .pdf or .svg file.
        caption: the protocol, written below the axes.
    """
    path = check_path(path)
    if not panels or not all(panels.values()):
        raise UserError("no regrets were passed", "give each panel at least one agent's regrets")
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, all_axes = plt.subplots(
            1, len(panels), figsize=(5.5, 3.6 if len(panels) == 1 else 2.9), layout="constrained", squeeze=False
        )
        for axes, (title, groups) in zip(all_axes[0], panels.items(), strict=True):
            for name, regrets in groups.items():
                _draw(axes, name, np.cumsum(np.stack(list(regrets)), axis=1, dtype=np.float64))
            axes.set(xlabel="step", title=title, xlim=(0, None), ylim=(0, None))
            axes.title.set_size(9)
            axes.legend(frameon=False, fontsize=8 if len(panels) == 1 else 7, loc="upper left")
        all_axes[0][0].set_ylabel("cumulative regret")
        if caption:
            figure.supxlabel(caption, size=7, color="0.35")
        write(figure, path, dpi=200)
        plt.close(figure)
    return path


def _draw(axes, name: str, curves: np.ndarray) -> None:
    color, dashes, text = RULES.get(name) or STYLES.get(name) or (*_OTHER, name)
    steps = np.arange(1, curves.shape[1] + 1)
    mean = curves.mean(axis=0)
    if len(curves) > 1:
        error = curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
        axes.fill_between(steps, mean - error, mean + error, color=color, alpha=0.2, lw=0)
    axes.plot(steps, mean, color=color, ls=dashes, lw=1.6, label=text)
