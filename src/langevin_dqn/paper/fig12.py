"""fig12 and fig13: DQN, Boot DQN (10) and Ensemble Langevin DQN (7) over bsuite."""

from langevin_dqn.analysis.bsuite_summary import TAGS
from langevin_dqn.paper.categories import bsuite_jobs, differs, not_worse
from langevin_dqn.paper.figure import Contender, Figure

_JOBS = bsuite_jobs(
    (
        Contender("dqn"),
        Contender("boot_dqn", changes={"members": 10}),
        Contender("ensemble_langevin_dqn", changes={"members": 7}),
    )
)
_NOTE = "All as in the text, one update per step; no MNIST."

FIGURE = Figure(
    id="fig12",
    title="bsuite by category: DQN, Boot DQN (10), Ensemble Langevin DQN (7)",
    jobs=_JOBS,
    claims=(
        not_worse(
            "not_worse",
            "Ensemble Langevin DQN (7) is as good as Boot DQN (10), if not better, on every category except scale.",
            "ensemble_langevin_dqn",
            "boot_dqn",
            [tag for tag in TAGS if tag != "scale"],
        ),
        differs(
            "explores",
            "Ensemble Langevin DQN explores better than DQN.",
            "ensemble_langevin_dqn",
            "dqn",
            "exploration",
        ),
    ),
    note=_NOTE,
)

BY_EXPERIMENT = Figure(
    id="fig13",
    title="bsuite by experiment: DQN, Boot DQN (10), Ensemble Langevin DQN (7)",
    jobs=_JOBS,
    claims=(differs("boot_explores", "Boot DQN explores better than DQN.", "boot_dqn", "dqn", "exploration"),),
    note=_NOTE,
)
