"""Figure 9: DQN and Langevin DQN over bsuite, by category."""

from langevin_dqn.analysis.bsuite_summary import TAGS
from langevin_dqn.paper.bsuite_drawing import describe_radar, draw_radar
from langevin_dqn.paper.categories import bsuite_jobs, not_worse
from langevin_dqn.paper.figure import Figure
from langevin_dqn.paper.jobs import Contender

_FIVE = {"updates_per_step": 5}

#: The runs of Figure 10 too. With five passes, categories have 10 to 35 pairs of scores.
JOBS = bsuite_jobs(
    (Contender("dqn", "released", _FIVE), Contender("langevin_dqn", "released", _FIVE)), standard_passes=5
)
NOTE = "Both agents with what the released code's agents have in common (discount 0.99), 5 updates per step; no MNIST."

FIGURE = Figure(
    id="fig9",
    label="Figure 9",
    title="bsuite by category: DQN and Langevin DQN",
    jobs=JOBS,
    claims=(
        not_worse(
            "not_worse",
            "Langevin DQN is as good as DQN, if not better, on every category except scale.",
            "langevin_dqn",
            "dqn",
            [tag for tag in TAGS if tag != "scale"],
        ),
    ),
    note=NOTE,
    draw=draw_radar,
    describe=describe_radar,
)
