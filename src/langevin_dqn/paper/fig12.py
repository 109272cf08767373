"""Figure 12: DQN, Boot DQN (10) and Ensemble Langevin DQN (7) over bsuite, by category."""

from langevin_dqn.analysis.bsuite_summary import TAGS
from langevin_dqn.paper.bsuite_drawing import describe_radar, draw_radar
from langevin_dqn.paper.categories import bsuite_jobs, differs, not_worse
from langevin_dqn.paper.figure import Figure
from langevin_dqn.paper.jobs import Contender

#: The runs of Figure 13 too. Memory has two experiments; four pairs that are equal have p = 0.0625, six 0.016.
JOBS = bsuite_jobs(
    (
        Contender("dqn"),
        Contender("boot_dqn", changes={"members": 10}),
        Contender("ensemble_langevin_dqn", changes={"members": 7}),
    ),
    standard_passes=3,
)
NOTE = "All as in the text, one update per step; no MNIST."

FIGURE = Figure(
    id="fig12",
    label="Figure 12",
    title="bsuite by category: DQN, Boot DQN (10), Ensemble Langevin DQN (7)",
    jobs=JOBS,
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
    note=NOTE,
    draw=draw_radar,
    describe=describe_radar,
)
