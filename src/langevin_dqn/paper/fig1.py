"""Figure 1: the Deep Sea environment, a drawing."""

from pathlib import Path

from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.plots import deep_sea


def draw(_: FigureReport, path: Path, caption: str) -> Path:
    return deep_sea.draw(path)


def describe(_: FigureReport) -> str:
    return (
        "A grid. An episode starts at the top left and goes down one row per step, to the left or to the right. Each "
        "step to the right costs 0.01/N; the chest at the bottom right pays 1 and is reached by going right at every "
        "step. The cells above the diagonal cannot be reached."
    )


FIGURE = Figure(
    id="fig1",
    label="Figure 1",
    title="The Deep Sea environment",
    note="A drawing of the environment's rules.",
    draw=draw,
    describe=describe,
)
