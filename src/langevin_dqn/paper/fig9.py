"""fig9 and fig10: DQN and Langevin DQN over bsuite, by category and by experiment."""

from langevin_dqn.analysis.bsuite_summary import TAGS
from langevin_dqn.paper.categories import bsuite_jobs, differs, not_worse
from langevin_dqn.paper.figure import Contender, Figure

_FIVE = {"updates_per_step": 5}
_JOBS = bsuite_jobs((Contender("dqn", "released", _FIVE), Contender("langevin_dqn", "released", _FIVE)))
_NOTE = "Both agents with what the released code's agents have in common (discount 0.99), 5 updates per step; no MNIST."

FIGURE = Figure(
    id="fig9",
    title="bsuite by category: DQN and Langevin DQN",
    jobs=_JOBS,
    claims=(
        not_worse(
            "not_worse",
            "Langevin DQN is as good as DQN, if not better, on every category except scale.",
            "langevin_dqn",
            "dqn",
            [tag for tag in TAGS if tag != "scale"],
        ),
    ),
    note=_NOTE,
)

BY_EXPERIMENT = Figure(
    id="fig10",
    title="bsuite by experiment: DQN and Langevin DQN",
    jobs=_JOBS,
    claims=(differs("scale", "Langevin DQN is worse on the scale experiments.", "dqn", "langevin_dqn", "scale"),),
    note=_NOTE,
)
