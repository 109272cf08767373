"""fig1, fig4 and fig5 as figures of the report: a drawing, a computation, and recorded maps."""

from pathlib import Path

import numpy as np

from langevin_dqn.analysis import seas
from langevin_dqn.analysis.uncertainty import CLIP, grid, reachable, uncertainty
from langevin_dqn.experiments import fig4
from langevin_dqn.insight.four_states import HORIZON, UNCERTAIN, UP
from langevin_dqn.report import deep_sea_drawing, four_states
from langevin_dqn.report import uncertainty as pictures
from langevin_dqn.report.maps import Maps
from langevin_dqn.report.summary import FigureReport
from langevin_dqn.runs.result import Result


def draw_sea(_: FigureReport, path: str | Path, caption: str) -> Path:
    return deep_sea_drawing.draw(path)


def tell_sea(_: FigureReport) -> str:
    return (
        "A grid. A dive starts at the top left and goes down one row a step, to the left or to the right. Each step to "
        "the right costs 0.01/N; the chest at the bottom right pays 1 and is reached by going right all the way. "
        "The cells above the diagonal cannot be reached."
    )


def draw_triangles(_: FigureReport, path: str | Path, caption: str) -> Path:
    problem = fig4.PROBLEM
    words = (
        f"(4, down): 1 datum; other pairs: {problem.many}; {fig4.CHAINS} chains of eq. (8); shades are log variances"
    )
    panels = {
        "exact posterior of Q*": fig4.spreads()["posterior"].variance,
        "Langevin estimates (eq. 8)": fig4.spreads()["Langevin"].variance,
    }
    return four_states.triangles(problem, panels, path, words)


def tell_triangles(_: FigureReport) -> str:
    parts = []
    for name, found in fig4.spreads().items():
        values = ", ".join(f"{found.variance[h, *UNCERTAIN]:.2f}" for h in range(HORIZON))
        parts.append(
            f"{name}: variance of (4, down) at h = 0 to 5: {values}; "
            f"of (1, up) at h = 0: {found.variance[0, 0, UP]:.3f}."
        )
    return "Two triangles for each state and time, up and down, darker where Q is less certain. " + " ".join(parts)


def shown_run(report: FigureReport) -> Result | None:
    """The run that the maps show: of those that learned, the one whose learning time is in the middle."""
    runs = [result for result in report.results if result.record is not None and len(result.record.episodes)]
    runs.sort(key=lambda result: (result.learning_time is None, result.learning_time or 0))
    learned = [result for result in runs if result.solved]
    return learned[(len(learned) - 1) // 2] if learned else runs[0] if runs else None


def draw_maps(report: FigureReport, path: str | Path, caption: str) -> Path | None:
    result = shown_run(report)
    return None if result is None else pictures.draw_maps(result, path)


def tell_maps(report: FigureReport) -> str:
    result = shown_run(report)
    if result is None or result.record is None:
        return "There are no maps yet."
    means = uncertainty(result.record)[:, reachable(seas.depth_of(result.env)).ravel()].mean(1)
    told = [f"{means[i]:.3g} at episode {result.record.episodes[i]}" for i in (0, len(means) // 2, -1)]
    return (
        f"Maps of the sea by episode, seed {result.seed}. Mean uncertainty over the cells in reach: {', '.join(told)}."
    )


def slider(report: FigureReport) -> Maps | None:
    """Every map of the run shown, for the page's slider."""
    result = shown_run(report)
    if result is None or result.record is None:
        return None
    depth = seas.depth_of(result.env)
    values = np.where(reachable(depth), grid(uncertainty(result.record), depth), np.nan)
    learned = f"learned at episode {result.learning_time}" if result.solved else "not learned"
    return Maps(
        result.record.episodes.tolist(),
        list(values),
        limit=2 * CLIP,
        least=pictures.LEAST,
        note=f"Seed {result.seed}, {learned}. The scale is logarithmic.",
    )
