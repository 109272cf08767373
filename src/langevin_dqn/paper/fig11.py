"""fig11: score against the size of the ensemble, one update per step."""

from langevin_dqn.paper.contenders import BOOT, ENSEMBLE
from langevin_dqn.paper.ensembles import beats_boot
from langevin_dqn.paper.figure import Figure, merge, sea_jobs

_BOTH = (BOOT, ENSEMBLE)
_DEPTHS = (10, 14, 20, 26, 30)

FIGURE = Figure(
    id="fig11",
    title="Boot DQN and Ensemble Langevin DQN: score against ensemble size",
    jobs={
        "quick": sea_jobs(_BOTH, depths=(10, 20), members=(1, 3, 5), seeds=3, episodes=2000),
        # half of the paper's episodes and five seeds of five members, so that those runs are fig7's
        "standard": merge(
            sea_jobs(_BOTH, depths=_DEPTHS, members=(1, 3, 10), seeds=3, episodes=5000),
            sea_jobs(_BOTH, depths=_DEPTHS, members=(5,), seeds=5, episodes=5000),
        ),
        "paper": sea_jobs(_BOTH, depths=range(10, 51, 2), members=(1, 2, 5, 10, 20), seeds=5, episodes=10_000),
    },
    claims=(beats_boot("members", "Ensemble Langevin DQN beats Boot DQN at every ensemble size."),),
    note="Both as in the text, one update per step.",
)
