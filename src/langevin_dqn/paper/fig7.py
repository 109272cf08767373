"""fig7: score against updates per step, both ensembles."""

from langevin_dqn.paper.contenders import BOOT, ENSEMBLE
from langevin_dqn.paper.ensembles import beats_boot, boot_gains_nothing, ensemble_gains
from langevin_dqn.paper.figure import Figure, sea_jobs

_BOTH = (BOOT, ENSEMBLE)

FIGURE = Figure(
    id="fig7",
    title="Boot DQN (5) and Ensemble Langevin DQN (5): score against updates per step",
    jobs={
        "quick": sea_jobs(_BOTH, depths=(10, 20), updates=(1, 5), seeds=3, episodes=2000),
        # half of the paper's episodes, so that the ensemble's runs are those of fig6
        "standard": sea_jobs(_BOTH, depths=(10, 14, 20, 26, 30), updates=(1, 5), seeds=5, episodes=5000),
        "paper": sea_jobs(_BOTH, depths=range(10, 51, 2), updates=(1, 2, 5, 10), seeds=5, episodes=10_000),
    },
    claims=(
        beats_boot("updates", "Ensemble Langevin DQN beats Boot DQN at every number of updates."),
        boot_gains_nothing("Boot DQN gains nothing from more updates."),
        ensemble_gains("Ensemble Langevin DQN gains from more updates."),
    ),
    note="Both as in the text; σ_w² = 1e-4 as a variance, ε of Adam 1e-6.",
)
