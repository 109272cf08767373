"""Figure 11: score against the size of the ensemble, one update per step."""

from pathlib import Path

from langevin_dqn.paper.contenders import BOOT, ENSEMBLE
from langevin_dqn.paper.ensembles import beats_boot
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.paper.jobs import deep_sea_jobs, merge
from langevin_dqn.plots.depth_scores import DepthScores

_BOTH = (BOOT, ENSEMBLE)
_DEPTHS = (10, 14, 20, 26, 30)

_SCORES = DepthScores("members", "members")


def draw(report: FigureReport, path: Path, caption: str) -> Path | None:
    return _SCORES.draw(report.results, path, caption)


def describe(report: FigureReport) -> str:
    return _SCORES.describe(report.results)


FIGURE = Figure(
    id="fig11",
    label="Figure 11",
    title="Boot DQN and Ensemble Langevin DQN: score against ensemble size",
    jobs={
        "quick": deep_sea_jobs(_BOTH, depths=(10, 20), members=(1, 3, 5), seeds=3, episodes=2000),
        # half of the paper's episodes and five seeds of five members, so that those runs are Figure 7's;
        # one member learns rarely, so that few seeds do not separate the agents
        "standard": merge(
            deep_sea_jobs(_BOTH, depths=_DEPTHS, members=(1,), seeds=20, episodes=5000),
            deep_sea_jobs(_BOTH, depths=_DEPTHS, members=(3, 10), seeds=3, episodes=5000),
            deep_sea_jobs(_BOTH, depths=_DEPTHS, members=(5,), seeds=5, episodes=5000),
        ),
        "paper": deep_sea_jobs(_BOTH, depths=range(10, 51, 2), members=(1, 2, 5, 10, 20), seeds=5, episodes=10_000),
    },
    claims=(beats_boot("members", "Ensemble Langevin DQN beats Boot DQN at every ensemble size."),),
    note="Both as in the text, one update per step.",
    draw=draw,
    describe=describe,
)
