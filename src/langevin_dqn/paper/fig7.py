"""Figure 7: score against updates per step, both ensembles."""

from pathlib import Path

from langevin_dqn.paper.contenders import BOOT, ENSEMBLE
from langevin_dqn.paper.ensembles import beats_boot, boot_gains_nothing, ensemble_gains
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.paper.jobs import deep_sea_jobs, merge
from langevin_dqn.plots.depth_scores import DepthScores

_BOTH = (BOOT, ENSEMBLE)
_DEPTHS = (10, 14, 20, 26, 30)

_SCORES = DepthScores("updates", "updates per step")


def draw(report: FigureReport, path: Path, caption: str) -> Path | None:
    return _SCORES.draw(report.results, path, caption)


def describe(report: FigureReport) -> str:
    return _SCORES.describe(report.results)


FIGURE = Figure(
    id="fig7",
    label="Figure 7",
    title="Boot DQN (5) and Ensemble Langevin DQN (5): score against updates per step",
    jobs={
        "quick": deep_sea_jobs(_BOTH, depths=(10, 20), updates=(1, 5), seeds=3, episodes=2000),
        # half of the paper's episodes, so that the ensemble's runs are those of Figure 6
        "standard": merge(
            deep_sea_jobs(_BOTH, depths=_DEPTHS, updates=(1, 5), seeds=5, episodes=5000),
            # five more: "gains from more updates" has a power of 69% with 25 pairs and a ratio of 0.67
            deep_sea_jobs((ENSEMBLE,), depths=_DEPTHS, updates=(1, 5), seeds=range(5, 10), episodes=5000),
        ),
        "paper": deep_sea_jobs(_BOTH, depths=range(10, 51, 2), updates=(1, 2, 5, 10), seeds=5, episodes=10_000),
    },
    claims=(
        beats_boot("updates", "Ensemble Langevin DQN beats Boot DQN at every number of updates."),
        boot_gains_nothing("Boot DQN gains nothing from more updates."),
        ensemble_gains("Ensemble Langevin DQN gains from more updates."),
    ),
    note="Both as in the text; σ_w² = 1e-4 as a variance, ε of Adam 1e-6.",
    draw=draw,
    describe=describe,
)
