"""fig8: learning time at depth 50 against updates per step, both ensembles."""

from langevin_dqn.paper.contenders import BOOT, ENSEMBLE
from langevin_dqn.paper.ensembles import beats_boot, ensemble_gains, learns_every_seed
from langevin_dqn.paper.figure import Figure, merge, sea_jobs

_BOTH = (BOOT, ENSEMBLE)

FIGURE = Figure(
    id="fig8",
    title="Depth 50: learning time against updates per step",
    jobs={
        # depth 20 stands in for depth 50, which takes a run many minutes: runs that fig7 has too
        "quick": sea_jobs(_BOTH, depths=(20,), updates=(1, 5), seeds=3, episodes=2000),
        "standard": merge(
            sea_jobs((ENSEMBLE,), depths=(50,), updates=(1, 5), seeds=5, episodes=5000),
            sea_jobs((BOOT,), depths=(50,), updates=(1, 5), seeds=3, episodes=5000),
        ),
        "paper": sea_jobs(_BOTH, depths=(50,), updates=(1, 2, 5, 10), seeds=5, episodes=5000),
    },
    claims=(
        learns_every_seed("Ensemble Langevin DQN learns depth 50 in every seed at the larger update counts.", 50),
        ensemble_gains("It learns sooner with more updates."),
        beats_boot("updates", "It outperforms Boot DQN at every number of updates."),
    ),
    note="Both as in the text, σ_w² = 1e-4 as a variance; ε of Adam, which the text does not give, is 1e-6. "
    "docs/reproduce.md tells of other settings at this depth.",
)
